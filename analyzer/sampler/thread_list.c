/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/hot.h"
#include "base/text.h"
#include "ruby/object/string.h"
#include "sampler/sampler_private.h"
#include "vm/find/list.h"
#include "vm/vm.h"

/* If a list changes all the time, more than two attempts do not help. */
enum { THREAD_LIMIT = 20000, NAME_LIMIT = 200 };

void rcore_sampled_thread_free(struct rcore_sampled_thread *thread)
{
	if (!thread)
		return;
	rcore_thread_time_close(thread);
	rcore_track_deinit(&thread->track);
	free(thread);
}

/*
 * Adds what a tick reads of a Ractor: its list of threads, and the holder of
 * its GVL.
 */
static bool add_ractor(struct rcore_sampler *sampler, uint64_t address)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *const of_vm[] = {
		&layout->vm.living_threads, &layout->vm.gvl_owner, &layout->vm.living_count};
	const struct rcore_field *const of_ractor[] = {
		&layout->ractor.threads_set, &layout->ractor.sched_running,
		&layout->ractor.gvl_owner, &layout->ractor.threads_count};
	struct rcore_sampled_ractor *ractor = rcore_push(&sampler->ractors);
	if (!ractor)
		return false;
	ractor->address = address;
	size_t size = address ? rcore_fields_end(of_ractor, RCORE_COUNT(of_ractor))
			      : rcore_fields_end(of_vm, RCORE_COUNT(of_vm));
	return rcore_piece_set(&ractor->piece, address ? address : sampler->vm, size);
}

static void clear_ractors(struct rcore_sampler *sampler)
{
	for (size_t i = 0; i < sampler->ractors.count; i++)
		free(sampler->ractors.items[i].piece.bytes);
	sampler->ractors.count = 0;
}

/* Lets ticks read what shows whether a Ractor was added. */
static bool keep_ends(struct rcore_sampler *sampler, const uint64_t *ractors, size_t count)
{
	const struct rcore_layout *layout = sampler->layout;
	uint64_t node = (uint64_t)layout->ractor.vmlr_node.offset;
	sampler->ractor_ends[0] = count ? ractors[0] + node : 0;
	sampler->ractor_ends[1] = count ? ractors[count - 1] + node : 0;
	return rcore_piece_set(&sampler->ractor_list,
			       sampler->vm + (uint64_t)layout->vm.ractor_set.offset,
			       sizeof(sampler->ractor_ends));
}

static struct rcore_error *list_ractors(struct rcore_sampler *sampler)
{
	const struct rcore_layout *layout = sampler->layout;
	uint64_t *ractors = NULL;
	size_t count = 0;
	bool is_added = true;
	clear_ractors(sampler);
	if (!rcore_has(&layout->vm.ractor_set))
		return add_ractor(sampler, 0) ? NULL : rcore_error_no_memory();
	/*
	 * A list that changes while it is read is read again in the next tick.
	 */
	rcore_error_free(rcore_list_of(&sampler->codes.ruby, sampler->vm,
				       &layout->vm.ractor_set, &layout->ractor.vmlr_node,
				       RCORE_RACTOR_LIMIT, &ractors, &count));
	for (size_t i = 0; is_added && i < count; i++)
		is_added = add_ractor(sampler, ractors[i]);
	is_added = is_added && keep_ends(sampler, ractors, count);
	free(ractors);
	return is_added ? NULL : rcore_error_no_memory();
}

static struct rcore_sampled_thread *new_thread(struct rcore_sampler *sampler, uint64_t address,
					       uint64_t ractor)
{
	struct rcore_sampled_thread *thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->address = thread->track.stack.thread = address;
	thread->ractor = ractor;
	thread->schedstat = thread->syscall = -1;
	snprintf(thread->id, sizeof(thread->id), "T%zu", ++sampler->thread_count);
	thread->tid = rcore_thread_tid(sampler, address, &thread->inner_tid);
	return thread;
}

struct rcore_sampled_thread *rcore_sampler_thread_at(const struct rcore_sampler *sampler,
						     uint64_t address)
{
	for (size_t i = 0; i < sampler->threads.count; i++)
		if (sampler->threads.items[i]->address == address)
			return sampler->threads.items[i];
	return NULL;
}

struct rcore_sampled_thread *rcore_sampler_add_thread(struct rcore_sampler *sampler,
						      uint64_t address, int tid)
{
	struct rcore_sampled_thread *thread = new_thread(sampler, address, 0);
	struct rcore_sampled_thread **slot = thread ? rcore_push(&sampler->threads) : NULL;
	if (!slot) {
		rcore_sampled_thread_free(thread);
		return NULL;
	}
	thread->tid = tid;
	return *slot = thread;
}

void rcore_sampler_remove_thread(struct rcore_sampler *sampler,
				 struct rcore_sampled_thread *thread)
{
	size_t count = 0;
	for (size_t i = 0; i < sampler->threads.count; i++)
		if (sampler->threads.items[i] != thread)
			sampler->threads.items[count++] = sampler->threads.items[i];
	sampler->threads.count = count;
	rcore_track_settle(sampler, &thread->track);
	rcore_sampled_thread_free(thread);
}

struct found {
	struct rcore_sampled_thread **items;
	size_t count, capacity;
};

/*
 * Keeps the known threads of a Ractor that a list lacks, because it changed
 * while it was read, or the process has just ended. The next whole list drops
 * those that have ended. Returns false if memory is short.
 */
static bool keep_threads(struct rcore_sampler *sampler, uint64_t ractor, struct found *found)
{
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		if (thread->is_listed || thread->ractor != ractor)
			continue;
		struct rcore_sampled_thread **slot = rcore_push(found);
		if (!slot)
			return false;
		thread->is_listed = true;
		*slot = thread;
	}
	return true;
}

static struct rcore_error *list_threads(struct rcore_sampler *sampler, uint64_t ractor,
					const struct rcore_address_map *known,
					struct found *found)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *head =
		ractor ? &layout->ractor.threads_set : &layout->vm.living_threads;
	uint64_t *threads = NULL;
	size_t count = 0;
	struct rcore_error *err = NULL;
	rcore_auto_error failure =
		rcore_list_of(&sampler->codes.ruby, ractor ? ractor : sampler->vm, head,
			      &layout->thread.node, THREAD_LIMIT, &threads, &count);
	for (size_t i = 0; !err && i < count; i++) {
		int index = rcore_address_map_get(known, threads[i]);
		struct rcore_sampled_thread *thread =
			index >= 0 ? sampler->threads.items[index]
				   : new_thread(sampler, threads[i], ractor);
		if (thread && thread->is_listed)
			continue;
		struct rcore_sampled_thread **slot = thread ? rcore_push(found) : NULL;
		if (!slot) {
			if (index < 0)
				rcore_sampled_thread_free(thread);
			err = rcore_error_no_memory();
			break;
		}
		thread->is_listed = true;
		*slot = thread;
	}
	free(threads);
	if (!err && failure && !keep_threads(sampler, ractor, found))
		err = rcore_error_no_memory();
	return err;
}

struct rcore_error *rcore_sampler_list(struct rcore_sampler *sampler)
{
	struct rcore_address_map known = {0};
	struct found found = {0};
	struct rcore_error *err = list_ractors(sampler);
	/*
	 * There is always one, unless the process has just ended, or Ruby is
	 * still starting.
	 */
	if (!err && !sampler->ractors.count)
		return NULL;
	for (size_t i = 0; !err && i < sampler->threads.count; i++) {
		sampler->threads.items[i]->is_listed = false;
		if (!rcore_address_map_put(&known, sampler->threads.items[i]->address, (int)i))
			err = rcore_error_no_memory();
	}
	for (size_t i = 0; !err && i < sampler->ractors.count; i++)
		err = list_threads(sampler, sampler->ractors.items[i].address, &known, &found);
	rcore_address_map_deinit(&known);
	if (err) {
		/* New threads are only in `found`. */
		for (size_t i = 0; i < found.count; i++)
			if (found.items[i]->last_looked == 0 && !found.items[i]->track.node)
				found.items[i]->is_listed = false;
		free(found.items);
		return err;
	}
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		if (thread->is_listed)
			continue;
		rcore_track_settle(sampler, &thread->track);
		rcore_sampled_thread_free(thread);
	}
	free(sampler->threads.items);
	sampler->threads.items = found.items;
	sampler->threads.count = found.count;
	sampler->threads.capacity = found.capacity;
	return NULL;
}

/* A word of a list's head or node points to the next node, or the previous. */
enum { NEXT, PREVIOUS };

static RCORE_HOT uint64_t link_of(const struct rcore_piece *piece,
				  const struct rcore_field *node, int word)
{
	const struct rcore_field link = {.offset = node->offset + word * (int)sizeof(uint64_t),
					 .size = sizeof(uint64_t)};
	return rcore_piece_field(piece, &link);
}

static RCORE_HOT uint64_t node_of(const struct rcore_sampler *sampler,
				  const struct rcore_sampled_thread *thread)
{
	return thread->address + (uint64_t)sampler->layout->thread.node.offset;
}

/*
 * Returns whether a list has as many threads as were found, and ends with the
 * last of them. Threads are added at the end, and one that ends runs. So if
 * this holds, no thread was added or removed between those that sleep.
 */
static RCORE_HOT bool is_counted(const struct rcore_sampler *sampler,
				 const struct rcore_sampled_ractor *ractor, size_t count,
				 uint64_t last)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *head =
		ractor->address ? &layout->ractor.threads_set : &layout->vm.living_threads;
	const struct rcore_field *number =
		ractor->address ? &layout->ractor.threads_count : &layout->vm.living_count;
	return rcore_has(number) && rcore_piece_field(&ractor->piece, number) == count &&
	       link_of(&ractor->piece, head, PREVIOUS) == last;
}

static RCORE_HOT bool ractors_hold(const struct rcore_sampler *sampler)
{
	const struct rcore_piece *list = &sampler->ractor_list;
	return !list->size || (list->read == list->size &&
			       !memcmp(list->bytes, sampler->ractor_ends, list->size));
}

RCORE_HOT bool rcore_sampler_list_holds(struct rcore_sampler *sampler)
{
	const struct rcore_layout *layout = sampler->layout;
	size_t at = 0;
	bool are_counted = true;
	/* A list that does not hold proves nothing about those that sleep. */
	sampler->are_counted = false;
	/* While Ruby starts, the list of Ractors may still be empty. */
	if (!sampler->ractors.count || !ractors_hold(sampler))
		return false;
	for (size_t i = 0; i < sampler->ractors.count; i++) {
		const struct rcore_sampled_ractor *ractor = &sampler->ractors.items[i];
		const struct rcore_field *field = ractor->address ? &layout->ractor.threads_set
								  : &layout->vm.living_threads;
		uint64_t head = ractor->piece.start + (uint64_t)field->offset;
		uint64_t next = link_of(&ractor->piece, field, NEXT), last = head;
		size_t first = at;
		while (at < sampler->threads.count &&
		       sampler->threads.items[at]->ractor == ractor->address) {
			const struct rcore_sampled_thread *thread =
				sampler->threads.items[at++];
			last = node_of(sampler, thread);
			if (next != last)
				return false;
			next = link_of(&thread->track.stack.pieces[RCORE_PIECE_THREAD],
				       &layout->thread.node, NEXT);
		}
		if (next != head)
			return false;
		are_counted = are_counted && is_counted(sampler, ractor, at - first, last);
	}
	sampler->are_counted = are_counted && at == sampler->threads.count;
	return at == sampler->threads.count && (are_counted || !sampler->sleeping);
}

RCORE_HOT void rcore_sampler_name_thread(struct rcore_sampler *sampler,
					 struct rcore_sampled_thread *thread)
{
	uint64_t value = rcore_piece_field(&thread->track.stack.pieces[RCORE_PIECE_THREAD],
					   &sampler->layout->thread.name);
	if (thread->track.thread && value == thread->name)
		return;
	const char *name = NULL;
	char cut[NAME_LIMIT];
	if (value && !rcore_is_nil(&sampler->codes.ruby, value))
		rcore_error_free(rcore_text(&sampler->codes.ruby, value, &name, NULL));
	if (name && sampler->options.redact >= RCORE_REDACT_ALL)
		name = NULL;
	if (name) {
		rcore_format(cut, sizeof(cut), "%s", name);
		name = cut;
	}
	struct rcore_profile *profile = sampler->profile;
	if (!thread->first_tid)
		thread->first_tid = thread->tid;
	const struct rcore_profile_thread record = {
		.pid = (uint32_t)rcore_sampler_pid(sampler),
		.tid = (uint32_t)thread->first_tid,
		.id = rcore_profile_string(profile, thread->id),
		.name = rcore_profile_string(profile, name),
		.process = rcore_sampler_process(sampler),
	};
	thread->name = value;
	thread->track.thread = rcore_profile_thread(profile, &record);
	thread->fiber_ec = 0;
}
