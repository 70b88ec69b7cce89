/* SPDX-License-Identifier: MIT */
#include "ruby/iseq/backtrace.h"

#include <inttypes.h>

#include "ruby/object/array.h"
#include "ruby/object/data.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/iseq/label.h"
#include "ruby/object/string.h"

/*
 * enum LOCATION_TYPE. Up to 3.0, a line replaces the pc once a program has
 * asked for it.
 */
enum { LOCATION_ISEQ = 1, LOCATION_CALCULATED = 2, OLD_LOCATION_CFUNC = 3, LOCATION_CFUNC = 2 };

enum { COUNT_LIMIT = 100000000 };

struct rcore_error *rcore_backtrace_program(struct rcore_ruby *ruby, const char **ret)
{
	*ret = NULL;
	if (!ruby->progname)
		return NULL;
	if (!rcore_is_object(ruby, ruby->progname))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "vm.progname 0x%" PRIx64 " is not a String",
					  ruby->progname);
	return rcore_text(ruby, ruby->progname, ret, NULL);
}

static struct rcore_error *place(struct rcore_ruby *ruby, uint64_t iseq_address, uint64_t pc,
				 bool calculated, struct rcore_backtrace_location *location,
				 const struct rcore_iseq_info **ret)
{
	struct rcore_error *err = rcore_iseq(ruby, iseq_address, ret);
	if (err)
		return err;
	const struct rcore_iseq_info *iseq = *ret;
	location->path = iseq->path;
	if (calculated)
		location->line = (int)(uint32_t)pc;
	else if (pc)
		err = rcore_iseq_line(ruby, iseq, pc, &location->line);
	else if (iseq->type != RCORE_ISEQ_TOP)
		location->line = iseq->first_line;
	return err;
}

/* location_cfunc_p of 3.4 and 4.0 */
static struct rcore_error *is_like_c(struct rcore_ruby *ruby,
				     const struct rcore_method_entry *method, bool *ret)
{
	const struct rcore_iseq_info *iseq;
	*ret = method && method->type == RCORE_METHOD_CFUNC;
	if (!method || method->type != RCORE_METHOD_ISEQ)
		return NULL;
	struct rcore_error *err = rcore_iseq(ruby, method->iseq, &iseq);
	if (!err)
		*ret = ruby->layout->traits.label_style == RCORE_LABEL_BACKPATCH
			       ? iseq->is_internal
			       : iseq->is_c_trace;
	return err;
}

static struct rcore_error *read_qualified(struct rcore_ruby *ruby, uint64_t address,
					  struct rcore_backtrace_location *location)
{
	const struct rcore_method_entry *method = NULL;
	const struct rcore_iseq_info *iseq = NULL;
	uint64_t entry, code, pc;
	bool like_c = false;
	struct rcore_error *err;
	if ((err = RCORE_GET(ruby, address, location, cme, &entry)) ||
	    (err = RCORE_GET(ruby, address, location, iseq, &code)) ||
	    (err = RCORE_GET(ruby, address, location, pc, &pc)))
		return err;
	if (code && (err = place(ruby, code, pc, false, location, &iseq)))
		return err;
	if (entry && ((err = rcore_method_entry(ruby, entry, &method)) ||
		      (err = is_like_c(ruby, method, &like_c))))
		return err;
	if (!iseq && !like_c)
		return NULL;
	if (!iseq && (err = rcore_backtrace_program(ruby, &location->path)))
		return err;
	return rcore_native_label(ruby, like_c ? NULL : iseq, method, &location->label);
}

/* Up to 3.0, the location of a C function refers to that of its caller. */
static struct rcore_error *read_caller(struct rcore_ruby *ruby, uint64_t address,
				       struct rcore_backtrace_location *location)
{
	const struct rcore_iseq_info *iseq;
	uint64_t caller, type, code, pc;
	struct rcore_error *err = RCORE_GET(ruby, address, location, outer, &caller);
	if (err)
		return err;
	if (!caller)
		return rcore_backtrace_program(ruby, &location->path);
	if ((err = RCORE_GET(ruby, caller, location, type, &type)) ||
	    (err = RCORE_GET(ruby, caller, location, iseq, &code)) ||
	    (err = RCORE_GET(ruby, caller, location, pc, &pc)))
		return err;
	return place(ruby, code, pc, type == LOCATION_CALCULATED, location, &iseq);
}

static struct rcore_error *read_plain(struct rcore_ruby *ruby, uint64_t address,
				      struct rcore_backtrace_location *location)
{
	const struct rcore_iseq_info *iseq;
	bool is_old = rcore_has(&ruby->layout->location.outer);
	uint64_t type, code, pc, id;
	struct rcore_error *err;
	if ((err = RCORE_GET(ruby, address, location, type, &type)) ||
	    (err = RCORE_GET(ruby, address, location, iseq, &code)) ||
	    (err = RCORE_GET(ruby, address, location, pc, &pc)) ||
	    (err = RCORE_GET(ruby, address, location, mid, &id)))
		return err;
	if (type == (is_old ? OLD_LOCATION_CFUNC : LOCATION_CFUNC)) {
		if (is_old)
			err = read_caller(ruby, address, location);
		else if (code)
			err = place(ruby, code, pc, false, location, &iseq);
		else
			err = rcore_backtrace_program(ruby, &location->path);
		return err ? err : rcore_id_name(ruby, id, &location->label);
	}
	if (type != LOCATION_ISEQ && !(is_old && type == LOCATION_CALCULATED))
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "location of unknown type %" PRIu64, type);
	err = place(ruby, code, pc, is_old && type == LOCATION_CALCULATED, location, &iseq);
	if (!err)
		location->label = iseq->label;
	return err;
}

static struct rcore_error *start(struct rcore_ruby *ruby, uint64_t count,
				 struct rcore_backtrace *ret)
{
	ret->count = count > RCORE_BACKTRACE_LIMIT ? RCORE_BACKTRACE_LIMIT : (size_t)count;
	ret->left_out = (size_t)count - ret->count;
	ret->locations = rcore_arena_array(ruby->arena, ret->count, sizeof(*ret->locations));
	return ret->locations ? NULL : rcore_error_no_memory();
}

static struct rcore_error *read_object(struct rcore_ruby *ruby, uint64_t data,
				       struct rcore_backtrace *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	enum rcore_backtrace_order order = layout->traits.backtrace_order;
	uint64_t count, locations = data + (uint64_t)layout->backtrace.locations.offset;
	struct rcore_error *err = RCORE_GET(ruby, data, backtrace, count, &count);
	/* An array in the struct, or a pointer to one. */
	if (!err && layout->backtrace.locations.size == sizeof(uint64_t))
		err = RCORE_GET(ruby, data, backtrace, locations, &locations);
	if (err)
		return err;
	if (count > COUNT_LIMIT || !layout->location.size)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "a backtrace of %" PRIu64 " locations", count);
	if (order == RCORE_BACKTRACE_OUTERMOST_EXTRA && count)
		count--;
	err = start(ruby, count, ret);
	for (size_t i = 0; !err && i < ret->count; i++) {
		uint64_t index = order == RCORE_BACKTRACE_INNERMOST_FIRST ? i : count - 1 - i;
		uint64_t address = locations + index * layout->location.size;
		struct rcore_backtrace_location *location = &ret->locations[i];
		err = rcore_has(&layout->location.cme) ? read_qualified(ruby, address, location)
						       : read_plain(ruby, address, location);
		err = rcore_arena_keep_problem(ruby->arena, err, &location->problem);
	}
	return err;
}

static struct rcore_error *read_strings(struct rcore_ruby *ruby, uint64_t array,
					struct rcore_backtrace *ret)
{
	uint64_t elements, count;
	struct rcore_error *err = rcore_array(ruby, array, &elements, &count);
	if (!err)
		err = start(ruby, count, ret);
	for (size_t i = 0; !err && i < ret->count; i++) {
		uint64_t value, address = elements + i * sizeof(value);
		enum rcore_fault fault = rcore_read_u64(ruby->memory, address, &value);
		err = fault ? rcore_fault_error(fault, "element of an Array", address,
						sizeof(value))
			    : rcore_string(ruby, value, &ret->locations[i].text, NULL);
		err = rcore_arena_keep_problem(ruby->arena, err, &ret->locations[i].problem);
	}
	return err;
}

struct rcore_error *rcore_backtrace(struct rcore_ruby *ruby, uint64_t value,
				    struct rcore_backtrace *ret)
{
	enum rcore_type type;
	uint64_t data;
	bool is_backtrace = false;
	struct rcore_error *err = rcore_type(ruby, value, &type);
	if (err)
		return err;
	*ret = (struct rcore_backtrace){0};
	if (type == RCORE_T_ARRAY)
		return read_strings(ruby, value, ret);
	if (type == RCORE_T_DATA)
		err = rcore_data_is(ruby, value, "backtrace", &is_backtrace, &data);
	if (err)
		return err;
	if (!is_backtrace || !data)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "0x%" PRIx64 " is not a backtrace", value);
	return read_object(ruby, data, ret);
}
