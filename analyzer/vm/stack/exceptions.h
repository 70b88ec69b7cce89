/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_EXCEPTIONS_H
#define RCORE_VM_EXCEPTIONS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum {
	RCORE_CAUSE_LIMIT = 100,     /* causes of one exception */
	RCORE_EXCEPTION_LIMIT = 100, /* of one fiber: nested handlers */
};

/*
 * Sets `exceptions` of each fiber: those that it is handling, innermost first.
 * The first one is `$!`.
 *
 * A rescue or ensure body is a frame of its own. Its only variable (the word
 * below the three words at ep) is the exception. In an ensure body it is nil if
 * there was no exception, and a throw_data or an Integer after break, throw and
 * the like. While CRuby looks for an exception's handler, and in code that C
 * rescues, only ec->errinfo has the exception. Mirrors errinfo_place() and
 * rb_ec_get_errinfo() of eval.c. A backtrace that Ruby has freed while it ends
 * is left out. So is an exception that cannot be read whole, if its fiber may
 * be garbage then. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_exceptions(struct rcore_ruby *ruby,
					struct rcore_snapshot *snapshot);

#endif
