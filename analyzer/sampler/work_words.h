/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_WORK_WORDS_H
#define RCORE_SAMPLER_WORK_WORDS_H

#include "model/snapshot.h"
#include "sampler/track.h"

/*
 * The words that tell whether a thread still works on the same: of each frame
 * that an entry of recognizers.json matches, iseq, self and ep, which do not
 * change while its method runs, and the local variables and arguments from
 * which its fields come. Other variables of the frame may change.
 */

/* A local variable or argument, usually on the VM stack. */
struct rcore_work_word {
	size_t place; /* of its frame: index into track->known */
	uint64_t address;
	uint64_t value; /* when it was last read */
};

/*
 * Finds the words from which fields of the frames at track->work.places come.
 * `fiber` has these frames. Error: NO_MEMORY.
 */
struct rcore_error *rcore_work_words_find(struct rcore_sampler *sampler,
					  struct rcore_track *track,
					  const struct rcore_fiber *fiber);

/*
 * Reads the words from which fields come. Of a thread that rests, no values
 * were copied, so the process is read: the thread may have returned, and may
 * rest in the same frames for the next request. So are variables that a Proc or
 * Binding has moved to the heap. With `is_late`, all are read from the process.
 * Returns false if one cannot be read.
 */
bool rcore_work_words_read(struct rcore_sampler *sampler, struct rcore_track *track,
			   bool is_late);

/*
 * Returns a hash of the frames, and of the words as they were last read; 0 if a
 * frame was not copied.
 */
uint64_t rcore_work_words_key(const struct rcore_sampler *sampler,
			      const struct rcore_track *track);

/*
 * Returns whether the process still has the frame at a place, as it was copied,
 * and its words, as they were last read.
 */
bool rcore_work_words_hold(struct rcore_sampler *sampler, const struct rcore_track *track,
			   size_t place);

#endif
