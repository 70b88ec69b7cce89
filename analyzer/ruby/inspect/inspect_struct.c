/* SPDX-License-Identifier: MIT */
#include "ruby/object/array.h"
#include "ruby/object/class.h"
#include "ruby/object/class_name.h"
#include "ruby/object/core_class.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/struct.h"

/* In frame->data: the members, and the Array of their names. */
enum { MEMBERS, NAMES };

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	uint64_t name, address;
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	struct rcore_error *err =
		rcore_array_at(inspect->ruby, frame->data[NAMES], frame->index - 1, &name);
	if (!err)
		err = rcore_inspect_member(inspect, name);
	if (err)
		rcore_inspect_puts(inspect, "?");
	rcore_inspect_problem(inspect, err);
	rcore_inspect_puts(inspect, "=");
	address = frame->data[MEMBERS] + (frame->index - 1) * sizeof(*child);
	enum rcore_fault fault = rcore_read_u64(inspect->ruby->memory, address, child);
	return fault == RCORE_FAULT_NONE ? NULL
					 : rcore_fault_error(fault, "member of a Struct",
							     address, sizeof(*child));
}

/* inspect_struct of struct.c */
struct rcore_error *rcore_inspect_struct(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	struct rcore_inspect_frame frame = {.value = value, .next = next, .close = ">"};
	struct rcore_ruby *ruby = inspect->ruby;
	enum rcore_core_class kind;
	const char *name;
	uint64_t klass;
	struct rcore_error *err = rcore_value_class(ruby, value, &klass);
	if (!err)
		err = rcore_core_class(ruby, klass, &kind);
	if (err)
		return err;
	if (kind == RCORE_CLASS_RANGE)
		return rcore_inspect_range(inspect, value, flags);
	err = rcore_class_path(ruby, klass, &name);
	if (!err)
		err = rcore_struct(ruby, value, &frame.data[MEMBERS], &frame.count);
	if (err)
		return err;
	bool is_cycle = rcore_inspect_is_open(inspect, value);
	bool is_named = name[0] != '#';
	rcore_inspect_puts(inspect, kind == RCORE_CLASS_DATA ? "#<data " : "#<struct ");
	if (is_named || is_cycle)
		rcore_inspect_puts(inspect, name);
	if (is_cycle) {
		rcore_inspect_puts(inspect, ":...>");
		return NULL;
	}
	rcore_inspect_problem(inspect, rcore_struct_members(ruby, value, &frame.data[NAMES]));
	if (is_named && frame.count)
		rcore_inspect_puts(inspect, " ");
	return rcore_inspect_open(inspect, &frame);
}
