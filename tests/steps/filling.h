/* SPDX-License-Identifier: MIT */
#ifndef STEPS_FILLING_H
#define STEPS_FILLING_H

#include "analysis.h"
#include "findings.h"

/*
 * Up to 2.7, and in 3.1 and 3.2, a frame is counted before it is written
 * (vm_push_frame() of vm_insnhelper.c). Until then, its place has what an older
 * frame left there. If that is a valid frame, rcore shows a stack that was never
 * recorded. This is excused only if the frame was written later.
 */
struct filling {
	struct cursor cursor; /* of the thread that moved */
	uint64_t pushed_at;   /* the last step that pushed a frame */
	uint64_t changed_at;  /* the last of the steps after it that wrote to it */
	uint64_t excused_at;  /* the last of those that were excused; 0: none */
	struct frame_words words;
};

/*
 * A frame is written with at most this many instructions: 28 were seen, with a
 * loop that sets local variables to nil.
 */
enum { FILLING = 32 };

/*
 * Notes where the interpreter is after a step. If the innermost frame is
 * complete or gone, and was so when a state was excused, that is a finding.
 */
void filling_note(struct filling *filling, struct analysis *analysis, struct findings *findings,
		  uint64_t thread, uint64_t at);

/* Whether the innermost frame may not have been written yet. */
bool filling_may_last(const struct filling *filling, const struct analysis *analysis,
		      uint64_t at);

/* Whether there are excuses that filling_note() must still check. */
static inline bool filling_owes(const struct filling *filling)
{
	return filling->excused_at;
}

#endif
