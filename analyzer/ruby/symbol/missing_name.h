/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MISSING_NAME_H
#define RCORE_RUBY_MISSING_NAME_H

#include "model/printed.h"
#include "ruby/ruby.h"

/* The type of rcore_inspect(), which uses this file to print exceptions. */
typedef struct rcore_error *rcore_inspect_function(struct rcore_ruby *ruby, uint64_t value,
						   const struct rcore_inspect_options *options,
						   struct rcore_value *ret);

/*
 * Creates the message of a NameError or NoMethodError. Ruby creates it when it
 * is asked for. Until then, `mesg` is a T_DATA "name_err_mesg" of three VALUEs:
 * a format ("undefined method '%1$s' for %3$s%4$s"), the receiver, and the
 * name. Mirrors name_err_mesg_to_str of error.c: up to 3.2 with the receiver's
 * inspect, later with its class. `inspect` is rcore_inspect(). *ret is NULL if
 * `value` is not such an object. Errors: FAULT, CORRUPT.
 */
struct rcore_error *rcore_name_error_message(struct rcore_ruby *ruby,
					     rcore_inspect_function *inspect, uint64_t value,
					     const char **ret);

/*
 * Creates the message of an UncaughtThrowError: "uncaught throw %p", with its
 * tag. Mirrors uncaught_throw_to_s of vm_eval.c. *ret is NULL if `exception` is
 * none. Errors: FAULT, CORRUPT.
 */
struct rcore_error *rcore_uncaught_throw_message(struct rcore_ruby *ruby,
						 rcore_inspect_function *inspect,
						 uint64_t exception, const char **ret);

#endif
