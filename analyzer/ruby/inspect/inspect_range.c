/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/struct.h"

enum {
	BEGIN,
	END,
	EXCLUDES_END,
	MEMBERS
}; /* of a Range; the first three are also indices of frame->data */

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	bool no_begin = rcore_immediate(inspect->ruby, frame->data[BEGIN]) == RCORE_NIL;
	bool no_end = rcore_immediate(inspect->ruby, frame->data[END]) == RCORE_NIL;
	/* Up to 2.6, only an end of nil is left out. */
	bool old = inspect->ruby->layout->traits.range_always_begins;
	*more = true;
	if (frame->index == 0) {
		frame->index++;
		*child = frame->data[BEGIN];
		if (!no_begin || no_end || old)
			return NULL;
	}
	if (frame->index == 1) {
		frame->index++;
		rcore_inspect_puts(inspect, frame->data[EXCLUDES_END] ? "..." : "..");
		*child = frame->data[END];
		if (!no_end || (no_begin && !old))
			return NULL;
	}
	*more = false;
	return NULL;
}

/* range_inspect of range.c; a Range is a T_STRUCT of three members */
struct rcore_error *rcore_inspect_range(struct rcore_inspect *inspect, uint64_t value,
					uint64_t flags)
{
	struct rcore_inspect_frame frame = {
		.value = value, .next = next, .count = 2, .is_whole = true};
	uint64_t members, count;
	struct rcore_error *err = rcore_struct(inspect->ruby, value, &members, &count);
	if (err)
		return err;
	if (count != MEMBERS)
		return rcore_error_create(RCORE_ERROR_CORRUPT,
					  "a Range does not have three members");
	enum rcore_fault fault =
		rcore_read(inspect->ruby->memory, members, frame.data, sizeof(frame.data));
	if (fault != RCORE_FAULT_NONE)
		return rcore_fault_error(fault, "members of a Range", members,
					 sizeof(frame.data));
	if (frame.data[EXCLUDES_END] && rcore_is_nil(inspect->ruby, frame.data[EXCLUDES_END]))
		frame.data[EXCLUDES_END] = 0; /* not initialized */
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_puts(inspect,
				   frame.data[EXCLUDES_END] ? "(... ... ...)" : "(... .. ...)");
		return NULL;
	}
	return rcore_inspect_open(inspect, &frame);
}
