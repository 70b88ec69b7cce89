/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LIST_H
#define RCORE_VM_LIST_H

#include "base/error.h"
#include "ruby/ruby.h"

/*
 * The entries of a ccan list (ccan/list/list.h): a ring of {next, prev} nodes through
 * a head that is no entry itself. Gives the addresses of the nodes, malloc'ed, in list
 * order. CORRUPT where a node's prev does not point back (which also ends any cycle
 * that is not the ring; one node may just be taken off), LIMIT past `limit` entries, FAULT; with an error, *ret and
 * *ret_count still hold the nodes up to there.
 */
struct rcore_error *rcore_list(struct rcore_memory *memory, uint64_t head, size_t limit,
			       uint64_t **ret, size_t *ret_count);

/*
 * The structs on the list whose head is the field `head` of the struct at `base`: `node`
 * is the member of theirs that is on it. As rcore_list(), and UNSUPPORTED, with no
 * structs, if one of the two fields is not measured.
 */
struct rcore_error *rcore_list_of(struct rcore_ruby *ruby, uint64_t base,
				  const struct rcore_field *head,
				  const struct rcore_field *node, size_t limit, uint64_t **ret,
				  size_t *ret_count);

/* Does the counter of a list count its entries? It follows the list: rb_ractor_living_threads_add(),
 * vm_insert_ractor0() and what takes away again change the list first. What is counted is never nothing: a list of
 * one that is counted as none was another struct's. */
static inline bool rcore_list_counts(size_t total, uint64_t expected)
{
	return total == expected ||
	       (total && expected && (total == expected + 1 || total + 1 == expected));
}

#endif
