/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"

static rcore_inspect_type *const types[RCORE_T_MASK + 1] = {
	[RCORE_T_OBJECT] = rcore_inspect_object,     [RCORE_T_CLASS] = rcore_inspect_class,
	[RCORE_T_MODULE] = rcore_inspect_class,      [RCORE_T_FLOAT] = rcore_inspect_float,
	[RCORE_T_STRING] = rcore_inspect_string,     [RCORE_T_REGEXP] = rcore_inspect_regexp,
	[RCORE_T_ARRAY] = rcore_inspect_array,       [RCORE_T_HASH] = rcore_inspect_hash,
	[RCORE_T_STRUCT] = rcore_inspect_struct,     [RCORE_T_BIGNUM] = rcore_inspect_bignum,
	[RCORE_T_FILE] = rcore_inspect_file,         [RCORE_T_DATA] = rcore_inspect_data,
	[RCORE_T_MATCH] = rcore_inspect_match,       [RCORE_T_COMPLEX] = rcore_inspect_complex,
	[RCORE_T_RATIONAL] = rcore_inspect_rational, [RCORE_T_SYMBOL] = rcore_inspect_symbol,
};

/* Slots that Ruby code never sees. */
static bool inspect_slot(struct rcore_inspect *inspect, uint64_t value, uint64_t flags)
{
	static const char *const names[] = {
		[RCORE_T_NONE] = "freed",    [RCORE_T_IMEMO] = "internal",
		[RCORE_T_NODE] = "internal", [RCORE_T_ICLASS] = "internal",
		[RCORE_T_ZOMBIE] = "zombie",
	};
	unsigned type = flags & RCORE_T_MASK;
	uint64_t to;
	if (type == RCORE_T_MOVED) {
		/*
		 * struct RMoved has flags, dummy, destination; before 3.4
		 * flags, destination.
		 */
		if (rcore_read_u64(inspect->ruby->memory, value + 16, &to) != RCORE_FAULT_NONE)
			to = 0;
		rcore_inspect_printf(inspect, "<moved 0x%" PRIx64 " to 0x%" PRIx64 ">", value,
				     to);
		return true;
	}
	if (type >= RCORE_COUNT(names) || !names[type])
		return false;
	rcore_inspect_printf(inspect, "<%s 0x%" PRIx64 ">", names[type], value);
	return true;
}

static bool inspect_immediate(struct rcore_inspect *inspect, uint64_t value,
			      struct rcore_error **err)
{
	enum rcore_immediate kind = rcore_immediate(inspect->ruby, value);
	static const char *const texts[] = {
		[RCORE_FALSE] = "false",
		[RCORE_NIL] = "nil",
		[RCORE_TRUE] = "true",
		[RCORE_UNDEF] = "<undef>",
	};
	switch (kind) {
	case RCORE_NO_IMMEDIATE:
		return false;
	case RCORE_FIXNUM:
		rcore_inspect_printf(inspect, "%" PRId64, (int64_t)value >> 1);
		return true;
	case RCORE_FLONUM:
		rcore_inspect_double(inspect, rcore_flonum(value));
		return true;
	case RCORE_STATIC_SYMBOL:
		*err = rcore_inspect_id(inspect, value >> RCORE_SPECIAL_SHIFT);
		return true;
	default:
		rcore_inspect_puts(inspect, texts[kind]);
		return true;
	}
}

static void inspect_value(struct rcore_inspect *inspect, uint64_t value)
{
	uint64_t flags;
	struct rcore_error *err = NULL;
	size_t start = inspect->text.count;
	if (rcore_inspect_hide_number(inspect, value))
		return;
	if (!inspect_immediate(inspect, value, &err)) {
		err = rcore_flags(inspect->ruby, value, &flags);
		if (!err && !inspect_slot(inspect, value, flags)) {
			rcore_inspect_type *type = types[flags & RCORE_T_MASK];
			err = (type ? type : rcore_inspect_default)(inspect, value, flags);
		}
	}
	if (err && inspect->text.count == start)
		rcore_inspect_printf(inspect, "<unreadable 0x%" PRIx64 ">", value);
	rcore_inspect_problem(inspect, err);
}

static void run(struct rcore_inspect *inspect, uint64_t value)
{
	inspect_value(inspect, value);
	while (inspect->frames.count && !inspect->out_of_memory) {
		struct rcore_inspect_frame *frame =
			&inspect->frames.items[inspect->frames.count - 1];
		bool more = false;
		uint64_t child = 0;
		inspect->has_key = frame->has_key;
		struct rcore_error *err =
			inspect->full ? NULL : frame->next(inspect, frame, &more, &child);
		if (err)
			rcore_inspect_puts(inspect, "<unreadable>");
		rcore_inspect_problem(inspect, err);
		if (more && !err)
			inspect_value(inspect, child);
		else
			rcore_inspect_close(inspect);
	}
	while (inspect->frames.count)
		rcore_inspect_close(inspect);
}

static bool finish(struct rcore_inspect *inspect, struct rcore_value *value)
{
	struct rcore_arena *arena = inspect->ruby->arena;
	if (inspect->full)
		rcore_inspect_problem(
			inspect, rcore_error_create(RCORE_ERROR_LIMIT,
						    "truncated: it is longer than %d bytes",
						    RCORE_INSPECT_TEXT_LIMIT));
	if (inspect->out_of_memory)
		return false;
	value->text = rcore_arena_strndup(arena, inspect->text.items, inspect->text.count);
	if (inspect->problem_count > 1)
		value->problem =
			rcore_arena_printf(arena, "%s (and %zu more)", inspect->problem,
					   inspect->problem_count - 1);
	else if (inspect->problem_count)
		value->problem = rcore_arena_strdup(arena, inspect->problem);
	return value->text && (value->problem || !inspect->problem_count);
}

static size_t or_default(size_t option, size_t value)
{
	return option ? option : value;
}

static struct rcore_error *inspect_with(struct rcore_ruby *ruby, uint64_t value, bool has_key,
					const struct rcore_inspect_options *options,
					struct rcore_value *ret)
{
	static const struct rcore_inspect_options none;
	if (!options)
		options = &none;
	struct rcore_inspect inspect = {
		.ruby = ruby,
		.anew = rcore_inspect,
		.has_key = has_key,
		.options =
			{
				options->depth == RCORE_NO_DEPTH
					? 0
					: or_default(options->depth, RCORE_INSPECT_DEPTH),
				or_default(options->max_string, RCORE_INSPECT_MAX_STRING),
				or_default(options->max_items, RCORE_INSPECT_MAX_ITEMS),
				or_default(options->max_text, RCORE_INSPECT_TEXT_LIMIT),
			},
	};
	struct rcore_value result = {.value = value};
	struct rcore_error *err = rcore_value_class_name(ruby, value, &result.class_name);
	rcore_error_free(err);
	run(&inspect, value);
	bool done = finish(&inspect, &result);
	free(inspect.text.items);
	free(inspect.frames.items);
	free(inspect.problem);
	if (!done)
		return rcore_error_no_memory();
	*ret = result;
	return NULL;
}

struct rcore_error *rcore_inspect(struct rcore_ruby *ruby, uint64_t value,
				  const struct rcore_inspect_options *options,
				  struct rcore_value *ret)
{
	return inspect_with(ruby, value, false, options, ret);
}

struct rcore_error *rcore_inspect_below_key(struct rcore_ruby *ruby, uint64_t value,
					    const struct rcore_inspect_options *options,
					    struct rcore_value *ret)
{
	return inspect_with(ruby, value, true, options, ret);
}
