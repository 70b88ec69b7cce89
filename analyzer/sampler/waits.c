/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hot.h"
#include "base/text.h"
#include "sampler/sampler_private.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/wait/wait.h"

/*
 * Finds what a thread or parked fiber waits for, with the decoders of `rcore
 * waits`. They need a whole loaded VM. Here, it is built from what a tick has
 * copied: all threads, each with its current fiber, and the frames of the fiber
 * in question.
 */

enum { FRAMES = 256, OTHER_FRAMES = 32 };

static uint64_t word_of(const uint8_t *frame, size_t size, const struct rcore_field *field)
{
	uint64_t value = 0;
	return rcore_has(field) && rcore_field_of(frame, size, field, &value) ? value : 0;
}

/*
 * Returns the flags of a frame's environment. If it was moved to the heap, it
 * was not copied with the frame, and those are known that never change.
 */
static uint32_t flags_of(const struct rcore_track *track, struct rcore_track_frame *known,
			 uint64_t ep)
{
	uint64_t flags = 0;
	if (known->has_flags)
		return known->flags;
	if (!rcore_stack_value(&track->stack, ep, &flags) || !(flags & RCORE_ENV_IS_FLAGS))
		return known->code.flags;
	known->flags = (uint32_t)flags;
	known->has_flags = true;
	return known->flags;
}

/* Sets what else a decoder of vm/ needs to know about C code. */
static void set_function(const struct rcore_sampler *sampler,
			 const struct rcore_code_frame *code, struct rcore_frame *frame)
{
	const struct rcore_field *function = &sampler->layout->ifunc.func;
	frame->cfunc = code->cfunc;
	if ((frame->flags & RCORE_FRAME_MAGIC_MASK) != RCORE_FRAME_MAGIC_IFUNC)
		return;
	frame->kind = RCORE_FRAME_IFUNC;
	if (rcore_has_place(function))
		rcore_read_field(sampler->codes.memory, frame->iseq, function, &frame->cfunc);
}

struct rcore_frame rcore_sampler_frame(const struct rcore_sampler *sampler,
				       const struct rcore_track *track, size_t place)
{
	const struct rcore_layout *layout = sampler->layout;
	size_t step = layout->cfp.size;
	const uint8_t *bytes = track->frames + place * step;
	struct rcore_track_frame *known = &track->known[place];
	const struct rcore_code_frame *code = &known->code;
	struct rcore_frame frame = {
		.cfp = track->stack.top - (place + 2) * step,
		.pc = word_of(bytes, step, &layout->cfp.pc),
		.iseq = word_of(bytes, step, &layout->cfp.iseq),
		.self = word_of(bytes, step, &layout->cfp.self),
		.ep = word_of(bytes, step, &layout->cfp.ep),
		.label = code->label,
		.path = code->path,
		.kind = !code->frame ? RCORE_FRAME_DUMMY
			: code->is_c ? RCORE_FRAME_CFUNC
				     : RCORE_FRAME_RUBY,
	};
	frame.flags = flags_of(track, known, frame.ep);
	frame.under_construction = frame.kind == RCORE_FRAME_RUBY && !frame.pc;
	if (code->frame)
		set_function(sampler, code, &frame);
	return frame;
}

struct rcore_frame *rcore_sampler_frames(const struct rcore_sampler *sampler,
					 const struct rcore_track *track, size_t limit,
					 struct rcore_arena *arena, size_t *ret_count)
{
	size_t count = track->count < limit ? track->count : limit;
	struct rcore_frame *frames = rcore_arena_array(arena, count, sizeof(*frames));
	*ret_count = frames ? count : 0;
	for (size_t i = 0; frames && i < count; i++)
		frames[i] = rcore_sampler_frame(sampler, track, track->count - 1 - i);
	return frames;
}

struct scene {
	struct rcore_loader loader;
	struct rcore_snapshot snapshot;
	struct rcore_process process;
};

static bool add_thread(struct rcore_sampler *sampler, struct scene *scene, size_t index)
{
	const struct rcore_layout *layout = sampler->layout;
	const struct rcore_sampled_thread *sampled = sampler->threads.items[index];
	const struct rcore_track *track = &sampled->track;
	const struct rcore_piece *piece = &track->stack.pieces[RCORE_PIECE_THREAD];
	struct rcore_thread *thread = &scene->loader.threads.items[index];
	struct rcore_fiber *fiber = &scene->loader.fibers.items[index];
	*thread = (struct rcore_thread){
		.address = sampled->address,
		.object = rcore_piece_field(piece, &layout->thread.self),
		.tid = sampled->tid,
		.status = (enum rcore_thread_status)rcore_piece_field(piece,
								      &layout->thread.status),
		/* Of other threads, only the locks that they hold matter. */
		.gvl = sampled->is_asked ? RCORE_GVL_RELEASED : RCORE_GVL_UNKNOWN,
		.ractor = -1,
		.fiber_count = 1,
		.current_fiber = (int)index,
	};
	snprintf(thread->id, sizeof(thread->id), "%s", sampled->id);
	*fiber = (struct rcore_fiber){
		.address = track->stack.ec - (uint64_t)layout->fiber.saved_ec.offset,
		.ec = track->stack.ec,
		.object = track->context.object,
		.status = RCORE_FIBER_RESUMED,
		.is_current = true,
		.resumed_by = -1,
		.resuming = -1,
		.thread = (int)index,
		.vm_stack = track->stack.bottom,
		.vm_stack_size = track->stack.top - track->stack.bottom,
	};
	snprintf(fiber->id, sizeof(fiber->id), "%s", sampled->id);
	thread->fibers = rcore_arena_alloc(&scene->snapshot.arena, sizeof(int));
	fiber->frames =
		rcore_sampler_frames(sampler, track, sampled->is_asked ? FRAMES : OTHER_FRAMES,
				     &scene->snapshot.arena, &fiber->frame_count);
	if (!thread->fibers || !fiber->frames)
		return false;
	thread->fibers[0] = (int)index;
	for (size_t i = 0; i < sampler->ractors.count; i++)
		if (sampled->ractor && sampler->ractors.items[i].address == sampled->ractor)
			thread->ractor = (int)i;
	return rcore_address_map_put(&scene->loader.thread_at, thread->address, (int)index) &&
	       (rcore_address_map_get(&scene->loader.fiber_at, fiber->address) >= 0 ||
		rcore_address_map_put(&scene->loader.fiber_at, fiber->address, (int)index));
}

static bool add_parked(struct rcore_sampler *sampler, struct scene *scene,
		       const struct rcore_parked *parked)
{
	size_t index = scene->loader.fibers.count;
	struct rcore_fiber *fiber = &scene->loader.fibers.items[index];
	*fiber = (struct rcore_fiber){
		.address = parked->address,
		.ec = parked->track.stack.ec,
		.object = parked->track.context.object,
		.status = RCORE_FIBER_SUSPENDED,
		.resumed_by = -1,
		.resuming = -1,
		.thread = rcore_address_map_get(&scene->loader.thread_at, parked->last_thread),
		.vm_stack = parked->track.stack.bottom,
		.vm_stack_size = parked->track.stack.top - parked->track.stack.bottom,
	};
	fiber->frames = rcore_sampler_frames(sampler, &parked->track, FRAMES,
					     &scene->snapshot.arena, &fiber->frame_count);
	scene->loader.fibers.count++;
	return fiber->frames &&
	       (rcore_address_map_get(&scene->loader.fiber_at, fiber->address) >= 0 ||
		rcore_address_map_put(&scene->loader.fiber_at, fiber->address, (int)index));
}

/* Reads the system calls of the threads in question. */
static bool add_native(struct rcore_sampler *sampler, struct scene *scene)
{
	size_t count = 0;
	for (size_t i = 0; i < sampler->threads.count; i++)
		count += sampler->threads.items[i]->is_asked;
	scene->process = *rcore_live_process(sampler->live);
	scene->process.threads = rcore_arena_array(&scene->snapshot.arena, count,
						   sizeof(*scene->process.threads));
	scene->process.thread_count = 0;
	for (size_t i = 0; scene->process.threads && i < sampler->threads.count; i++)
		if (sampler->threads.items[i]->is_asked &&
		    rcore_thread_registers(
			    sampler, sampler->threads.items[i],
			    &scene->process.threads[scene->process.thread_count]))
			scene->process.thread_count++;
	return scene->process.threads;
}

/* Returns false if memory is short. */
static bool set(struct rcore_sampler *sampler, struct scene *scene,
		const struct rcore_parked *parked)
{
	struct rcore_loader *loader = &scene->loader;
	size_t count = sampler->threads.count;
	loader->ruby = &sampler->codes.ruby;
	loader->snapshot = &scene->snapshot;
	loader->process = &scene->process;
	loader->vm = sampler->vm;
	loader->threads.items = rcore_calloc(count, sizeof(*loader->threads.items));
	loader->fibers.items = calloc(count + 2, sizeof(*loader->fibers.items));
	loader->ractors.items =
		rcore_calloc(sampler->ractors.count, sizeof(*loader->ractors.items));
	if (!add_native(sampler, scene) || !loader->threads.items || !loader->fibers.items ||
	    !loader->ractors.items)
		return false;
	for (size_t i = 0; i < sampler->ractors.count; i++)
		loader->ractors.items[i].address = sampler->ractors.items[i].address;
	loader->ractors.count =
		rcore_has(&sampler->layout->vm.ractor_set) ? sampler->ractors.count : 0;
	for (size_t i = 0; i < count; i++) {
		if (!add_thread(sampler, scene, i))
			return false;
		loader->threads.count = loader->fibers.count = i + 1;
	}
	return !parked || add_parked(sampler, scene, parked);
}

static uint32_t number_of(struct rcore_sampler *sampler, struct scene *scene,
			  enum rcore_sample_state kind, const struct rcore_wait *found)
{
	struct rcore_profile *profile = sampler->profile;
	struct rcore_profile_state state = {.kind = kind};
	char *text = NULL;
	size_t size;
	if (!found)
		return rcore_profile_state(profile, &state);
	/*
	 * The recording keeps each text, so the parts that differ each time are
	 * left out.
	 */
	struct rcore_wait wait = *found;
	if (wait.kind == RCORE_WAIT_GVL) {
		state.kind = RCORE_SAMPLE_GVL;
		return rcore_profile_state(profile, &state);
	}
	wait.has_counts = false;
	wait.argument = NULL;
	wait.within = NULL;
	for (size_t i = 0; i < wait.fd_count; i++)
		wait.fds[i].link = NULL;
	if (sampler->options.redact >= RCORE_REDACT_ALL)
		for (size_t i = 0; i < wait.fd_count; i++)
			wait.fds[i].path = NULL;
	scene->snapshot.threads = scene->loader.threads.items;
	scene->snapshot.thread_count = scene->loader.threads.count;
	scene->snapshot.fibers = scene->loader.fibers.items;
	scene->snapshot.fiber_count = scene->loader.fibers.count;
	state.wait = rcore_profile_string(profile, rcore_wait_kind_name(wait.kind));
	FILE *out = rcore_open_text(&text, &size);
	if (out)
		rcore_wait_write(&scene->snapshot, &wait, out);
	if (out && !fclose(out))
		state.detail = rcore_profile_string(profile, text);
	else
		profile->no_memory = true;
	free(text);
	return rcore_profile_state(profile, &state);
}

/* Sets *ret_parked if there is such a fiber. */
static void look_up(struct rcore_sampler *sampler, const struct rcore_parked *parked,
		    uint32_t *ret_parked)
{
	struct scene scene = {0};
	const struct rcore_fiber *fibers = NULL;
	struct rcore_memory *process = sampler->copies.below;
	/* All threads may wait in one list, which is read for each of them. */
	rcore_cache_drop(sampler->pages);
	sampler->copies.below = rcore_cache_memory(sampler->pages);
	size_t count = sampler->threads.count;
	struct rcore_error *err = NULL;
	if (set(sampler, &scene, parked)) {
		err = rcore_load_waits(&scene.loader);
		fibers = err ? NULL : scene.loader.fibers.items;
	}
	rcore_error_free(err);
	for (size_t i = 0; i < count; i++) {
		struct rcore_sampled_thread *thread = sampler->threads.items[i];
		if (thread->is_asked)
			thread->state_number = number_of(sampler, &scene, RCORE_SAMPLE_BLOCKED,
							 fibers ? fibers[i].wait : NULL);
		thread->is_asked = false;
	}
	if (parked)
		*ret_parked = number_of(sampler, &scene, RCORE_SAMPLE_PARKED,
					fibers ? fibers[count].wait : NULL);
	sampler->copies.below = process;
	free(scene.loader.threads.items);
	free(scene.loader.fibers.items);
	free(scene.loader.ractors.items);
	rcore_address_map_deinit(&scene.loader.thread_at);
	rcore_address_map_deinit(&scene.loader.fiber_at);
	rcore_arena_deinit(&scene.snapshot.arena);
}

/*
 * Lets the decoders of waits read every rb_thread_t and every Ractor's head
 * from what the tick has copied. Otherwise each wait costs many system calls
 * for each thread. Other threads may have changed a rb_thread_t that was not
 * read because its thread sleeps, such as its list of joining threads.
 */
static RCORE_HOT struct rcore_error *add_copies(struct rcore_sampler *sampler)
{
	size_t threads = sampler->threads.count, asleep = 0;
	if (!rcore_reserve(&sampler->all_stacks, threads) ||
	    !rcore_reserve(&sampler->heads, sampler->ractors.count))
		return rcore_error_no_memory();
	struct rcore_stack **stacks = sampler->all_stacks.items;
	for (size_t i = 0; i < threads; i++)
		if (sampler->threads.items[i]->track.stack.sleeps)
			stacks[asleep++] = &sampler->threads.items[i]->track.stack;
	struct rcore_error *err = rcore_stack_read_threads(&sampler->reader, stacks, asleep);
	if (err)
		return err;
	for (size_t i = 0; i < threads; i++)
		if (!sampler->threads.items[i]->track.stack.sleeps)
			stacks[asleep++] = &sampler->threads.items[i]->track.stack;
	rcore_copies_add_threads(&sampler->copies, stacks, threads);
	for (size_t i = 0; i < sampler->ractors.count; i++) {
		const struct rcore_piece *piece = &sampler->ractors.items[i].piece;
		sampler->heads.items[i] = (struct rcore_live_range){piece->start, piece->size,
								    piece->bytes, piece->read};
	}
	sampler->copies.others = sampler->heads.items;
	sampler->copies.other_count = sampler->ractors.count;
	return NULL;
}

void rcore_sampler_waits(struct rcore_sampler *sampler)
{
	look_up(sampler, NULL, NULL);
}

/*
 * Looks up all waits in one go: each time, the decoders need all threads. They
 * see the stacks that the tick has copied.
 */
RCORE_HOT struct rcore_error *rcore_sampler_tick_waits(struct rcore_sampler *sampler)
{
	size_t count = 0;
	for (size_t i = 0; i < sampler->threads.count; i++)
		if (sampler->threads.items[i]->is_asked)
			sampler->stacks.items[count++] =
				&sampler->threads.items[i]->track.stack;
	if (!count)
		return NULL;
	struct rcore_error *err = add_copies(sampler);
	if (err)
		return err;
	rcore_copies_add(&sampler->copies, sampler->stacks.items, count);
	rcore_sampler_waits(sampler);
	sampler->copies.stack_count = sampler->copies.thread_count = 0;
	sampler->copies.others = NULL;
	sampler->copies.other_count = 0;
	return NULL;
}

uint32_t rcore_sampler_parked_wait(struct rcore_sampler *sampler,
				   const struct rcore_parked *parked)
{
	uint32_t number = 0;
	sampler->copies.stack = &parked->track.stack;
	look_up(sampler, parked, &number);
	sampler->copies.stack = NULL;
	return number;
}
