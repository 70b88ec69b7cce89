/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_FIBER_STATE_H
#define RCORE_PROOF_FIBER_STATE_H

#include "ruby/ruby.h"

/*
 * Whether the fiber at `fiber` can be the one that its thread runs (th->ec), judged by the word of
 * bit-fields at `status`: it is resumed, or the thread is just leaving it, or ends with it.
 */
bool rcore_fiber_can_run(struct rcore_ruby *ruby, uint64_t fiber,
			 const struct rcore_field *status);

/*
 * Whether the root fiber of a thread that runs another fiber is in a state that it can be in: it
 * was left, or is just being entered again.
 */
bool rcore_fiber_can_wait(struct rcore_ruby *ruby, uint64_t fiber,
			  const struct rcore_field *status);

#endif
