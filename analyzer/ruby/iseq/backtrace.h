/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_BACKTRACE_H
#define RCORE_RUBY_BACKTRACE_H

#include "model/exception.h"
#include "ruby/ruby.h"

/*
 * The most locations that are read of one backtrace: twice what a default stack
 * has room for.
 */
enum { RCORE_BACKTRACE_LIMIT = 20000 };

struct rcore_backtrace {
	/* Innermost first; in the arena. */
	struct rcore_backtrace_location *locations;
	size_t count, left_out;
};

/*
 * A backtrace is a Thread::Backtrace (T_DATA "backtrace") or, once somebody has
 * set it, an Array of Strings. The former has the code and the position of each
 * frame, from which Ruby creates the text when it is asked for:
 *
 *   up to 3.0   {type, iseq | method id, pc | line | caller}, outermost first
 *   3.1 to 3.3  {type, iseq, pc, method id}
 *   3.4 on      {method entry, iseq, pc}
 *
 * A method in C has the code and pc of its caller. Mirrors vm_backtrace.c,
 * location_to_str. A location that cannot be read has a `problem`. Errors:
 * CORRUPT if it is neither of the two; FAULT, LIMIT.
 */
struct rcore_error *rcore_backtrace(struct rcore_ruby *ruby, uint64_t value,
				    struct rcore_backtrace *ret);

/*
 * Finds the path that a backtrace prints for a C function that no Ruby code
 * called: $0, without a line. *ret is NULL if it is not set yet. Errors:
 * CORRUPT, FAULT, LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_backtrace_program(struct rcore_ruby *ruby, const char **ret);

#endif
