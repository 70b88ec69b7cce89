/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_PRINT_H
#define RCORE_RUBY_PRINT_H

#include "model/printed.h"
#include "ruby/ruby.h"

/*
 * Reads a value and what it contains, in ruby->arena. Each part has a problem
 * if it cannot be read. Error: NO_MEMORY.
 */
struct rcore_error *rcore_print_value(struct rcore_ruby *ruby, uint64_t value,
				      const struct rcore_inspect_options *options,
				      struct rcore_printed *ret);

#endif
