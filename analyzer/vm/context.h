/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_CONTEXT_H
#define RCORE_VM_CONTEXT_H

#include "model/context.h"
#include "ruby/ruby.h"

/*
 * Reads the context of the Fiber `fiber` (VALUE): its @ruby_profiler_state is a
 * T_DATA of the type "Ruby::Profiler::State", whose data is the table. Reads
 * the table whole and checks it; if something is wrong, sets context->problem
 * or the pair's problem, and keeps the rest. If there is no such variable, or
 * it is nil, `present` is false. Allocates from ruby->arena. Error: NO_MEMORY
 * only.
 */
struct rcore_error *rcore_context_load(struct rcore_ruby *ruby, uint64_t fiber,
				       struct rcore_context *ret);

/*
 * Does the same with the table at the address `table`, such as the one that the
 * gem's thread-local variable points to.
 */
struct rcore_error *rcore_context_load_table(struct rcore_ruby *ruby, uint64_t table,
					     struct rcore_context *ret);

/*
 * Sets *ret to the address of the word that changes when the Fiber gets another
 * context. This is the word of its instance variable or, if it has none, the
 * flags of the object, which show which variables it has. *ret is 0 if no
 * single word shows the change.
 */
struct rcore_error *rcore_context_place(struct rcore_ruby *ruby, uint64_t fiber,
					const struct rcore_context *context, uint64_t *ret);

/*
 * Describes the difference if the thread-local pointer does not point to the
 * fiber's own table. Error: NO_MEMORY.
 */
struct rcore_error *rcore_context_compare(struct rcore_arena *arena,
					  struct rcore_context *context);

#endif
