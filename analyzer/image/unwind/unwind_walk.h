/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_WALK_H
#define RCORE_IMAGE_UNWIND_WALK_H

#include "image/unwind/unwind.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_memory.h"
#include "image/unwind/unwind_names.h"
#include "image/unwind/unwind_site.h"

/* What all stacks have in common. */
struct rcore_unwinder {
	const struct rcore_unwind_machine *machine;
	struct rcore_native_modules *native;
	struct rcore_sites *sites;
	struct rcore_kept_pages memory;
	struct rcore_names names;
	struct rcore_arena *arena;
	bool no_memory;

	struct rcore_walk *walk; /* the one that libdwfl is at */
	/* The last word that libdwfl asked for in vain. */
	enum rcore_fault fault;
	uint64_t fault_address;

	size_t frames_left; /* of all stacks */
};

/* Where a walk has got to. */
struct rcore_walk_place {
	size_t depth; /* frames so far, without those inlined */
	struct rcore_site *site;
	uint64_t pc, sp;
	uint64_t cfa; /* 0: not known */
	bool is_exact;
	bool is_inside;   /* of the stack's known bounds */
	bool stood_still; /* sp was that of the frame before */
};

/*
 * One stack on its way out. libdwfl walks stretches of it; each begins with
 * registers that are known, or that were found where libdwfl had to stop.
 */
struct rcore_walk {
	struct rcore_unwinder *unwinder;
	struct rcore_unwind_context *context;
	struct {
		struct rcore_native_frame *items;
		size_t count, capacity;
	} frames;
	bool ended; /* by us, not libdwfl */

	/* Of the stretch. */
	struct rcore_unwind_registers start;
	bool at_start;

	/* Of the next frame. */
	enum rcore_trust trust;
	bool is_exact; /* pc is that of an instruction, not a return address */
	/* sp may be anywhere: a signal may have changed stacks. */
	bool may_jump;

	/*
	 * What the register has that libdw forgets
	 * (rcore_unwind_machine.forgotten).
	 */
	uint64_t forgotten;
	bool is_forgotten_known;
	/* The next stretch begins with the frame that this one ended before. */
	bool starts_over;

	struct rcore_walk_place last; /* the last frame */
	/* Its registers, only where libdwfl may not go on. */
	struct rcore_unwind_registers at;
	bool is_captured; /* ... which are there */
	/* It cannot go on: no call frame information. */
	bool is_stopped;
	bool read_failed, read_zero; /* of what libdwfl asked for since */

	/* To find that a stack leads back into itself, as Brent does. */
	uint64_t seen_pc, seen_sp;
	size_t seen_at;

	/*
	 * A return address found by scanning holds when the stack goes on from
	 * it.
	 */
	bool on_probation;
	uint64_t probation_slot;
	size_t probation_frames;
	struct rcore_walk_place probation_last;
};

/* Walks it all; frames and problem go to the context. */
void rcore_walk_stack(struct rcore_walk *walk, Dwfl_Thread *thread);

/*
 * For libdwfl: where a stretch starts (a
 * Dwfl_Thread_Callbacks.set_initial_registers), and memory.
 */
bool rcore_walk_registers(Dwfl_Thread *thread, void *walk);
bool rcore_walk_read(struct rcore_unwinder *unwinder, uint64_t address, uint64_t *ret);

#endif
