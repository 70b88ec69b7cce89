/* SPDX-License-Identifier: MIT */
#include "vm/wrapper.h"

#include "ruby/object/value.h"

static bool get_data(struct rcore_ruby *ruby, uint64_t value, uint64_t *ret)
{
	uint64_t flags;
	return rcore_is_object(ruby, value) &&
	       !rcore_read_field(ruby->memory, value, &ruby->layout->basic.flags, &flags) &&
	       (flags & RCORE_T_MASK) == RCORE_T_DATA &&
	       !rcore_read_field(ruby->memory, value, &ruby->layout->data.data, ret);
}

bool rcore_wraps(struct rcore_ruby *ruby, uint64_t value, uint64_t address)
{
	uint64_t data;
	return get_data(ruby, value, &data) && (!data || data == address);
}

bool rcore_wraps_nothing(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t data;
	return get_data(ruby, value, &data) && !data;
}
