/* SPDX-License-Identifier: MIT */
#include "ruby/object/array.h"
#include "ruby/inspect/inspect_private.h"

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	*more = rcore_inspect_item(inspect, frame);
	return *more ? rcore_array_at(inspect->ruby, frame->value, frame->index - 1, child)
		     : NULL;
}

struct rcore_error *rcore_inspect_array(struct rcore_inspect *inspect, uint64_t value,
					uint64_t flags)
{
	uint64_t elements, length;
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_puts(inspect, "[...]");
		return NULL;
	}
	struct rcore_error *err = rcore_array(inspect->ruby, value, &elements, &length);
	if (err)
		return err;
	rcore_inspect_puts(inspect, "[");
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next,
						   .count = length,
						   .close = "]",
					   });
}
