/* SPDX-License-Identifier: MIT */
#ifndef FLIP_COMPARE_H
#define FLIP_COMPARE_H

#include "model/snapshot.h"

/* How a snapshot differs from that of the same target without flips. */
enum flip_effect {
	FLIP_VM = 1 << 0,     /* another VM, another layout */
	FLIP_RUBY = 1 << 1,   /* version, description */
	FLIP_RACTOR = 1 << 2, /* lost, new, or told otherwise */
	FLIP_THREAD_LOST = 1 << 3,
	FLIP_THREAD_NEW = 1 << 4,
	FLIP_THREAD_STATE = 1 << 5, /* status, GVL, flags, object */
	FLIP_THREAD_TID = 1 << 6,
	FLIP_FIBER_LOST = 1 << 7,
	FLIP_FIBER_NEW = 1 << 8,
	FLIP_FIBER_STATE = 1 << 9,   /* status, root, current, flags, object */
	FLIP_FIBER_LINKS = 1 << 10,  /* its thread, who resumed it, whom it resumed */
	FLIP_FIBER_STACKS = 1 << 11, /* where its stacks are */
	FLIP_FRAME_LOST = 1 << 12,
	FLIP_FRAME_NEW = 1 << 13,
	FLIP_FRAME_KIND = 1 << 14,
	FLIP_FRAME_SHOWN = 1 << 15, /* in that Ruby's own backtrace, or hidden there */
	FLIP_FRAME_LINE = 1 << 16,
	FLIP_FRAME_SELF = 1 << 17,
	FLIP_TEXT_LESS = 1 << 18,  /* a part of a text is gone, the rest is as it was */
	FLIP_TEXT_BYTES = 1 << 19, /* at most one word of a text is new */
	FLIP_LABEL = 1 << 20,      /* another label */
	FLIP_PATH = 1 << 21,
	FLIP_NAME = 1 << 22, /* of a thread */
	FLIP_CAUSE = 1 << 23,
	FLIP_OTHERS = 1 << 24, /* kernel threads without Ruby */
	/* A C method's frame, popped but intact, is the innermost one again. */
	FLIP_FRAME_POPPED = 1 << 25,
	FLIP_EFFECT_COUNT = 26,
};

const char *flip_effect_name(int index);

/*
 * Returns the effects, combined with |. `text` gets one line about the first of
 * them.
 */
unsigned flip_compare(const struct rcore_snapshot *clean, const struct rcore_snapshot *flipped,
		      char *text, size_t size);

#endif
