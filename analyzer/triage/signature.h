/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_SIGNATURE_H
#define RCORE_TRIAGE_SIGNATURE_H

#include "triage/crash_stack.h"

/*
 * Fills snapshot->signature (model/triage.h). The strict form leaves out the
 * frames of the interpreter, the frames that call main(), and all rounds of a
 * recursion except the first. The loose form also leaves out every frame that
 * is not of the application, a gem or an extension, except the innermost Ruby
 * frame: a method may be written in C in one release of Ruby, and in Ruby in
 * the next. Error: NO_MEMORY.
 */
struct rcore_error *rcore_signature_find(const struct rcore_crash_stack *stack,
					 struct rcore_snapshot *snapshot);

#endif
