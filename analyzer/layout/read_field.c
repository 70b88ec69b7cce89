/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include "base/hot.h"

#include <string.h>

static RCORE_HOT uint64_t value(const struct rcore_field *field, const unsigned char bytes[9])
{
	uint64_t low;
	memcpy(&low, bytes, sizeof(low));
	if (!field->bits)
		return low;
	low >>= field->bit;
	if (field->bit)
		low |= (uint64_t)bytes[8] << (64 - field->bit);
	return field->bits < 64 ? low & ((UINT64_C(1) << field->bits) - 1) : low;
}

static RCORE_HOT bool is_readable(const struct rcore_field *field)
{
	return rcore_has_place(field) && field->bit < 8 && field->bits <= 64 &&
	       rcore_field_width(field) > 0 && (field->bits || field->size <= 8);
}

enum rcore_fault rcore_read_field(struct rcore_memory *memory, uint64_t base,
				  const struct rcore_field *field, uint64_t *ret)
{
	unsigned char bytes[9] = {0};
	uint64_t address, word;

	if (rcore_is_whole(field, sizeof(word)) &&
	    !__builtin_add_overflow(base, (uint64_t)field->offset, &address)) {
		enum rcore_fault fault = rcore_read(memory, address, &word, sizeof(word));
		if (fault == RCORE_FAULT_NONE)
			*ret = word;
		return fault;
	}
	if (field->offset == RCORE_UNMEASURED)
		return RCORE_FAULT_NOT_MEASURED;
	if (!is_readable(field) ||
	    __builtin_add_overflow(base, (uint64_t)field->offset, &address))
		return RCORE_FAULT_UNMAPPED;
	enum rcore_fault fault = rcore_read(memory, address, bytes, rcore_field_width(field));
	if (fault == RCORE_FAULT_NONE)
		*ret = value(field, bytes);
	return fault;
}

RCORE_HOT bool rcore_field_of_any(const void *copy, size_t size,
				  const struct rcore_field *field, uint64_t *ret)
{
	unsigned char bytes[9] = {0};

	if (!is_readable(field) || rcore_field_width(field) > size ||
	    (size_t)field->offset > size - rcore_field_width(field))
		return false;
	memcpy(bytes, (const char *)copy + field->offset, rcore_field_width(field));
	*ret = value(field, bytes);
	return true;
}

/* Prints "thread.name"; `field` must be one of the layout's. */
static void print_name(const struct rcore_layout *layout, const struct rcore_field *field,
		       char ret[RCORE_ITEM_TEXT])
{
	size_t where = (size_t)((const char *)field - (const char *)layout);
	strcpy(ret, "a field");
	for (size_t i = 0; i < rcore_item_count; i++)
		if (rcore_items[i].kind == RCORE_ITEM_FIELD && rcore_items[i].where == where)
			rcore_item_print(&rcore_items[i], ret);
}

struct rcore_error *rcore_not_measured(const struct rcore_layout *layout,
				       const struct rcore_field *field)
{
	char range[RCORE_RANGE_TEXT], name[RCORE_ITEM_TEXT];
	if (field->offset != RCORE_UNMEASURED)
		return NULL;
	rcore_layout_print_range(layout, range);
	print_name(layout, field, name);
	return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
				  "%s is not measured for Ruby %s; install its debug "
				  "information, or measure it with scripts/measure",
				  name, range);
}
