/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_TYPES_H
#define RCORE_RUBY_INSPECT_TYPES_H

#include "ruby/inspect/inspect_private.h"

/*
 * The types of T_DATA that have an `inspect` of their own, by the name in their
 * rb_data_type_t. All others, as a Mutex or a Queue, are printed as any object.
 * To add one, add the file of rcore_inspect_NAME(), and its line here.
 */
#define RCORE_INSPECT_TYPES(TYPE)               \
	TYPE("proc", proc)                      \
	TYPE("method", method)                  \
	TYPE("VM/thread", thread)               \
	TYPE("fiber", fiber)                    \
	TYPE("time", time)                      \
	TYPE("encoding", encoding)              \
	TYPE("enumerator", enumerator)          \
	TYPE("arithmetic_sequence", enumerator) \
	TYPE("chain", enumerators)              \
	TYPE("product", enumerators)            \
	TYPE("set", set)                        \
	TYPE("dir", dir)

/* `data` is the struct that the T_DATA wraps. */
#define RCORE_INSPECT_TYPE(type_name, function) rcore_inspect_wrapped rcore_inspect_##function;
RCORE_INSPECT_TYPES(RCORE_INSPECT_TYPE)

#endif
