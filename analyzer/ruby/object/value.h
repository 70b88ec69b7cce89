/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_VALUE_H
#define RCORE_RUBY_VALUE_H

/*
 * ruby/object/ decodes the heap's objects, from the tag bits of a VALUE to
 * classes, shapes and hashes. It includes ruby/symbol/. Start here, then read
 * class.h and ivar.h.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby.h"

/*
 * A VALUE is either an immediate (small integer, flonum, static symbol, nil,
 * true, false), as its low bits show, or the address of an object. The first
 * word of an object is RBasic.flags, whose low five bits are its type. Mirrors
 * include/ruby/internal/special_consts.h and value_type.h (before 3.0:
 * include/ruby/ruby.h).
 */
enum rcore_type {
	RCORE_T_NONE = 0x00,
	RCORE_T_OBJECT = 0x01,
	RCORE_T_CLASS = 0x02,
	RCORE_T_MODULE = 0x03,
	RCORE_T_FLOAT = 0x04,
	RCORE_T_STRING = 0x05,
	RCORE_T_REGEXP = 0x06,
	RCORE_T_ARRAY = 0x07,
	RCORE_T_HASH = 0x08,
	RCORE_T_STRUCT = 0x09,
	RCORE_T_BIGNUM = 0x0a,
	RCORE_T_FILE = 0x0b,
	RCORE_T_DATA = 0x0c,
	RCORE_T_MATCH = 0x0d,
	RCORE_T_COMPLEX = 0x0e,
	RCORE_T_RATIONAL = 0x0f,
	RCORE_T_SYMBOL = 0x14,
	RCORE_T_IMEMO = 0x1a,
	RCORE_T_NODE = 0x1b,
	RCORE_T_ICLASS = 0x1c,
	RCORE_T_ZOMBIE = 0x1d,
	RCORE_T_MOVED = 0x1e,
	RCORE_T_MASK = 0x1f,
};

/*
 * Whether a slot of this type holds an object. Others are free, wait for their
 * finalizer, or point to where compaction has moved the object.
 */
static inline bool rcore_type_is_used(enum rcore_type type)
{
	return type != RCORE_T_NONE && type != RCORE_T_ZOMBIE && type != RCORE_T_MOVED;
}

enum {
	RCORE_FL_USHIFT = 12, /* RUBY_FL_USHIFT: FL_USERn is bit 12 + n */
};

enum rcore_immediate {
	RCORE_NO_IMMEDIATE, /* an address, or invalid */
	RCORE_FALSE,
	RCORE_NIL,
	RCORE_TRUE,
	RCORE_UNDEF,
	RCORE_FIXNUM,        /* int64_t >> 1 */
	RCORE_FLONUM,        /* rcore_flonum() */
	RCORE_STATIC_SYMBOL, /* its ID: >> RCORE_SPECIAL_SHIFT */
};

enum { RCORE_SPECIAL_SHIFT = 8 }; /* RUBY_SPECIAL_SHIFT */

enum rcore_immediate rcore_immediate(const struct rcore_ruby *ruby, uint64_t value);

/*
 * Returns the VALUE of a static Symbol. For the ID of a dynamic Symbol, returns
 * one with the same name.
 */
uint64_t rcore_static_symbol(uint64_t id);

/*
 * Decodes a Float in a VALUE, which has a shorter exponent:
 * rb_float_flonum_value of internal/numeric.h.
 */
double rcore_flonum(uint64_t value);

/*
 * Returns whether a VALUE is an Integer of at least 0 in a word, and stores
 * that. A variable of the program may have anything.
 */
bool rcore_is_count(uint64_t value, uint64_t *ret);

/* Whether it is nil or false, with the layout's Qnil. */
bool rcore_is_nil(const struct rcore_ruby *ruby, uint64_t value);

/*
 * Whether it is an address (8-byte aligned, not special), which may be an
 * object's.
 */
static inline bool rcore_is_object(const struct rcore_ruby *ruby, uint64_t value)
{
	/*
	 * Special constants are below, and objects cannot be: nothing is mapped
	 * in the first page.
	 */
	enum { LOWEST_ADDRESS = 4096 };
	(void)ruby;
	return value >= LOWEST_ADDRESS && value % 8 == 0;
}

/*
 * Returns the imemo_type in the flags of a T_IMEMO: FL_USER0 to FL_USER3
 * (internal/imemo.h); -1 for an object of another type.
 */
static inline int rcore_imemo_type(uint64_t flags)
{
	return (flags & RCORE_T_MASK) == RCORE_T_IMEMO ? (int)(flags >> RCORE_FL_USHIFT & 0xf)
						       : -1;
}

/*
 * Reads the flags and type of a heap object. Errors: FAULT if it cannot be
 * read; CORRUPT if `value` is an immediate.
 */
struct rcore_error *rcore_flags(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret);
/* Returns "T_STRING"; NULL if CRuby has no such type. */
const char *rcore_type_name(enum rcore_type type);

struct rcore_error *rcore_type(struct rcore_ruby *ruby, uint64_t value, enum rcore_type *ret);

#endif
