/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LIST_H
#define RCORE_VM_LIST_H

#include "base/error.h"
#include "ruby/ruby.h"

/*
 * Walks a ccan list (ccan/list/list.h): a ring of {next, prev} nodes through a
 * head that is not an entry. Returns the addresses of the nodes, malloc'ed, in
 * list order. Errors: CORRUPT if a node's prev does not point back, unless one
 * node is just being removed (this check also ends any cycle that misses the
 * head); LIMIT if there are more than `limit` entries; FAULT. On an error, *ret
 * and *ret_count are the nodes found until then.
 */
struct rcore_error *rcore_list(struct rcore_memory *memory, uint64_t head, size_t limit,
			       uint64_t **ret, size_t *ret_count);

/*
 * Finds the structs on the list whose head is the field `head` of the struct at
 * `base`; `node` is the member that links them. Like rcore_list(), but returns
 * UNSUPPORTED and no structs if one of the two fields is not measured.
 */
struct rcore_error *rcore_list_of(struct rcore_ruby *ruby, uint64_t base,
				  const struct rcore_field *head,
				  const struct rcore_field *node, size_t limit, uint64_t **ret,
				  size_t *ret_count);

/*
 * Whether the counter of a list agrees with its number of entries.
 * rb_ractor_living_threads_insert(), vm_insert_ractor0() and the functions that
 * remove entries change the list first and the counter later, so they may
 * differ by one. A counter of 0 never agrees: a struct whose list has one entry
 * and whose counter is 0 is not the struct it is taken for.
 */
static inline bool rcore_list_counts(size_t total, uint64_t expected)
{
	return total == expected ||
	       (total && expected && (total == expected + 1 || total + 1 == expected));
}

#endif
