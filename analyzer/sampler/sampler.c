/* SPDX-License-Identifier: MIT */
#include "sampler/sampler_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "sampler/native.h"

enum {
	SECOND = 1000000000,
	VERIFY_NS = SECOND, /* how often code is verified */
	/*
	 * Rounds after which the decoders forget what they know about objects.
	 */
	OBJECTS_ROUNDS = 10,
	/*
	 * The CPU time of a thread that keeps waiting is read once in so many
	 * ticks.
	 */
	IDLE_TICKS = 8,
};

/* Stores what the decoders found out about static variables in the session. */
static void finish(const struct rcore_ruby *ruby, void *context)
{
	struct rcore_sampler *sampler = context;
	sampler->located->statics = ruby->statics;
}

static void prepare(struct rcore_ruby *ruby, void *context)
{
	const struct rcore_sampler *sampler = context;
	rcore_ruby_set_vm(ruby, sampler->vm);
	ruby->global_symbols = sampler->located->location.global_symbols;
	ruby->statics = sampler->located->statics;
	ruby->hides_text = sampler->options.redact >= RCORE_REDACT_STRINGS;
}

static bool aim_at_gc(struct rcore_sampler *sampler)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_field *field = &layout->objspace.during_gc;
	uint64_t objspace = 0;
	if (!rcore_has_place(field) || !rcore_has_place(&layout->vm.objspace) ||
	    rcore_read_field(rcore_live_bare_memory(sampler->live), sampler->vm,
			     &layout->vm.objspace, &objspace) ||
	    !objspace)
		return true;
	sampler->objspace = objspace;
	return rcore_piece_set(&sampler->gc, objspace,
			       (size_t)field->offset + sizeof(uint64_t));
}

/*
 * The process runs while it is read. Parts that do not fit together now may fit
 * later.
 */
static struct rcore_error *locate(struct rcore_sampler *sampler)
{
	enum { ATTEMPTS = 5 };
	struct rcore_error *err = NULL;
	for (int i = 0; i < ATTEMPTS; i++) {
		rcore_error_free(err);
		rcore_live_forget(sampler->live);
		err = rcore_session_find(sampler->session, &sampler->located);
		if (!err ||
		    (err->code != RCORE_ERROR_CORRUPT && err->code != RCORE_ERROR_FAULT))
			break;
	}
	rcore_live_forget(sampler->live);
	return err;
}

static struct rcore_error *begin(struct rcore_sampler *sampler)
{
	struct rcore_error *err = locate(sampler);
	if (err)
		return err;
	const unsigned *version = sampler->located->identity.version;
	snprintf(sampler->ruby, sizeof(sampler->ruby), "%u.%u.%u", version[0], version[1],
		 version[2]);
	sampler->layout = &sampler->located->location.layout;
	sampler->vm = sampler->located->location.vm;
	rcore_stack_reader_init(&sampler->reader, sampler->live, sampler->layout, sampler->vm);
	sampler->reader.is_single = sampler->options.is_single;
	rcore_copies_init(&sampler->copies, rcore_live_bare_memory(sampler->live));
	rcore_codes_init(&sampler->codes, sampler->profile, &sampler->copies.memory,
			 sampler->layout, prepare, finish, sampler);
	if (!aim_at_gc(sampler))
		return rcore_error_no_memory();
	err = rcore_sampler_work_labels_init(sampler);
	return err ? err : rcore_sampler_list(sampler);
}

struct rcore_error *rcore_sampler_open(int pid, const struct rcore_options *open,
				       const struct rcore_sampler_options *options,
				       struct rcore_profile *profile,
				       struct rcore_sampler **ret)
{
	struct rcore_options running = *open;
	struct rcore_sampler *sampler = calloc(1, sizeof(*sampler));
	if (!sampler)
		return rcore_error_no_memory();
	sampler->options = *options;
	sampler->open = *open;
	sampler->profile = profile;
	sampler->generation = profile->generation;
	running.no_stop = running.no_native = true;
	running.max_pause_ms = 0;
	struct rcore_error *err = rcore_open_pid(pid, &running, &sampler->session);
	if (!err) {
		sampler->live = sampler->session->target.live;
		err = begin(sampler);
	}
	if (!err && options->redact != RCORE_REDACT_NONE &&
	    !(sampler->redactor = rcore_redactor_new(options->redact)))
		err = rcore_error_no_memory();
	if (!err && options->native)
		err = rcore_native_new(sampler);
	if (err) {
		struct rcore_error *ended =
			sampler->session ? rcore_live_check(sampler->live) : NULL;
		rcore_sampler_close(sampler);
		if (!ended)
			return err;
		rcore_error_free(err);
		return ended;
	}
	*ret = sampler;
	return NULL;
}

void rcore_sampler_close(struct rcore_sampler *sampler)
{
	if (!sampler)
		return;
	rcore_native_free(sampler->native);
	rcore_redactor_free(sampler->redactor);
	for (size_t i = 0; i < sampler->threads.count; i++)
		rcore_sampled_thread_free(sampler->threads.items[i]);
	for (size_t i = 0; i < sampler->parked.count; i++)
		rcore_parked_free(sampler->parked.items[i]);
	for (size_t i = 0; i < sampler->ractors.count; i++)
		free(sampler->ractors.items[i].piece.bytes);
	if (sampler->layout) {
		rcore_sampler_work_labels_deinit(sampler);
		rcore_codes_deinit(&sampler->codes);
		rcore_stack_reader_deinit(&sampler->reader);
	}
	free(sampler->title);
	rcore_sampler_forget_fibers(sampler);
	rcore_away_deinit(sampler);
	rcore_address_map_deinit(&sampler->parked_at);
	rcore_address_map_deinit(&sampler->parked_states);
	free(sampler->threads.items);
	free(sampler->parked.items);
	free(sampler->ractors.items);
	free(sampler->gc.bytes);
	free(sampler->clocks.items);
	free(sampler->others);
	free(sampler->stacks);
	rcore_close(sampler->session);
	free(sampler);
}

/*
 * Numbers of the profile are invalid after its tables were emptied, and a node
 * is invalid after the code at an address was replaced.
 */
static void forget_stale(struct rcore_sampler *sampler)
{
	bool is_new = sampler->generation != sampler->profile->generation;
	if (is_new) {
		sampler->generation = sampler->profile->generation;
		sampler->process = 0;
		memset(sampler->states, 0, sizeof(sampler->states));
		sampler->gc_frame = sampler->partial_frame = 0;
		rcore_codes_forget(&sampler->codes);
	}
	if (!is_new && sampler->codes_changed == sampler->codes.changed)
		return;
	sampler->codes_changed = sampler->codes.changed;
	rcore_address_map_deinit(&sampler->parked_states);
	if (is_new)
		rcore_address_map_deinit(&sampler->wait_kinds);
	for (size_t i = 0; i < sampler->threads.count; i++) {
		rcore_track_settle(sampler, &sampler->threads.items[i]->track);
		rcore_track_forget(&sampler->threads.items[i]->track);
		sampler->threads.items[i]->waited_at = 0;
		sampler->threads.items[i]->fiber_ec = 0;
	}
	for (size_t i = 0; i < sampler->parked.count; i++) {
		rcore_track_settle(sampler, &sampler->parked.items[i]->track);
		rcore_track_forget(&sampler->parked.items[i]->track);
		sampler->parked.items[i]->is_resolved = false;
	}
}

void rcore_sampler_forget_cleared(struct rcore_sampler *sampler)
{
	if (sampler->generation != sampler->profile->generation)
		forget_stale(sampler);
}

/* Makes room for the stacks of one read. Returns false if memory is short. */
static bool reserve(struct rcore_sampler *sampler, size_t count)
{
	if (count <= sampler->stack_capacity)
		return true;
	struct rcore_stack **grown =
		reallocarray(sampler->stacks, count * 2, sizeof(*sampler->stacks));
	if (!grown)
		return false;
	sampler->stacks = grown;
	sampler->stack_capacity = count * 2;
	return true;
}

/* Reads all that a tick needs of a thread that goes on as before. */
static struct rcore_error *read_all(struct rcore_sampler *sampler)
{
	size_t threads = sampler->threads.count, used = 0;
	size_t most = sampler->ractors.count + 1 + threads * RCORE_CONTEXT_PIECES;
	struct rcore_piece **others = reallocarray(sampler->others, most, sizeof(*others));
	if (others)
		sampler->others = others;
	if (!others || !reserve(sampler, threads + 1))
		return rcore_error_no_memory();
	for (size_t i = 0; i < sampler->ractors.count; i++)
		others[used++] = &sampler->ractors.items[i].piece;
	others[used++] = &sampler->gc;
	for (size_t i = 0; i < threads; i++) {
		struct rcore_track *track = &sampler->threads.items[i]->track;
		sampler->stacks[i] = &track->stack;
		used += rcore_sampler_aim_context(&track->context, &others[used]);
	}
	sampler->statistics.reads++;
	return rcore_stack_read(&sampler->reader, sampler->stacks, threads, others, used);
}

uint32_t rcore_sampler_current_fiber(struct rcore_sampler *sampler,
				     struct rcore_sampled_thread *thread)
{
	const struct rcore_layout *layout = sampler->layout;
	uint64_t ec = thread->track.stack.ec, object = 0;
	if (!ec || (ec == thread->fiber_ec && thread->track.fiber))
		return thread->track.fiber;
	uint64_t fiber = ec - (uint64_t)layout->fiber.saved_ec.offset;
	rcore_read_field(rcore_live_bare_memory(sampler->live), fiber, &layout->fiber.self,
			 &object);
	if (object == thread->track.context.object && fiber == thread->fiber_address &&
	    thread->track.fiber) {
		thread->fiber_ec = ec;
		return thread->track.fiber;
	}
	thread->fiber_ec = ec;
	thread->fiber_address = fiber;
	thread->track.context.object = object;
	thread->track.context.is_known = false;
	return rcore_sampler_fiber(sampler, fiber, object, thread, thread->track.thread);
}

/* Splits the CPU time between two samples. */
static void split(const struct rcore_sampled_thread *thread, bool is_running, uint64_t cpu,
		  uint64_t *ret_before, uint64_t *ret_now)
{
	bool alike = thread->was_running == is_running;
	*ret_before = alike ? cpu / 2 : thread->was_running ? cpu : 0;
	*ret_now = cpu - *ret_before;
}

/* Looks up what the stack that was read runs. */
static void decode(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		   enum rcore_stack_verdict verdict)
{
	struct rcore_track *track = &thread->track;
	if (verdict != RCORE_STACK_GOOD && verdict != RCORE_STACK_EMPTY) {
		if (rcore_stack_salvage(&sampler->reader, &track->stack))
			sampler->statistics.partial++;
		else
			sampler->statistics.lost++;
	}
	track->may_be_unfilled = rcore_sampler_holds_gvl(sampler, thread);
	rcore_track_decode(sampler, track);
}

static struct rcore_error *look(struct rcore_sampler *sampler, size_t index, uint64_t now)
{
	struct rcore_sampled_thread *thread = sampler->threads.items[index];
	struct rcore_track *track = &thread->track;
	uint64_t cpu = 0, before, after;
	rcore_thread_follow(sampler, thread);
	rcore_sampler_name_thread(sampler, thread);
	track->fiber = rcore_sampler_current_fiber(sampler, thread);
	rcore_sampler_labels(sampler, track, now);
	bool rests = thread->state == RCORE_SAMPLE_BLOCKED && !track->has_changed &&
		     sampler->statistics.ticks % IDLE_TICKS;
	uint64_t since = thread->cpu_looked;
	bool is_timed =
		!rests && !sampler->options.off_cpu && rcore_thread_time(sampler, thread, &cpu);
	if (is_timed)
		thread->cpu_looked = now;
	bool is_busy = is_timed && since && cpu > (now - since) / 2;
	rcore_sampler_state(sampler, thread, rests, is_busy, now);
	bool is_running =
		thread->state == RCORE_SAMPLE_RUNNING || thread->state == RCORE_SAMPLE_GC;
	split(thread, is_running, cpu, &before, &after);
	uint32_t node = rcore_native_node(sampler, index, thread->state == RCORE_SAMPLE_GC);
	if (sampler->options.off_cpu)
		return rcore_away_found(sampler, thread, node, now);
	if (!sampler->options.only_running)
		rcore_track_add(sampler, track, node, thread->state_number, thread->last_looked,
				now, before, after);
	else if (is_running)
		rcore_track_add_copied(sampler, track, node, thread->state_number, now,
				       thread->last_looked ? now - thread->last_looked : 0,
				       cpu);
	thread->was_running = is_running;
	thread->last_looked = now;
	sampler->statistics.samples += is_running || !sampler->options.only_running;
	return NULL;
}

struct retry {
	struct rcore_sampled_thread *thread;
	enum rcore_stack_verdict verdict;
};

/*
 * Reads again the stacks whose copies did not agree, until they do or
 * RCORE_SAMPLER_ATTEMPTS is reached.
 */
static struct rcore_error *read_again(struct rcore_sampler *sampler, struct retry *retries,
				      size_t count)
{
	for (int attempt = 0; count && attempt < RCORE_SAMPLER_ATTEMPTS; attempt++) {
		size_t used = 0;
		for (size_t i = 0; i < count; i++)
			if (retries[i].verdict == RCORE_STACK_MOVED ||
			    retries[i].verdict == RCORE_STACK_TORN)
				sampler->stacks[used++] = &retries[i].thread->track.stack;
		if (!used)
			break;
		sampler->statistics.reads++;
		struct rcore_error *err =
			rcore_stack_read(&sampler->reader, sampler->stacks, used, NULL, 0);
		if (err)
			return err;
		for (size_t i = 0; i < count; i++) {
			if (retries[i].verdict != RCORE_STACK_MOVED &&
			    retries[i].verdict != RCORE_STACK_TORN)
				continue;
			if (retries[i].verdict == RCORE_STACK_TORN)
				sampler->statistics.rejected++;
			retries[i].verdict = rcore_stack_check(&sampler->reader,
							       &retries[i].thread->track.stack);
		}
	}
	return NULL;
}

static struct rcore_error *look_at_threads(struct rcore_sampler *sampler)
{
	size_t count = sampler->threads.count;
	struct retry *retries = rcore_calloc(count, sizeof(*retries));
	if (!retries)
		return rcore_error_no_memory();
	bool is_lost = false;
	for (size_t i = 0; i < count; i++) {
		retries[i].thread = sampler->threads.items[i];
		retries[i].verdict =
			rcore_stack_check(&sampler->reader, &retries[i].thread->track.stack);
	}
	struct rcore_error *err = read_again(sampler, retries, count);
	uint64_t now = rcore_clock_ns();
	if (!err)
		err = rcore_native_keep(sampler);
	rcore_native_let_go(sampler);
	for (size_t i = 0; !err && i < count; i++)
		if (retries[i].verdict != RCORE_STACK_GONE)
			decode(sampler, retries[i].thread, retries[i].verdict);
	if (!err)
		err = rcore_native_weave(sampler);
	for (size_t i = 0; !err && i < count; i++) {
		if (retries[i].verdict == RCORE_STACK_GONE)
			is_lost = true;
		else
			err = look(sampler, i, now);
	}
	free(retries);
	if (!err && is_lost)
		err = rcore_live_check(sampler->live);
	return err;
}

static void verify(struct rcore_sampler *sampler, uint64_t now)
{
	if (now - sampler->last_verified < VERIFY_NS)
		return;
	sampler->last_verified = now;
	rcore_sampler_update_title(sampler);
	rcore_codes_verify(&sampler->codes, sampler->live);
	rcore_away_verify(sampler);
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		if (!thread->tid) {
			thread->tid =
				rcore_thread_tid(sampler, thread->address, &thread->inner_tid);
			rcore_thread_time_close(thread);
			if (thread->tid)
				thread->track.thread = 0;
		}
		thread->fiber_ec = 0;
	}
}

void rcore_sampler_begin_tick(struct rcore_sampler *sampler, uint64_t now)
{
	if (!sampler->begun)
		sampler->begun = sampler->last_verified = now;
	rcore_codes_begin_tick(&sampler->codes);
	verify(sampler, now);
	forget_stale(sampler);
	sampler->statistics.ticks++;
}

struct rcore_error *rcore_sampler_tick(struct rcore_sampler *sampler)
{
	uint64_t now = rcore_clock_ns();
	rcore_sampler_begin_tick(sampler, now);
	struct rcore_error *err = rcore_native_hold(sampler, now);
	if (!err)
		err = read_all(sampler);
	if (!err && !rcore_sampler_list_holds(sampler)) {
		err = rcore_sampler_list(sampler);
		if (!err)
			err = read_all(sampler);
	}
	if (!err && !sampler->threads.count)
		err = rcore_live_check(sampler->live);
	if (!err)
		err = look_at_threads(sampler);
	rcore_native_let_go(sampler);
	if (!err && !sampler->options.off_cpu && !sampler->options.only_running)
		err = rcore_sampler_parked(sampler, now);
	sampler->statistics.threads = sampler->threads.count;
	sampler->statistics.fibers = sampler->parked.count;
	if (!err && sampler->profile->no_memory)
		err = rcore_error_no_memory();
	return err;
}

void rcore_sampler_settle(struct rcore_sampler *sampler)
{
	for (size_t i = 0; i < sampler->threads.count; i++)
		rcore_track_settle(sampler, &sampler->threads.items[i]->track);
	for (size_t i = 0; i < sampler->parked.count; i++)
		rcore_track_settle(sampler, &sampler->parked.items[i]->track);
	rcore_away_settle(sampler);
}

void rcore_sampler_end_records(struct rcore_sampler *sampler, uint64_t time)
{
	sampler->consumed = time;
}

struct rcore_error *rcore_sampler_check(const struct rcore_sampler *sampler)
{
	return rcore_live_check(sampler->live);
}

bool rcore_sampler_asks_for_work(const struct rcore_sampler *sampler)
{
	return sampler->works.chosen.count;
}

const struct rcore_sampler_statistics *
rcore_sampler_statistics(const struct rcore_sampler *sampler)
{
	return &sampler->statistics;
}

const char *rcore_sampler_ruby(const struct rcore_sampler *sampler)
{
	return sampler->ruby;
}

bool rcore_sampler_thread(const struct rcore_sampler *sampler, size_t index,
			  struct rcore_sampler_thread *ret)
{
	if (index >= sampler->threads.count)
		return false;
	const struct rcore_sampled_thread *thread = sampler->threads.items[index];
	*ret = (struct rcore_sampler_thread){thread->id, thread->tid, thread->state};
	return true;
}
