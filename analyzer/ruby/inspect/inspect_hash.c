/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "ruby/object/hash.h"
#include "ruby/inspect/inspect_private.h"

/* in frame->data: whether the value of a pair is printed next, and the pair */
enum { HAS_KEY, KEY, VALUE };

static struct rcore_error *arrow(struct rcore_inspect *inspect,
				 struct rcore_inspect_frame *frame, uint64_t *child)
{
	bool spaced = inspect->ruby->layout->traits.hash_with_colons;
	rcore_inspect_puts(inspect, spaced ? " => " : "=>");
	frame->data[HAS_KEY] = false;
	*child = frame->data[VALUE];
	inspect->has_key |= rcore_inspect_is_text(inspect->ruby, frame->data[KEY]);
	return NULL;
}

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	uint64_t key, value;
	bool found, done = false;
	*more = true;
	if (frame->data[HAS_KEY])
		return arrow(inspect, frame, child);
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	struct rcore_error *err = rcore_hash_next(frame->state, &found, &key, &value);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a Hash has fewer pairs than it counts");
	if (!err && inspect->ruby->layout->traits.hash_with_colons)
		err = rcore_inspect_symbol_key(inspect, key, &done);
	if (err)
		return err;
	*child = done ? value : key;
	inspect->has_key |= done;
	frame->data[HAS_KEY] = !done;
	frame->data[KEY] = key;
	frame->data[VALUE] = value;
	return NULL;
}

/* rb_hash_inspect of hash.c */
struct rcore_error *rcore_inspect_hash(struct rcore_inspect *inspect, uint64_t value,
				       uint64_t flags)
{
	if (rcore_inspect_is_open(inspect, value)) {
		rcore_inspect_puts(inspect, "{...}");
		return NULL;
	}
	struct rcore_hash_iterator *iterator = malloc(sizeof(*iterator));
	if (!iterator)
		return rcore_error_no_memory();
	struct rcore_error *err = rcore_hash_begin(iterator, inspect->ruby, value);
	if (err) {
		free(iterator);
		return err;
	}
	rcore_inspect_puts(inspect, "{");
	return rcore_inspect_open(inspect, &(struct rcore_inspect_frame){
						   .value = value,
						   .next = next,
						   .count = iterator->count,
						   .close = "}",
						   .state = iterator,
					   });
}
