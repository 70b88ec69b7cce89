/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "sampler/bpf/engine.h"
#include "sampler/native/native.h"
#include "sampler/sampler_private.h"
#include "sampler/system_calls.h"

/*
 * Adds samples that the BPF program copied while their threads ran. All words
 * of a record are of one moment, so nothing is read twice. What they point to
 * (iseqs, method entries) is looked up as for other samples.
 */

/*
 * The time between two checks that the process still exists, if it had samples
 * since the last one, and if it had not.
 */
enum { CHECK_NS = 100000000, IDLE_CHECK_NS = 1000000000 };

struct rcore_error *rcore_sampler_begin_records(struct rcore_sampler *sampler)
{
	uint64_t now = rcore_clock_ns();
	rcore_sampler_begin_tick(sampler, now);
	sampler->statistics.threads = sampler->threads.count;
	if (sampler->profile->no_memory)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_native_begin_records(sampler, now);
	bool is_idle = sampler->statistics.samples == sampler->checked_samples;
	if (err || now - sampler->last_tick < (is_idle ? IDLE_CHECK_NS : CHECK_NS))
		return err;
	sampler->last_tick = now;
	sampler->checked_samples = sampler->statistics.samples;
	return rcore_live_check(sampler->live);
}

static struct rcore_sampled_thread *find(struct rcore_sampler *sampler, uint64_t address,
					 uint32_t tid)
{
	if (address)
		return rcore_sampler_thread_at(sampler, address);
	for (size_t i = 0; i < sampler->threads.count; i++)
		if (sampler->threads.items[i]->tid == (int)tid)
			return sampler->threads.items[i];
	return NULL;
}

/*
 * Returns whether a record is of this thread, and not of an earlier or a later
 * one whose rb_thread_t had the same address, because malloc() reuses memory.
 * These run on different kernel threads; a Ruby thread moves to another kernel
 * thread only if it is an M:N thread (3.3 on, thread_pthread_mn.c).
 */
static bool is_of(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		  const struct rcore_bpf_record *record)
{
	const struct rcore_field *field = &sampler->layout->thread.sched_context;
	uint64_t context = 0;
	int tid = (int)record->tid;
	if (!record->thread || !tid || thread->tid == tid)
		return true;
	bool is_moved = thread->tid && rcore_has(field) &&
			!rcore_read_field(rcore_live_bare_memory(sampler->live),
					  thread->address, field, &context) &&
			context;
	if (thread->tid && !is_moved)
		return false;
	/* The id was not known, or the M:N thread has moved. */
	if (!thread->first_tid)
		thread->track.thread = 0;
	rcore_thread_move(sampler, thread, tid);
	return true;
}

/*
 * Finds the thread of a record, and adds it if it is in no list, as it may have
 * ended meanwhile. Sets *ret to NULL if the record is of no Ruby thread. Before
 * 3.0, a thread without the GVL has no rb_thread_t in its record: it is found
 * by its kernel thread.
 */
static struct rcore_error *thread_of(struct rcore_sampler *sampler,
				     const struct rcore_bpf_record *record,
				     struct rcore_sampled_thread **ret)
{
	*ret = find(sampler, record->thread, record->tid);
	if (*ret ? is_of(sampler, *ret, record) : !record->thread)
		return NULL;
	if (*ret)
		rcore_sampler_remove_thread(sampler, *ret);
	struct rcore_error *err = rcore_sampler_list(sampler);
	if (err)
		return err;
	*ret = find(sampler, record->thread, record->tid);
	if (*ret && !is_of(sampler, *ret, record)) {
		rcore_sampler_remove_thread(sampler, *ret);
		*ret = NULL;
	}
	if (!*ret)
		*ret = rcore_sampler_add_thread(sampler, record->thread, (int)record->tid);
	return *ret ? NULL : rcore_error_no_memory();
}

static bool set_piece(struct rcore_piece *piece, uint64_t start, const void *bytes, size_t size)
{
	if (!rcore_piece_set(piece, start, size))
		return false;
	if (size)
		memcpy(piece->bytes, bytes, size);
	piece->read = size;
	return true;
}

/* Copies the stack of a record to where rcore_track_decode() reads it. */
static bool set_stack(struct rcore_sampler *sampler, const struct rcore_bpf_record *record,
		      struct rcore_track *track)
{
	struct rcore_stack *stack = &track->stack;
	const uint8_t *frames = rcore_bpf_frames(record);
	size_t step = sampler->layout->cfp.size, size = record->frame_bytes;
	uint64_t top = record->cfp + size;
	bool is_whole = top == record->top;
	if (size % step)
		size = 0;
	stack->ec = record->ec;
	stack->bottom = record->bottom;
	stack->top = record->cfp + size;
	/*
	 * If outer frames were cut, rcore_track_decode() skips the outermost
	 * one that was copied, as if it were the VM's dummy frame.
	 */
	stack->cfp = size ? record->cfp : 0;
	stack->is_partial = stack->is_light = false;
	track->outer_node =
		size && !is_whole
			? rcore_profile_node(
				  sampler->profile, 0,
				  rcore_sampler_note(sampler, "(outer frames not read)"))
			: 0;
	for (size_t i = 0; i < RCORE_PIECE_COUNT; i++)
		if (i != RCORE_PIECE_THREAD)
			stack->pieces[i].size = stack->pieces[i].read = 0;
	return set_piece(&stack->pieces[RCORE_PIECE_FRAMES], record->cfp, frames, size) &&
	       set_piece(&stack->pieces[RCORE_PIECE_VALUES], record->bottom,
			 frames + record->frame_bytes, record->value_bytes);
}

bool rcore_sampler_read_thread(struct rcore_sampler *sampler,
			       struct rcore_sampled_thread *thread)
{
	struct rcore_piece *piece = &thread->track.stack.pieces[RCORE_PIECE_THREAD];
	if (!rcore_piece_set(piece, thread->address, sampler->layout->thread.size) ||
	    rcore_read(rcore_live_bare_memory(sampler->live), piece->start, piece->bytes,
		       piece->size))
		return false;
	piece->read = piece->size;
	return true;
}

/* Reads the name of the thread about once a second. */
static void name(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread)
{
	if (thread->track.thread && thread->last_looked >= sampler->last_verified)
		return;
	thread->last_looked = rcore_clock_ns();
	rcore_sampler_read_thread(sampler, thread);
	rcore_sampler_name_thread(sampler, thread);
}

static bool is_in_gc(const struct rcore_sampler *sampler, const struct rcore_bpf_record *record)
{
	const struct rcore_field *during_gc = &sampler->layout->objspace.during_gc;
	struct rcore_field word = *during_gc;
	uint64_t value = 0;
	word.offset = 0;
	return sampler->objspace && rcore_has_place(during_gc) &&
	       record->holder == record->thread &&
	       rcore_field_of((const uint8_t *)&record->gc, sizeof(record->gc), &word,
			      &value) &&
	       value;
}

/*
 * Adds a sample. `thread` is NULL if the thread belongs to a library, or does
 * not run Ruby code yet.
 */
static void add(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		const struct rcore_bpf_record *record, uint32_t node, uint32_t state,
		uint64_t wall, uint64_t cpu)
{
	const struct rcore_profile_thread other = {.pid = record->pid,
						   .tid = record->tid,
						   .process = rcore_sampler_process(sampler)};
	if (thread) {
		rcore_track_add_copied(sampler, &thread->track, node, state, record->time, wall,
				       cpu);
		return;
	}
	struct rcore_track track = {.thread = rcore_profile_thread(sampler->profile, &other)};
	rcore_track_add_copied(sampler, &track, node, state, record->time, wall, cpu);
	rcore_track_settle(sampler, &track);
}

struct rcore_error *rcore_sampler_decode_record(struct rcore_sampler *sampler,
						const struct rcore_bpf_record *record,
						struct rcore_sampled_thread **ret)
{
	rcore_sampler_forget_cleared(sampler);
	struct rcore_error *err = thread_of(sampler, record, ret);
	if (err || !*ret)
		return err;
	struct rcore_track *track = &(*ret)->track;
	if (!record->frame_bytes) {
		name(sampler, *ret);
		track->labels = 0;
		track->node = rcore_sampler_no_stack(sampler);
		track->count = 0;
		return NULL;
	}
	if (!set_stack(sampler, record, track))
		return rcore_error_no_memory();
	track->may_be_unfilled = record->holder == record->thread;
	name(sampler, *ret);
	rcore_cache_drop(sampler->pages);
	rcore_track_decode(sampler, track);
	track->fiber = rcore_sampler_current_fiber(sampler, *ret);
	rcore_sampler_copied_labels(sampler, track, record);
	rcore_sampler_add_work(sampler, track);
	return NULL;
}

struct rcore_error *rcore_sampler_record_node(struct rcore_sampler *sampler,
					      const struct rcore_bpf_record *record,
					      const struct rcore_sampled_thread *thread,
					      bool in_gc, uint32_t *ret)
{
	bool is_known = thread && record->frame_bytes;
	*ret = is_known ? thread->track.node : rcore_sampler_no_stack(sampler);
	if (in_gc)
		*ret = rcore_sampler_gc_node(sampler, *ret);
	struct rcore_error *err =
		rcore_native_add(sampler, record, is_known ? &thread->track : NULL, in_gc, ret);
	if (!err)
		*ret = rcore_sampler_kernel_node(sampler, record, *ret);
	return err;
}

struct rcore_error *rcore_sampler_add_record(struct rcore_sampler *sampler,
					     const struct rcore_bpf_record *record,
					     uint64_t cpu)
{
	struct rcore_sampled_thread *thread;
	struct rcore_error *err = rcore_sampler_decode_record(sampler, record, &thread);
	if (err)
		return err;
	bool is_known = thread && record->frame_bytes;
	bool in_gc = is_known && is_in_gc(sampler, record);
	uint32_t state = rcore_sampler_plain_state(sampler, in_gc ? RCORE_SAMPLE_GC
								  : RCORE_SAMPLE_RUNNING);
	uint32_t node;
	sampler->statistics.samples++;
	sampler->statistics.foreign += !is_known;
	if (is_known) {
		thread->state = in_gc ? RCORE_SAMPLE_GC : RCORE_SAMPLE_RUNNING;
		thread->state_number = state;
	}
	err = rcore_sampler_record_node(sampler, record, thread, in_gc, &node);
	if (!err)
		add(sampler, thread, record, node, state, cpu, cpu);
	return err;
}

/* Returns the frame of a system call: "write(2)"; or that of a function. */
static uint32_t call_frame(struct rcore_sampler *sampler, const struct rcore_bpf_record *record)
{
	struct rcore_profile *profile = sampler->profile;
	const char *label, *path = "[kernel]";
	char text[64];
	if (record->kind == RCORE_BPF_ENTERED &&
	    (uint64_t)record->number < sampler->options.function_count) {
		label = sampler->options.functions[record->number].name;
		path = rcore_base_name(sampler->options.functions[record->number].file);
	} else {
		const char *name = rcore_system_call_name((long)record->number);
		snprintf(text, sizeof(text), "%s(2)", name ? name : "syscall");
		label = text;
	}
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NATIVE,
		.label = rcore_profile_string(profile, label),
		.path = rcore_profile_string(profile, path),
	};
	return rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0);
}

struct rcore_error *rcore_sampler_add_call(struct rcore_sampler *sampler,
					   const struct rcore_bpf_record *record)
{
	struct rcore_sampled_thread *thread;
	struct rcore_error *err = rcore_sampler_decode_record(sampler, record, &thread);
	if (err)
		return err;
	bool is_known = thread && record->frame_bytes;
	uint32_t node;
	bool is_function = record->kind == RCORE_BPF_ENTERED;
	bool is_moving = !is_function && record->result > 0 &&
			 rcore_system_call_moves_bytes((long)record->number);
	sampler->statistics.samples++;
	sampler->statistics.foreign += !is_known;
	err = rcore_sampler_record_node(sampler, record, thread, false, &node);
	if (err)
		return err;
	/* The native stack of a function's call begins with the function. */
	if (!is_function || !record->machine_bytes)
		node = rcore_profile_node(sampler->profile, node, call_frame(sampler, record));
	add(sampler, thread, record, node,
	    rcore_sampler_plain_state(sampler, RCORE_SAMPLE_RUNNING),
	    is_moving ? (uint64_t)record->result : 0, 0);
	return NULL;
}
