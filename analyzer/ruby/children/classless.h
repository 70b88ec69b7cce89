/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CLASSLESS_H
#define RCORE_RUBY_CLASSLESS_H

#include "ruby/object/value.h"

/*
 * Objects are grouped by the address of their class. Those without a class get
 * a small number instead, which is no address: the type, and above it the
 * imemo_type of a T_IMEMO. It is never 0, as no object has the type T_NONE.
 */
enum { RCORE_CLASSLESS_IMEMO_SHIFT = 8 };

static inline uint64_t rcore_classless_key(uint64_t flags)
{
	const int imemo = rcore_imemo_type(flags);
	return (flags & RCORE_T_MASK) | (uint64_t)(imemo < 0 ? 0 : imemo)
						<< RCORE_CLASSLESS_IMEMO_SHIFT;
}

static inline enum rcore_type rcore_classless_type(uint64_t key)
{
	return (enum rcore_type)(key & RCORE_T_MASK);
}

static inline unsigned rcore_classless_imemo(uint64_t key)
{
	return (unsigned)(key >> RCORE_CLASSLESS_IMEMO_SHIFT);
}

#endif
