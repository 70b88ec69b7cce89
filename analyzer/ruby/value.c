/* SPDX-License-Identifier: MIT */
#include "ruby/value.h"

#include <inttypes.h>

#include "ruby/get.h"

/* Special constants lie below, and no object can: nothing is mapped in the first page. */
enum { LOWEST_ADDRESS = 4096 };

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
