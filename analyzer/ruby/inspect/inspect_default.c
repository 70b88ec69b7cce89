/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/ivar.h"
#include "ruby/symbol/id.h"

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	const struct rcore_ivar *ivars = frame->state;
	const char *name = "?";
	if (!frame->index && frame->count)
		rcore_inspect_puts(inspect, " ");
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	const struct rcore_ivar *ivar = &ivars[frame->index - 1];
	rcore_inspect_problem(inspect, rcore_id_name(inspect->ruby, ivar->id, &name));
	rcore_inspect_puts(inspect, name);
	rcore_inspect_puts(inspect, "=");
	*child = ivar->value;
	return NULL;
}

/* Moves those that Ruby code sees to the front, and returns their number. */
static size_t visible(struct rcore_ruby *ruby, struct rcore_ivars *ivars)
{
	size_t count = 0;
	for (size_t i = 0; i < ivars->count; i++)
		if (rcore_ivar_is_visible(ruby, ivars->items[i].id))
			ivars->items[count++] = ivars->items[i];
	return count;
}

/* rb_obj_inspect of object.c */
struct rcore_error *rcore_inspect_default(struct rcore_inspect *inspect, uint64_t value,
					  uint64_t flags)
{
	struct rcore_ivars ivars = {0};
	rcore_inspect_address(inspect, value);
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_puts(inspect, " ...>");
		return NULL;
	}
	struct rcore_error *err =
		rcore_ivars(inspect->ruby, value, RCORE_INSPECT_IVAR_LIMIT, &ivars);
	rcore_inspect_problem(inspect, err);
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next,
						   .count = visible(inspect->ruby, &ivars),
						   .close = ">",
						   .state = ivars.items,
					   });
}
