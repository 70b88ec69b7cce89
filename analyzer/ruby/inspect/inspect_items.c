/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/inspect/inspect_private.h"

enum { ITEM_LIMIT = 1 << 10 };

/*
 * A text, a value to inspect, or, if neither is set, a String to print
 * unquoted.
 */
struct rcore_inspect_item {
	const char *text;
	bool is_value;
	uint64_t value;
};

static struct rcore_error *add(struct rcore_inspect_items *items,
			       struct rcore_inspect_item item)
{
	if (items->count >= ITEM_LIMIT)
		return rcore_error_create(RCORE_ERROR_LIMIT, "more than %d parts", ITEM_LIMIT);
	struct rcore_inspect_item *added = rcore_push(items);
	if (!added)
		return rcore_error_no_memory();
	*added = item;
	return NULL;
}

struct rcore_error *rcore_inspect_add_text(struct rcore_inspect_items *items, const char *text)
{
	return add(items, (struct rcore_inspect_item){.text = text});
}

struct rcore_error *rcore_inspect_add_value(struct rcore_inspect_items *items, uint64_t value)
{
	return add(items, (struct rcore_inspect_item){.is_value = true, .value = value});
}

struct rcore_error *rcore_inspect_add_string(struct rcore_inspect_items *items, uint64_t string)
{
	return add(items, (struct rcore_inspect_item){.value = string});
}

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	const struct rcore_inspect_item *items = frame->state;
	while (frame->index < frame->count) {
		const struct rcore_inspect_item *item = &items[frame->index++];
		if (item->is_value) {
			*more = true;
			*child = item->value;
			return NULL;
		}
		if (item->text)
			rcore_inspect_puts(inspect, item->text);
		else
			rcore_inspect_problem(inspect, rcore_inspect_raw(inspect, item->value));
	}
	return NULL;
}

struct rcore_error *rcore_inspect_open_items(struct rcore_inspect *inspect, uint64_t value,
					     struct rcore_inspect_items *items,
					     struct rcore_error *err)
{
	if (err) {
		free(items->items);
		return err;
	}
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next,
						   .count = items->count,
						   .is_whole = true,
						   .state = items->items,
					   });
}
