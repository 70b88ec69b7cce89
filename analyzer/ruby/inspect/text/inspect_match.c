/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "ruby/get.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/inspect/text/regexp_names.h"
#include "ruby/object/string.h"

/*
 * A MatchData has the String that was matched, a frozen copy, and the byte
 * offsets at which each group begins and ends: struct re_registers, in a rmatch
 * to which it points or, from 3.3 on, after it in the slot. Mirrors
 * include/ruby/internal/core/rmatch.h, match_inspect of re.c.
 */
struct match {
	uint64_t string, flags; /* the String that was matched */
	uint64_t begins, ends;  /* arrays of long */
	uint64_t count;
	const char *source; /* of the Regexp; NULL if it was a String */
	size_t source_length;
};

enum { GROUP_LIMIT = 1 << 16 };

static struct rcore_error *read_registers(struct rcore_ruby *ruby, uint64_t value,
					  struct match *match)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t rmatch = value + layout->match.size;
	struct rcore_error *err = NULL;
	if (rcore_has(&layout->match.rmatch))
		err = RCORE_GET(ruby, value, match, rmatch, &rmatch);
	if (!err)
		err = RCORE_GET(ruby, rmatch, rmatch, num_regs, &match->count);
	if (!err)
		err = RCORE_GET(ruby, rmatch, rmatch, beg, &match->begins);
	if (!err)
		err = RCORE_GET(ruby, rmatch, rmatch, end, &match->ends);
	if (!err && match->count > GROUP_LIMIT)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "MatchData 0x%" PRIx64 " has %" PRIu64 " groups",
					 value, match->count);
	return err;
}

static struct rcore_error *read_match(struct rcore_ruby *ruby, uint64_t value, uint64_t regexp,
				      struct match *match)
{
	uint64_t source;
	struct rcore_error *err = RCORE_GET(ruby, value, match, str, &match->string);
	if (!err)
		err = rcore_flags(ruby, match->string, &match->flags);
	if (!err)
		err = read_registers(ruby, value, match);
	if (err || rcore_is_nil(ruby, regexp))
		return err;
	err = RCORE_GET(ruby, regexp, regexp, src, &source);
	return err ? err : rcore_text(ruby, source, &match->source, &match->source_length);
}

static struct rcore_error *write_group(struct rcore_inspect *inspect, const struct match *match,
				       uint64_t index, bool quoted)
{
	struct rcore_memory *memory = inspect->ruby->memory;
	uint64_t begin, end, address, length;
	enum rcore_fault fault = rcore_read_u64(memory, match->begins + index * 8, &begin);
	if (fault == RCORE_FAULT_NONE)
		fault = rcore_read_u64(memory, match->ends + index * 8, &end);
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "groups of a MatchData",
					 match->begins + index * 8, 8);
	if ((int64_t)begin < 0) {
		rcore_inspect_puts(inspect, "nil");
		return NULL;
	}
	struct rcore_error *err =
		rcore_string_bytes(inspect->ruby, match->string, &address, &length);
	if (!err && (begin > end || end > length))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a group is outside the matched String");
	if (err)
		return err;
	return quoted ? rcore_inspect_bytes(inspect, address + begin, end - begin, match->flags)
		      : rcore_inspect_raw_bytes(inspect, address + begin, end - begin);
}

static struct rcore_error *write_groups(struct rcore_inspect *inspect,
					const struct match *match)
{
	struct rcore_error *err = NULL;
	uint64_t limit = inspect->options.max_items;
	for (uint64_t i = 0; i < match->count && i <= limit && !err && !inspect->full; i++) {
		const char *name;
		size_t length;
		rcore_inspect_puts(inspect, " ");
		if (i && match->source &&
		    rcore_regexp_name(match->source, match->source_length, (int)i, &name,
				      &length)) {
			rcore_inspect_write(inspect, name, length);
			rcore_inspect_puts(inspect, ":");
		} else if (i) {
			rcore_inspect_printf(inspect, "%" PRIu64 ":", i);
		}
		err = write_group(inspect, match, i, true);
	}
	if (match->count > limit + 1)
		rcore_inspect_printf(inspect, " ... (%" PRIu64 " more)",
				     match->count - limit - 1);
	return err;
}

struct rcore_error *rcore_inspect_match(struct rcore_inspect *inspect, uint64_t value,
					uint64_t flags)
{
	struct match match = {0};
	uint64_t regexp;
	struct rcore_error *err = RCORE_GET(inspect->ruby, value, match, regexp, &regexp);
	if (!err && !regexp) { /* not initialized */
		rcore_inspect_address(inspect, value);
		rcore_inspect_puts(inspect, ">");
		return NULL;
	}
	if (!err)
		err = read_match(inspect->ruby, value, regexp, &match);
	if (err)
		return err;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	if (match.source) {
		err = write_groups(inspect, &match);
	} else {
		rcore_inspect_puts(inspect, ": ");
		err = write_group(inspect, &match, 0, false);
	}
	rcore_inspect_puts(inspect, ">");
	return err;
}
