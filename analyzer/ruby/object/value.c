/* SPDX-License-Identifier: MIT */
#include "ruby/object/value.h"

#include <inttypes.h>
#include <string.h>

#include "base/count.h"
#include "ruby/get.h"

/* special_consts.h, the same from 2.6 to 4.0 except Qnil and Qundef */
enum {
	QTRUE = 0x14,
	FIXNUM_FLAG = 1,
	FLONUM_MASK = 3,
	FLONUM_FLAG = 2,
	SYMBOL_MASK = 0xff,
	SYMBOL_FLAG = 0x0c,
};

enum rcore_immediate rcore_immediate(const struct rcore_ruby *ruby, uint64_t value)
{
	if (value & FIXNUM_FLAG)
		return RCORE_FIXNUM;
	if ((value & FLONUM_MASK) == FLONUM_FLAG)
		return RCORE_FLONUM;
	if ((value & SYMBOL_MASK) == SYMBOL_FLAG)
		return RCORE_STATIC_SYMBOL;
	if (value == QTRUE)
		return RCORE_TRUE;
	if (value == (uint64_t)ruby->layout->constant.qundef)
		return RCORE_UNDEF;
	if (value == 0)
		return RCORE_FALSE;
	return rcore_is_nil(ruby, value) ? RCORE_NIL : RCORE_NO_IMMEDIATE;
}

uint64_t rcore_static_symbol(uint64_t id)
{
	return id << RCORE_SPECIAL_SHIFT | SYMBOL_FLAG;
}

double rcore_flonum(uint64_t value)
{
	static const uint64_t zero = 0x8000000000000002;
	double number;
	if (value == zero)
		return 0.0;
	uint64_t bits = (2 - (value >> 63)) | (value & ~(uint64_t)FLONUM_MASK);
	bits = bits >> 3 | bits << 61;
	memcpy(&number, &bits, sizeof(number));
	return number;
}

bool rcore_is_count(uint64_t value, uint64_t *ret)
{
	if (!(value & FIXNUM_FLAG) || (int64_t)value < 0)
		return false;
	*ret = value >> 1;
	return true;
}

bool rcore_is_nil(const struct rcore_ruby *ruby, uint64_t value)
{
	return value == 0 || value == (uint64_t)ruby->layout->constant.qnil;
}

struct rcore_error *rcore_flags(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	if (!rcore_is_object(ruby, value))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not an object",
					  value);
	return RCORE_GET(ruby, value, basic, flags, ret);
}

struct rcore_error *rcore_type(struct rcore_ruby *ruby, uint64_t value, enum rcore_type *ret)
{
	uint64_t flags;
	struct rcore_error *err = rcore_flags(ruby, value, &flags);
	if (err)
		return err;
	*ret = (enum rcore_type)(flags & RCORE_T_MASK);
	return NULL;
}

const char *rcore_type_name(enum rcore_type type)
{
	static const char *const type_names[] = {
		[RCORE_T_NONE] = "T_NONE",       [RCORE_T_OBJECT] = "T_OBJECT",
		[RCORE_T_CLASS] = "T_CLASS",     [RCORE_T_MODULE] = "T_MODULE",
		[RCORE_T_FLOAT] = "T_FLOAT",     [RCORE_T_STRING] = "T_STRING",
		[RCORE_T_REGEXP] = "T_REGEXP",   [RCORE_T_ARRAY] = "T_ARRAY",
		[RCORE_T_HASH] = "T_HASH",       [RCORE_T_STRUCT] = "T_STRUCT",
		[RCORE_T_BIGNUM] = "T_BIGNUM",   [RCORE_T_FILE] = "T_FILE",
		[RCORE_T_DATA] = "T_DATA",       [RCORE_T_MATCH] = "T_MATCH",
		[RCORE_T_COMPLEX] = "T_COMPLEX", [RCORE_T_RATIONAL] = "T_RATIONAL",
		[RCORE_T_SYMBOL] = "T_SYMBOL",   [RCORE_T_IMEMO] = "T_IMEMO",
		[RCORE_T_NODE] = "T_NODE",       [RCORE_T_ICLASS] = "T_ICLASS",
		[RCORE_T_ZOMBIE] = "T_ZOMBIE",   [RCORE_T_MOVED] = "T_MOVED",
	};
	return type < RCORE_COUNT(type_names) ? type_names[type] : NULL;
}
