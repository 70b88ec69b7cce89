/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_EXCEPTIONS_H
#define RCORE_VM_EXCEPTIONS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum {
	RCORE_CAUSE_LIMIT = 100,     /* exceptions that led to one */
	RCORE_EXCEPTION_LIMIT = 100, /* of one fiber: handlers one within the other */
};

/*
 * Sets `exceptions` of each fiber: what it is handling, innermost first; the first one is `$!`.
 *
 * A rescue or ensure body is a frame of its own, whose only variable (the word below its three of
 * bookkeeping) is the exception. An ensure body that runs without one has nil there, one that is run
 * by break, throw and the like a throw_data or an Integer. While an exception looks for its handler, and
 * in code that C rescues, only ec->errinfo has it. Mirrors errinfo_place and rb_ec_get_errinfo of eval.c.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_exceptions(struct rcore_ruby *ruby,
					struct rcore_snapshot *snapshot);

/* An exception and its causes; what of them cannot be read is its `problem`. Error: NO_MEMORY. */
struct rcore_error *rcore_vm_exception(struct rcore_ruby *ruby, uint64_t value,
				       struct rcore_exception *ret);

#endif
