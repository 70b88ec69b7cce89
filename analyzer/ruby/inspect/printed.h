/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_PRINT_H
#define RCORE_RUBY_PRINT_H

#include "model/printed.h"
#include "ruby/ruby.h"

/*
 * A value and what it holds, in ruby->arena. What cannot be read is said in it.
 * Error: NO_MEMORY.
 */
struct rcore_error *rcore_print_value(struct rcore_ruby *ruby, uint64_t value,
				      const struct rcore_inspect_options *options,
				      struct rcore_printed *ret);

#endif
