/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_MISSING_NAME_H
#define RCORE_RUBY_MISSING_NAME_H

#include "ruby/ruby.h"

/*
 * The message of a NameError or NoMethodError is made when somebody asks for
 * it. Until then its `mesg` is a T_DATA "name_err_mesg" of three VALUEs: a
 * format ("undefined method '%1$s' for %3$s%4$s"), the receiver, and the name.
 * Gives the text that Ruby would make. Mirrors name_err_mesg_to_str of error.c:
 * up to 3.2 with the receiver's inspect, later with its class. *ret is NULL
 * where `value` is no such thing. FAULT, CORRUPT.
 */
struct rcore_error *rcore_name_error_message(struct rcore_ruby *ruby, uint64_t value,
					     const char **ret);

#endif
