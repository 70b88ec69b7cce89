/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "ruby/object/hash.h"
#include "ruby/inspect/inspect_private.h"

/* in frame->data: whether a value is next, and which pair it is of */
enum { HAS_KEY, KEY, VALUE };

static uint64_t type_of(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t flags;
	if (rcore_immediate(ruby, value) != RCORE_NO_IMMEDIATE ||
	    rcore_read_field(ruby->memory, value, &ruby->layout->basic.flags, &flags))
		return RCORE_T_NONE;
	return flags & RCORE_T_MASK;
}

static bool is_number(struct rcore_ruby *ruby, uint64_t value)
{
	enum rcore_immediate immediate = rcore_immediate(ruby, value);
	uint64_t type = type_of(ruby, value);
	return immediate == RCORE_FIXNUM || immediate == RCORE_FLONUM ||
	       type == RCORE_T_FLOAT || type == RCORE_T_BIGNUM || type == RCORE_T_RATIONAL ||
	       type == RCORE_T_COMPLEX;
}

static bool is_text(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t type = type_of(ruby, value);
	return rcore_immediate(ruby, value) == RCORE_STATIC_SYMBOL || type == RCORE_T_SYMBOL ||
	       type == RCORE_T_STRING;
}

/*
 * If texts are replaced by stars, the key no longer says what its number is,
 * which may be secret. So the number is replaced, too.
 */
static bool hide_number(struct rcore_inspect *inspect, const struct rcore_inspect_frame *frame)
{
	static const char stars[] = "********";
	struct rcore_ruby *ruby = inspect->ruby;
	if (!ruby->hides_text || !is_text(ruby, frame->data[KEY]) ||
	    !is_number(ruby, frame->data[VALUE]))
		return false;
	rcore_inspect_puts(inspect, stars);
	ruby->hidden_count++;
	return true;
}

/* Prints what is between a key and its value. */
static void put_arrow(struct rcore_inspect *inspect)
{
	bool spaced = inspect->ruby->layout->traits.hash_with_colons;
	rcore_inspect_puts(inspect, spaced ? " => " : "=>");
}

/* Begins the next pair. *more is false if there is none. */
static struct rcore_error *next_pair(struct rcore_inspect *inspect,
				     struct rcore_inspect_frame *frame, bool *more)
{
	bool found, done = false;
	*more = rcore_inspect_item(inspect, frame);
	if (!*more)
		return NULL;
	struct rcore_error *err =
		rcore_hash_next(frame->state, &found, &frame->data[KEY], &frame->data[VALUE]);
	if (!err && !found)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "a Hash has fewer pairs than it counts");
	if (!err && inspect->ruby->layout->traits.hash_with_colons)
		err = rcore_inspect_symbol_key(inspect, frame->data[KEY], &done);
	frame->data[HAS_KEY] = done;
	return err;
}

static struct rcore_error *next(struct rcore_inspect *inspect,
				struct rcore_inspect_frame *frame, bool *more, uint64_t *child)
{
	bool has_key = frame->data[HAS_KEY];
	*more = true;
	if (has_key)
		put_arrow(inspect);
	while (!has_key || hide_number(inspect, frame)) {
		struct rcore_error *err = next_pair(inspect, frame, more);
		if (err || !*more)
			return err;
		has_key = frame->data[HAS_KEY];
		frame->data[HAS_KEY] = !has_key;
		if (!has_key) {
			*child = frame->data[KEY];
			return NULL;
		}
	}
	frame->data[HAS_KEY] = false;
	*child = frame->data[VALUE];
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
