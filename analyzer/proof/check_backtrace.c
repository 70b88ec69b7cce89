/* SPDX-License-Identifier: MIT */
/* Backtraces and their locations. */
#include "proof/check.h"
#include "ruby/iseq/iseq.h"

/*
 * Checks a location in Ruby code. Up to 3.3, a location in C has other members.
 */
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
	return verdict_of(!rcore_sample_failed(s, err) &&
			  within_code(info->encoded, info->size, pc));
}

CHECK(a_location)
{
	return is_location(s, base);
}

/* The last location has to be one, too. */
CHECK(backtrace_locations)
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

/*
 * Up to 3.3, a location in a C function has that function's name; up to 3.0, it
 * has the location that called it.
 */
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
		return rcore_check_an_id(s, location, &layout->location.mid);
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

CHECK(location_name)
{
	return first_c_location(s, base, true);
}

CHECK(location_outer)
{
	return first_c_location(s, base, false);
}

CHECK(location_type)
{
	enum { LAST = 4 };
	uint64_t type;
	if (!get(s, base, field, &type) || type > LAST)
		return RCORE_FAILS;
	return is_location(s, base);
}

CHECK(location_method)
{
	uint64_t entry;
	if (!get(s, base, field, &entry))
		return RCORE_FAILS;
	return entry ? verdict_of(is_imemo(s, entry, layout_of(s)->traits.imemo_ment))
		     : RCORE_SILENT;
}
