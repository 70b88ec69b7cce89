/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_CONTEXT_H
#define RCORE_VM_CONTEXT_H

#include "model/context.h"
#include "ruby/ruby.h"

/*
 * The context of a Fiber (VALUE): its @ruby_profiler_state is a T_DATA of the type
 * "Ruby::Profiler::State", whose data is the table. Reads it whole and checks it: what does not fit is
 * said on the table (context->problem) or on the pair, and the rest stands. Without the variable, or
 * where it is nil, `present` is false. Everything is in ruby->arena. Error: NO_MEMORY only.
 */
struct rcore_error *rcore_context_load(struct rcore_ruby *ruby, uint64_t fiber,
				       struct rcore_context *ret);

/*
 * Sets *ret to the address of the word that changes when the Fiber gets another
 * context: its instance variable, or where it has none, the flags of the
 * object, which say which variables there are. 0: no single word tells.
 */
struct rcore_error *rcore_context_place(struct rcore_ruby *ruby, uint64_t fiber,
					const struct rcore_context *context, uint64_t *ret);

/* Says in words where the thread-local pointer is not the fiber's own table. NO_MEMORY. */
struct rcore_error *rcore_context_compare(struct rcore_arena *arena,
					  struct rcore_context *context);

#endif
