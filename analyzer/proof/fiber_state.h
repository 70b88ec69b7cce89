/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_FIBER_STATE_H
#define RCORE_PROOF_FIBER_STATE_H

#include "ruby/ruby.h"

/*
 * Whether the fiber at `fiber` can be its thread's current one (th->ec).
 * `status` is the word of bit-fields. The fiber is resumed, or the thread is
 * just leaving it, or ends with it.
 */
bool rcore_fiber_can_run(struct rcore_ruby *ruby, uint64_t fiber,
			 const struct rcore_field *status);

/*
 * Whether the root fiber of a thread that runs another fiber is in a possible
 * state: the thread has left it, or is just entering it again.
 */
bool rcore_fiber_can_wait(struct rcore_ruby *ruby, uint64_t fiber,
			  const struct rcore_field *status);

#endif
