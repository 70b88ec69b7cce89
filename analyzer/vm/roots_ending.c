/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "ruby/object/data.h"
#include "ruby/object/value.h"
#include "ruby/search.h"
#include "vm/roots_private.h"

/*
 * `end_procs` of eval_jump.c is the head of a list of what at_exit registered.
 * The items are struct end_proc_data: {function, VALUE, next item}, the same
 * from 2.6 to 4.0.
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

/*
 * A search for the head of the list, which is recognized by what it leads to.
 */
struct search {
	struct rcore_roots *roots;
	int most; /* items to read */
	/*
	 * The newest items may not be Procs, because an extension may pass any
	 * object to rb_set_end_proc(). The first Proc ends the search.
	 */
	bool is_mixed;
};

/*
 * Whether the collector can mark it: each value is an immediate one or an
 * object.
 */
static bool is_marked(struct rcore_roots *roots, uint64_t value)
{
	return rcore_immediate(roots->ruby, value) != RCORE_NO_IMMEDIATE ||
	       rcore_heap_node_at(roots->heap, value, false) != RCORE_HEAP_NONE;
}

/* Requires a Proc: without one, nothing distinguishes the list from others. */
static bool is_list(void *context, uint64_t address, const void *copy, size_t size)
{
	const struct search *search = context;
	struct item item;
	uint64_t at;
	bool has_block = false;
	(void)address;
	(void)size;
	memcpy(&at, copy, sizeof(at));
	for (int i = 0; i < search->most && at; i++, at = item.next) {
		if (!read_item(search->roots, at, &item))
			return false;
		if (is_block(search->roots, item.value)) {
			has_block = true;
			if (search->is_mixed)
				break;
		} else if (!search->is_mixed || !is_marked(search->roots, item.value)) {
			return false;
		}
	}
	return has_block;
}

static bool find_list(struct rcore_roots *roots, uint64_t *ret)
{
	struct search searches[] = {{roots, 2, false}, {roots, 256, true}};
	for (size_t i = 0; i < RCORE_COUNT(searches); i++)
		if (rcore_search_statics(roots->ruby, sizeof(*ret), is_list, &searches[i], ret))
			return true;
	return false;
}

struct rcore_error *rcore_roots_ending(struct rcore_roots *roots)
{
	struct rcore_roots_walk walk = {0};
	struct rcore_heap_root root = {.kind = RCORE_ROOT_ENDING};
	struct item item;
	uint64_t list, at;
	if (!find_list(roots, &list) || rcore_read_u64(roots->ruby->memory, list, &at))
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
