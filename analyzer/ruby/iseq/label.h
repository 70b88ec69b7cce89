/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_LABEL_H
#define RCORE_RUBY_LABEL_H

#include "ruby/iseq/iseq.h"
#include "ruby/iseq/method.h"

/*
 * The label of a frame as Ruby 4.0's backtrace prints it, on every Ruby:
 * location_label and calculate_iseq_label of vm_backtrace.c. "Foo#bar", "block
 * (2 levels) in Foo.bar", "<main>", "<class:Foo>", "<top (required)>"; evals
 * take the label of what they stand in, and so do rescue and ensure bodies,
 * with "rescue in " before it (4.0 leaves that out, and the method's own
 * frame); a method of the core written in Ruby (<internal:) is named like a C
 * method. `iseq` is NULL for a C function's frame, `method` NULL where there is
 * none. Cached by iseq and method; the string is in the arena. A part that
 * cannot be read leaves the label less qualified and sets *problem.
 */
struct rcore_error *rcore_label(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
				const struct rcore_method_entry *method, const char **ret,
				const char **problem);

/*
 * The label that the target's own Ruby prints: the plain one up to 3.3, 3.4's
 * rule in 3.4 (traits.label_style). *ret is NULL where it is not known; an
 * error where only a less qualified one is.
 */
struct rcore_error *rcore_native_label(struct rcore_ruby *ruby,
				       const struct rcore_iseq_info *iseq,
				       const struct rcore_method_entry *method,
				       const char **ret);

#endif
