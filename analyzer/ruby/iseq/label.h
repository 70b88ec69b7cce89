/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_LABEL_H
#define RCORE_RUBY_LABEL_H

#include "ruby/iseq/iseq.h"
#include "ruby/iseq/method.h"

/*
 * Returns the label of a frame as Ruby 4.0's backtrace prints it, for every
 * Ruby: location_label and calculate_iseq_label of vm_backtrace.c. Examples:
 * "Foo#bar", "block (2 levels) in Foo.bar", "<main>", "<class:Foo>", "<top
 * (required)>". Evals get the label of the enclosing code. So do rescue and
 * ensure bodies, after "rescue in " (4.0 omits that, and the method's own
 * frame). A method of the core that is written in Ruby (<internal:) is named
 * like a C method. `iseq` is NULL for the frame of a C function, `method` may
 * be NULL. Cached by iseq and method; the string is in the arena. If a part
 * cannot be read, the label is less qualified, and *problem is set.
 */
struct rcore_error *rcore_label(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
				const struct rcore_method_entry *method, const char **ret,
				const char **problem);

/*
 * Returns the label that the target's own Ruby prints: the plain one up to 3.3,
 * that of 3.4's rules in 3.4 (traits.label_style). *ret is NULL if it is
 * unknown. Returns an error if only a less qualified one is known.
 */
struct rcore_error *rcore_native_label(struct rcore_ruby *ruby,
				       const struct rcore_iseq_info *iseq,
				       const struct rcore_method_entry *method,
				       const char **ret);

#endif
