/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_SIGNATURE_H
#define RCORE_TRIAGE_SIGNATURE_H

#include "triage/crash_stack.h"

/*
 * Fills snapshot->signature (see model/triage.h). Of the frames the strict form
 * leaves out those of the interpreter, of the way into main() and how often a
 * recursion went round; the loose form also whatever is neither the
 * application's, nor a gem's, nor an extension's (but the innermost Ruby
 * frame), for a method may be written in C in one Ruby and in Ruby in the next.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_signature_find(const struct rcore_crash_stack *stack,
					 struct rcore_snapshot *snapshot);

#endif
