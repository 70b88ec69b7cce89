/* SPDX-License-Identifier: MIT */
#include "ruby/get.h"

struct rcore_error *rcore_get(struct rcore_ruby *ruby, uint64_t base,
			      const struct rcore_field *field, const char *name, uint64_t *ret)
{
	if (!rcore_has(field))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED, "layout %s has no field %s",
					  ruby->layout->name, name);
	struct rcore_error *err = rcore_not_measured(ruby->layout, field);
	if (err)
		return err;
	enum rcore_fault fault = rcore_read_field(ruby->memory, base, field, ret);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, name, base + (uint64_t)field->offset,
					 rcore_field_width(field));
	return NULL;
}
