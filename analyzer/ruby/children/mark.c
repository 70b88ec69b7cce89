/* SPDX-License-Identifier: MIT */
/*
 * What the families of types share: reading members, and visiting references.
 */
#include <string.h>

#include "ruby/children/children_private.h"
#include "ruby/object/st_table.h"

enum {
	ST_LIMIT = 1 << 26,
	LOCAL_LIMIT = 1 << 16,
	/* Words between the variables and ep: VM_ENV_DATA_SIZE - 1. */
	ENV_DATA_BEFORE_EP = 2,
};

void rcore_child_failed(struct rcore_children *children, struct rcore_error *err)
{
	if (err)
		children->state |= RCORE_HEAP_PARTIAL;
	rcore_error_free(err);
}

/* Counts a word; returns false, and sets PARTIAL, if there were too many. */
static bool count_word(struct rcore_children *children)
{
	if (children->count < RCORE_CHILD_LIMIT && children->total < RCORE_CHILD_TOTAL_LIMIT) {
		children->count++;
		children->total++;
		return true;
	}
	children->state |= RCORE_HEAP_PARTIAL;
	return false;
}

void rcore_child_count_table(struct rcore_children *children, uint64_t entries)
{
	children->total += entries;
}

static void visit(struct rcore_children *children, const struct rcore_child *child)
{
	if (count_word(children) && rcore_is_object(children->ruby, child->value))
		children->visit(children->context, child);
}

void rcore_child_mark(struct rcore_children *children, uint64_t value,
		      enum rcore_edge_kind kind, uint64_t number)
{
	visit(children, &(struct rcore_child){value, kind, number, NULL});
}

void rcore_child_mark_named(struct rcore_children *children, uint64_t value, const char *name)
{
	visit(children, &(struct rcore_child){value, RCORE_EDGE_FIELD, 0, name});
}

uint64_t rcore_child_field(struct rcore_children *children, const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && !rcore_field_of(children->copy, children->size, field, &value))
		children->state |= RCORE_HEAP_PARTIAL;
	return value;
}

uint64_t rcore_child_read(struct rcore_children *children, uint64_t base,
			  const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) &&
	    (!count_word(children) ||
	     rcore_read_field(children->ruby->memory, base, field, &value))) {
		children->state |= RCORE_HEAP_PARTIAL;
		return 0;
	}
	return value;
}

bool rcore_child_is_imemo(struct rcore_children *children, uint64_t value, unsigned type)
{
	uint64_t flags;
	return rcore_is_object(children->ruby, value) &&
	       !rcore_read_u64(children->ruby->memory, value, &flags) &&
	       rcore_imemo_type(flags) == (int)type;
}

/* Whether the array is in the slot, whose copy the caller has. */
static const unsigned char *in_slot(const struct rcore_children *children, uint64_t address,
				    uint64_t count)
{
	uint64_t offset = address - children->object;
	return offset < children->size && count <= (children->size - offset) / sizeof(uint64_t)
		       ? children->copy + offset
		       : NULL;
}

void rcore_child_mark_values(struct rcore_children *children, uint64_t address, uint64_t count,
			     enum rcore_edge_kind kind)
{
	const unsigned char *copy = in_slot(children, address, count);
	for (uint64_t i = 0; copy && i < count; i++) {
		uint64_t value;
		memcpy(&value, copy + i * sizeof(value), sizeof(value));
		rcore_child_mark(children, value, kind, i);
	}
	if (copy)
		return;
	for (uint64_t done = 0; done < count;) {
		uint64_t some = count - done;
		if (some > RCORE_CHILD_WORDS)
			some = RCORE_CHILD_WORDS;
		if (count - done > RCORE_CHILD_LIMIT - children->count ||
		    children->total >= RCORE_CHILD_TOTAL_LIMIT ||
		    rcore_read(children->ruby->memory, address + done * sizeof(uint64_t),
			       children->words, some * sizeof(uint64_t))) {
			children->state |= RCORE_HEAP_PARTIAL;
			return;
		}
		for (uint64_t i = 0; i < some; i++)
			rcore_child_mark(children, children->words[i], kind, done + i);
		done += some;
	}
}

void rcore_child_mark_st_values(struct rcore_children *children, uint64_t table,
				enum rcore_edge_kind kind)
{
	struct rcore_st_iterator iterator;
	uint64_t key, record;
	bool found = true;
	if (!table)
		return;
	struct rcore_error *err = rcore_st_begin(&iterator, children->ruby, table, ST_LIMIT);
	if (!err)
		rcore_child_count_table(children, iterator.bound - iterator.index);
	while (!err && found) {
		err = rcore_st_next(&iterator, &found, &key, &record);
		if (!err && found)
			rcore_child_mark(children, record, kind, key);
	}
	rcore_child_failed(children, err);
}

static bool read_local_table(struct rcore_children *children, uint64_t iseq, uint64_t *table,
			     uint64_t *size)
{
	const struct rcore_layout *layout = children->ruby->layout;
	struct rcore_memory *memory = children->ruby->memory;
	uint64_t body;
	return iseq && !rcore_read_field(memory, iseq, &layout->iseq.body, &body) &&
	       !rcore_read_field(memory, body, &layout->iseq_body.local_table, table) &&
	       !rcore_read_field(memory, body, &layout->iseq_body.local_table_size, size) &&
	       *size <= LOCAL_LIMIT;
}

uint64_t rcore_child_count_locals(struct rcore_children *children, uint64_t iseq)
{
	uint64_t table, size;
	return rcore_child_is_imemo(children, iseq,
				    children->ruby->layout->traits.imemo_iseq) &&
			       read_local_table(children, iseq, &table, &size)
		       ? size
		       : 0;
}

void rcore_child_mark_locals(struct rcore_children *children, uint64_t iseq, uint64_t ep,
			     uint64_t size)
{
	struct rcore_memory *memory = children->ruby->memory;
	uint64_t table = 0, ignored;
	bool named = read_local_table(children, iseq, &table, &ignored);
	uint64_t first = ep - (ENV_DATA_BEFORE_EP + size) * sizeof(uint64_t);
	for (uint64_t i = 0; i < size; i++) {
		uint64_t value, id = 0, at = i * sizeof(value);
		if (rcore_read_u64(memory, first + at, &value)) {
			children->state |= RCORE_HEAP_PARTIAL;
			return;
		}
		if (named && rcore_is_object(children->ruby, value) &&
		    rcore_read_u64(memory, table + at, &id))
			id = 0;
		rcore_child_mark(children, value, RCORE_EDGE_LOCAL, id);
	}
}
