/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_WALK_H
#define RCORE_IMAGE_UNWIND_WALK_H

#include "image/unwind/unwind.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_memory.h"
#include "image/unwind/unwind_names.h"
#include "image/unwind/unwind_site.h"

/* What all stacks share. */
struct rcore_unwinder {
	const struct rcore_unwind_machine *machine;
	struct rcore_native_modules *native;
	struct rcore_sites *sites;
	struct rcore_kept_pages memory;
	struct rcore_names names;
	struct rcore_arena *arena;
	bool no_memory;

	struct rcore_walk *walk; /* the current one of libdwfl */
	/* Why the last word that libdwfl asked for could not be read. */
	enum rcore_fault fault;
	uint64_t fault_address;

	size_t frame_limit; /* of one stack */
	size_t frames_left; /* of all stacks */
};

/* How far a walk has come. */
struct rcore_walk_place {
	size_t depth; /* frames so far, without inlined ones */
	struct rcore_site *site;
	uint64_t pc, sp;
	uint64_t cfa; /* or 0 if unknown */
	bool is_exact;
	bool is_inside;   /* inside the stack's known bounds */
	bool stood_still; /* sp did not change from the frame before */
};

/*
 * The walk over one stack, outwards, in stretches. Each begins with known
 * registers, or with those that another method found where libdwfl had to stop.
 * In each, plain rows of call frame information are applied (unwind_row.h);
 * from the first frame with another row on, libdwfl walks.
 */
struct rcore_walk {
	struct rcore_unwinder *unwinder;
	struct rcore_unwind_context *context;
	struct {
		struct rcore_native_frame *items;
		size_t count, capacity;
	} frames;
	bool ended; /* by rcore, not by libdwfl */

	/* Of the current stretch. */
	struct rcore_unwind_registers start;
	bool at_start;
	/*
	 * libdwfl continues from the last frame, which is then the first one
	 * that it reports.
	 */
	bool is_handed_over;

	/* Of the next frame. */
	enum rcore_trust trust;
	bool is_exact; /* pc is that of an instruction, not a return address */
	/* sp may be anywhere, because a signal may have changed stacks. */
	bool may_jump;

	/*
	 * The value of the register that libdw forgets
	 * (rcore_unwind_machine.forgotten).
	 */
	uint64_t forgotten;
	bool is_forgotten_known;
	/*
	 * The next stretch begins with the frame before which this one ended.
	 */
	bool starts_over;

	struct rcore_walk_place last; /* the last frame */
	/* Its registers, set only if libdwfl may not be able to continue. */
	struct rcore_unwind_registers at;
	bool is_captured; /* ... are set */
	/* libdwfl cannot continue: there is no call frame information. */
	bool is_stopped;
	bool read_failed, read_zero; /* by libdwfl since then */

	/* The next frame is of a chain that was followed (unwind_records.h). */
	bool in_records;
	/* Of this stack, so that chains that lead nowhere do not add up. */
	size_t records_seen;

	/* To find that a stack leads back into itself, as Brent does. */
	uint64_t seen_pc, seen_sp;
	size_t seen_at;

	/*
	 * A return address found by scanning counts only if the stack continues
	 * from it.
	 */
	bool on_probation;
	uint64_t probation_slot;
	size_t probation_frames;
	struct rcore_walk_place probation_last;
};

/* Reads a word of a stack. Returns false if it cannot be read. */
static inline bool rcore_walk_word(const struct rcore_walk *walk, uint64_t address,
				   uint64_t *ret)
{
	return !rcore_read_u64(&walk->unwinder->memory.memory, address, ret);
}

/* Walks the whole stack; stores frames and problem in the context. */
void rcore_walk_stack(struct rcore_walk *walk, Dwfl_Thread *thread);

/*
 * Callbacks of libdwfl: where a stretch starts
 * (Dwfl_Thread_Callbacks.set_initial_registers), and memory.
 */
bool rcore_walk_registers(Dwfl_Thread *thread, void *walk);
bool rcore_walk_read(struct rcore_unwinder *unwinder, uint64_t address, uint64_t *ret);

#endif
