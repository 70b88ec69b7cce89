/* SPDX-License-Identifier: MIT */
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/search.h"
#include "ruby/object/string.h"

/*
 * rb_symbols_t is recognized by its contents, which symbol.c and defs/id.def
 * always add in the same order. The serial of a one-character operator is that
 * character (Init_op_tbl). The names "max" and "min" are adjacent soon after
 * tLAST_OP_ID, as the first of the predefined locals.
 */
static const char operators[] = "!%&*+-/<>^|~";

enum {
	PREDEFINED_LIMIT = 128,    /* serials that are searched for "max" */
	LAST_ID_LIMIT = 100 << 20, /* the most symbols of a process */
};

static bool has_name(struct rcore_ruby *ruby, uint64_t ids, uint64_t serial,
		     const char *expected)
{
	uint64_t string;
	bool same = false;
	rcore_auto_error err = rcore_serial_string(ruby, ids, serial, &string);
	if (!err)
		err = rcore_string_is(ruby, string, expected, &same);
	return !err && same;
}

/*
 * A cheap test of the head of a rb_symbols_t: a count, and what may be an
 * Array.
 */
static bool plausible(const struct rcore_ruby *ruby, const void *copy, size_t size,
		      uint64_t *ids)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t last;
	return rcore_field_of(copy, size, &layout->symbols.last_id, &last) &&
	       rcore_field_of(copy, size, &layout->symbols.ids, ids) &&
	       last > (uint64_t)layout->constant.last_op_id && last < LAST_ID_LIMIT &&
	       rcore_is_object(ruby, *ids);
}

static bool prove(struct rcore_ruby *ruby, uint64_t ids)
{
	for (const char *c = operators; *c; c++)
		if (!has_name(ruby, ids, (unsigned char)*c, (char[]){*c, 0}))
			return false;
	uint64_t first = (uint64_t)ruby->layout->constant.last_op_id + 1;
	for (uint64_t serial = first; serial < first + PREDEFINED_LIMIT; serial++)
		if (has_name(ruby, ids, serial, "max"))
			return has_name(ruby, ids, serial + 1, "min");
	return false;
}

static size_t head_size(const struct rcore_layout *layout)
{
	int32_t end = layout->symbols.last_id.offset + layout->symbols.last_id.size;
	int32_t ids_end = layout->symbols.ids.offset + layout->symbols.ids.size;
	if (!rcore_has(&layout->symbols.last_id) || !rcore_has(&layout->symbols.ids))
		return 0;
	return (size_t)(end > ids_end ? end : ids_end);
}

bool rcore_symbols_prove(struct rcore_ruby *ruby, uint64_t address)
{
	unsigned char head[256];
	uint64_t ids;
	size_t size = head_size(ruby->layout);
	return size && size <= sizeof(head) &&
	       rcore_read(ruby->memory, address, head, size) == RCORE_FAULT_NONE &&
	       plausible(ruby, head, size, &ids) && prove(ruby, ids);
}

static bool test(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_ruby *ruby = context;
	uint64_t ids;
	(void)address;
	return plausible(ruby, copy, size, &ids) && prove(ruby, ids);
}

bool rcore_symbols_search(struct rcore_ruby *ruby, uint64_t start, uint64_t end)
{
	return rcore_search(ruby, start, end, head_size(ruby->layout), test, ruby,
			    &ruby->global_symbols);
}
