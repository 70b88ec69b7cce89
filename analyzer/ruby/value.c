/* SPDX-License-Identifier: MIT */
#include "ruby/value.h"

#include <inttypes.h>
#include <string.h>

#include "ruby/get.h"

/* Special constants lie below, and no object can: nothing is mapped in the first page. */
enum { LOWEST_ADDRESS = 4096 };

/* special_consts.h, the same from 2.6 to 4.0 but for Qnil and Qundef */
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

bool rcore_is_nil(const struct rcore_ruby *ruby, uint64_t value)
{
	return value == 0 || value == (uint64_t)ruby->layout->constant.qnil;
}

bool rcore_is_object(const struct rcore_ruby *ruby, uint64_t value)
{
	return value >= LOWEST_ADDRESS && value % 8 == 0;
}

struct rcore_error *rcore_flags(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	if (!rcore_is_object(ruby, value))
		return rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is no object",
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
