/* SPDX-License-Identifier: MIT */
/*
 * What must hold of what Ruby's own T_DATA wrap: Procs, Methods, Times, Enumerators, Encodings, backtraces.
 */
#include <string.h>

#include "ruby/block.h"
#include "ruby/iseq.h"
#include "proof/check.h"

/* What a block is, its first word shows. */
static bool is_block(const struct rcore_samples *s, uint64_t block)
{
	uint64_t type, code;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, block, &layout->block.type, &type) ||
	    !get(s, block, &layout->block.code, &code))
		return false;
	switch (type) {
	case RCORE_BLOCK_ISEQ:
		return is_imemo(s, code, layout->traits.imemo_iseq);
	case RCORE_BLOCK_IFUNC:
		return is_object(s, code, TYPE(IMEMO));
	case RCORE_BLOCK_PROC:
		return get(s, block, &layout->block.proc, &code) &&
		       is_object(s, code, TYPE(DATA));
	case RCORE_BLOCK_SYMBOL:
		return get(s, block, &layout->block.proc, &code) && is_value(s, code);
	}
	return false;
}

JUDGE(a_block)
{
	return told(is_block(s, base));
}

/* Code, mostly, which is 0. */
JUDGE(block_type)
{
	uint64_t type;
	if (!get(s, base, field, &type))
		return RCORE_FAILS;
	return is_block(s, base) ? (type ? RCORE_HOLDS : RCORE_SILENT) : RCORE_FAILS;
}

JUDGE(proc_block)
{
	return told(is_block(s, member(base, field)));
}

/* Bit-fields of one byte: is_from_method, is_lambda, is_isolated. */
JUDGE(proc_flags)
{
	enum { KNOWN = 7 };
	return at_most(s, base,
		       &(struct rcore_field){.offset = field->offset, .size = sizeof(uint32_t)},
		       KNOWN);
}

JUDGE(ifunc_of_block)
{
	uint64_t type, code;
	const struct rcore_layout *layout = layout_of(s);
	if (!get(s, base, &layout->block.type, &type) || type != RCORE_BLOCK_IFUNC)
		return RCORE_SILENT;
	return get(s, base, &layout->block.code, &code) ? a_function(s, code, field)
							: RCORE_FAILS;
}

JUDGE(a_method_entry)
{
	uint64_t entry;
	return told(get(s, base, field, &entry) &&
		    is_imemo(s, entry, layout_of(s)->traits.imemo_ment));
}

/* An UnboundMethod has none. */
JUDGE(receiver)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value == (uint64_t)layout_of(s)->constant.qundef ? RCORE_SILENT
								: told(is_value(s, value));
}

/* From 3.2 on an UnboundMethod's klass is Qundef (mnew_from_me and method_unbind of proc.c). */
JUDGE(a_module)
{
	uint64_t value;
	if (get(s, base, field, &value) && value == (uint64_t)layout_of(s)->constant.qundef)
		return RCORE_SILENT;
	return object_of(s, base, field, TYPE(CLASS) | TYPE(MODULE) | TYPE(ICLASS));
}

/* Nanoseconds, whole or not. */
JUDGE(an_integer_or_fraction)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (rcore_is_nil(s->ruby, value))
		return RCORE_SILENT;
	return told(rcore_immediate(s->ruby, value) == RCORE_FIXNUM ||
		    is_object(s, value, TYPE(BIGNUM) | TYPE(RATIONAL)));
}

/* Year, month ... of a Time that was asked for them: all are numbers that a clock shows. */
JUDGE(time_shown)
{
	enum {
		MONTHS = 12,
		DAYS = 31,
		HOURS = 24,
		MINUTES = 59,
		SECONDS = 60,
		MODES = 2,
		YEARS = 100000
	};
	const struct rcore_layout *layout = layout_of(s);
	uint64_t got, year, mon, mday, hour, min, sec, mode;
	if (!get(s, base, &layout->time.tm_got, &got) ||
	    !get(s, base, &layout->time.year, &year) ||
	    !get(s, base, &layout->time.mon, &mon) ||
	    !get(s, base, &layout->time.mday, &mday) ||
	    !get(s, base, &layout->time.hour, &hour) ||
	    !get(s, base, &layout->time.min, &min) || !get(s, base, &layout->time.sec, &sec) ||
	    !get(s, base, &layout->time.tzmode, &mode))
		return RCORE_FAILS;
	if (!got)
		return RCORE_SILENT;
	return told(rcore_immediate(s->ruby, year) == RCORE_FIXNUM &&
		    (int64_t)year >> 1 < YEARS && (int64_t)year >> 1 > -YEARS && mon &&
		    mon <= MONTHS && mday && mday <= DAYS && hour <= HOURS && min <= MINUTES &&
		    sec <= SECONDS && mode <= MODES);
}

JUDGE(utc_offset)
{
	enum { LIMIT = 24 * 60 * 60 };
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	if (rcore_is_nil(s->ruby, value))
		return RCORE_SILENT;
	int64_t seconds = (int64_t)value >> 1;
	return told(rcore_immediate(s->ruby, value) == RCORE_FIXNUM && seconds < LIMIT &&
		    seconds > -LIMIT);
}

JUDGE(a_value)
{
	uint64_t value;
	if (!get(s, base, field, &value))
		return RCORE_FAILS;
	return value ? told(is_value(s, value)) : RCORE_SILENT;
}

JUDGE(an_array_or_nil)
{
	return object_of(s, base, field, TYPE(ARRAY));
}

JUDGE(a_flag)
{
	return at_most(s, base, field, 1);
}

/* The three that every Ruby begins with stand where they always do. */
JUDGE(encoding_index)
{
	static const char *const first[] = {"ASCII-8BIT", "UTF-8", "US-ASCII"};
	enum { INDEX_MASK = (1 << 24) - 1, NAME_SIZE = 16 };
	uint64_t index, address;
	char name[NAME_SIZE];
	if (!get(s, base, &layout_of(s)->encoding.index, &index) ||
	    !get(s, base, &layout_of(s)->encoding.name, &address) ||
	    rcore_read_string(s->ruby->memory, address, name, sizeof(name)))
		return RCORE_FAILS;
	index &= INDEX_MASK;
	for (size_t i = 0; i < sizeof(first) / sizeof(*first); i++)
		if (index == i || !strcmp(name, first[i]))
			return told(index == i && !strcmp(name, first[i]));
	return RCORE_SILENT;
}

JUDGE(encoding_length)
{
	enum { MOST = 8 };
	return at_most(s, base, field, MOST);
}

/* A place in a backtrace, in Ruby code. Of one in C the members are others, up to 3.3. */
static enum rcore_verdict is_location(const struct rcore_samples *s, uint64_t location)
{
	enum { IN_RUBY = 1 };
	const struct rcore_layout *layout = layout_of(s);
	const struct rcore_iseq_info *info;
	uint64_t type, iseq, pc;
	if (rcore_has(&layout->location.type) &&
	    (!get(s, location, &layout->location.type, &type) || type != IN_RUBY))
		return RCORE_SILENT;
	if (!get(s, location, &layout->location.iseq, &iseq) ||
	    !get(s, location, &layout->location.pc, &pc))
		return RCORE_FAILS;
	if (!iseq || !pc)
		return RCORE_SILENT;
	rcore_auto_error err = rcore_iseq(s->ruby, iseq, &info);
	return told(!err && pc >= info->encoded &&
		    pc - info->encoded <= info->size * sizeof(uint64_t));
}

JUDGE(a_location)
{
	return is_location(s, base);
}

/* The last location is one, too. */
JUDGE(backtrace_locations)
{
	const struct rcore_layout *layout = layout_of(s);
	uint64_t count, first = member(base, &layout->backtrace.locations);
	enum { LIMIT = 1 << 20 };
	if (!get(s, base, &layout->backtrace.count, &count) || count > LIMIT ||
	    (layout->backtrace.locations.size == sizeof(first) &&
	     !get(s, base, &layout->backtrace.locations, &first)))
		return RCORE_FAILS;
	if (!count || !first)
		return RCORE_SILENT;
	for (uint64_t i = count; i > 0; i--) {
		enum rcore_verdict verdict =
			is_location(s, first + (i - 1) * layout->location.size);
		if (verdict != RCORE_SILENT)
			return verdict;
	}
	return RCORE_SILENT;
}

/* Up to 3.3: a place in a C function has the name of that, up to 3.0 the place that called it. */
static enum rcore_verdict c_location(const struct rcore_samples *s, uint64_t location,
				     bool is_name)
{
	enum { IN_C = 2, OLD_IN_C = 3 };
	const struct rcore_layout *layout = layout_of(s);
	bool is_old = rcore_has(&layout->location.outer);
	uint64_t caller;
	if (!leads(s, location, &layout->location.type, is_old ? OLD_IN_C : IN_C))
		return RCORE_SILENT;
	if (is_name)
		return an_id(s, location, &layout->location.mid);
	if (!get(s, location, &layout->location.outer, &caller))
		return RCORE_FAILS;
	return caller ? is_location(s, caller) : RCORE_SILENT;
}

static enum rcore_verdict first_c_location(const struct rcore_samples *s, uint64_t base,
					   bool is_name)
{
	enum { LIMIT = 64 };
	const struct rcore_layout *layout = layout_of(s);
	uint64_t count, first = member(base, &layout->backtrace.locations);
	if (!get(s, base, &layout->backtrace.count, &count) ||
	    (layout->backtrace.locations.size == sizeof(first) &&
	     !get(s, base, &layout->backtrace.locations, &first)))
		return RCORE_FAILS;
	for (uint64_t i = 0; i < count && i < LIMIT; i++) {
		enum rcore_verdict verdict =
			c_location(s, first + i * layout->location.size, is_name);
		if (verdict != RCORE_SILENT)
			return verdict;
	}
	return RCORE_SILENT;
}

JUDGE(location_name)
{
	return first_c_location(s, base, true);
}

JUDGE(location_outer)
{
	return first_c_location(s, base, false);
}

JUDGE(location_type)
{
	enum { LAST = 4 };
	uint64_t type;
	if (!get(s, base, field, &type) || type > LAST)
		return RCORE_FAILS;
	return is_location(s, base);
}

JUDGE(location_method)
{
	uint64_t entry;
	if (!get(s, base, field, &entry))
		return RCORE_FAILS;
	return entry ? told(is_imemo(s, entry, layout_of(s)->traits.imemo_ment)) : RCORE_SILENT;
}

const struct rcore_field_rule rcore_wrapped_rules[] = {
	RULE(proc, block, proc_block),
	RULE(proc, is_lambda, proc_flags),
	RULE(block, proc, a_block),
	RULE(block, code, a_block),
	RULE(block, type, block_type),
	RULE_ON(block, ifunc, func, ifunc_of_block),
	RULE(method, recv, receiver),
	RULE(method, klass, a_module),
	RULE(method, iclass, a_module),
	RULE(method, me, a_method_entry),
	RULE(time, timew, an_integer_or_fraction),
	RULE(time, subsecx, an_integer_or_fraction),
	RULE(time, utc_offset, utc_offset),
	RULE(time, year, time_shown),
	RULE(time, mon, time_shown),
	RULE(time, mday, time_shown),
	RULE(time, hour, time_shown),
	RULE(time, min, time_shown),
	RULE(time, sec, time_shown),
	RULE(time, tzmode, time_shown),
	RULE(time, tm_got, time_shown),
	RULE(enumerator, obj, a_value),
	RULE(enumerator, meth, an_id),
	RULE(enumerator, args, an_array_or_nil),
	RULE(enumerator, procs, an_array_or_nil),
	RULE(enumerator, kw_splat, a_flag),
	RULE(enum_chain, enums, an_array_or_nil),
	RULE(generator, obj, a_value),
	RULE(encoding, name, encoding_index),
	RULE(encoding, index, encoding_index),
	RULE(encoding, max_length, encoding_length),
	RULE(backtrace, locations, backtrace_locations),
	RULE(backtrace, count, backtrace_locations),
	RULE(location, type, location_type),
	RULE(location, iseq, a_location),
	RULE(location, pc, a_location),
	RULE_ON(backtrace, location, mid, location_name),
	RULE_ON(backtrace, location, outer, location_outer),
	RULE(location, cme, location_method),
};

const size_t rcore_wrapped_rules_count =
	sizeof(rcore_wrapped_rules) / sizeof(*rcore_wrapped_rules);
