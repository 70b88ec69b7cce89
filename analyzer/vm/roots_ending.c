/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/object/data.h"
#include "ruby/search.h"
#include "vm/roots_private.h"

/*
 * What at_exit registered: `end_procs` of eval_jump.c, the head of a list whose
 * items are {function, VALUE, next item}. The same from 2.6 to 4.0.
 */
struct item {
	uint64_t function, value, next;
};

static bool read_item(struct rcore_roots *roots, uint64_t address, struct item *ret)
{
	return address && address % 8 == 0 &&
	       rcore_heap_node_at(roots->heap, address, true) == RCORE_HEAP_NONE &&
	       !rcore_read(roots->ruby->memory, address, ret, sizeof(*ret)) && ret->function &&
	       rcore_heap_node_at(roots->heap, ret->function, true) == RCORE_HEAP_NONE;
}

static bool is_block(struct rcore_roots *roots, uint64_t value)
{
	uint32_t node = rcore_heap_node_at(roots->heap, value, false);
	bool is_proc = false;
	if (node != RCORE_HEAP_NONE && roots->heap->type[node] == RCORE_T_DATA)
		rcore_error_free(rcore_data_is(roots->ruby, value, "proc", &is_proc, NULL));
	return is_proc;
}

/* Whether it is the head of such a list: checks its first two items. */
static bool is_list(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_roots *roots = context;
	struct item item;
	uint64_t at;
	(void)address;
	(void)size;
	memcpy(&at, copy, sizeof(at));
	for (int i = 0; i < 2; i++, at = item.next) {
		if (!read_item(roots, at, &item) || !is_block(roots, item.value))
			return false;
		if (!item.next)
			return true;
	}
	return true;
}

struct rcore_error *rcore_roots_ending(struct rcore_roots *roots)
{
	struct rcore_roots_walk walk = {0};
	struct rcore_heap_root root = {.kind = RCORE_ROOT_ENDING};
	struct item item;
	uint64_t list, at;
	if (!rcore_search_statics(roots->ruby, sizeof(at), is_list, roots, &list) ||
	    rcore_read_u64(roots->ruby->memory, list, &at))
		return NULL; /* there is no list */
	for (; at; at = item.next) {
		if (rcore_roots_repeats(&walk, at) || !read_item(roots, at, &item)) {
			rcore_roots_problem(roots, "the list of at_exit blocks cannot be read");
			return NULL;
		}
		root.address = at + offsetof(struct item, value);
		if (!rcore_roots_add(roots, item.value, &root))
			return rcore_error_no_memory();
	}
	return NULL;
}
