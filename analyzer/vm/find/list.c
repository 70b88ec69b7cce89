/* SPDX-License-Identifier: MIT */
#include "vm/find/list.h"

#include <inttypes.h>
#include <string.h>

#include "base/grow.h"

struct node {
	uint64_t next, prev;
};

/*
 * Whether list_del_() of ccan/list/list.h (ccan_list_del_() from 3.2 on) has
 * set only one of the two pointers that bypass a node. Either `address` already
 * points back to the node before the last one, which still points to the last
 * one; or the last one already points to `address`, which still points back to
 * the removed node.
 */
static bool is_past_removal(struct rcore_memory *memory, uint64_t head, uint64_t before,
			    uint64_t previous, uint64_t address, const struct node *node)
{
	struct node gone;
	if (address == previous)
		return false;
	if (node->prev == before && before != previous)
		return true;
	return node->prev != head && !rcore_read(memory, node->prev, &gone, sizeof(gone)) &&
	       gone.next == address && gone.prev == previous;
}

struct rcore_error *rcore_list(struct rcore_memory *memory, uint64_t head, size_t limit,
			       uint64_t **ret, size_t *ret_count)
{
	struct {
		uint64_t *items;
		size_t count, capacity;
	} nodes = {0};
	struct rcore_error *err = NULL;
	struct node node;
	uint64_t before = head, previous = head;
	bool removes = false;
	enum rcore_fault fault = rcore_read(memory, head, &node, sizeof(node));

	if (fault)
		err = rcore_fault_error(fault, "list head", head, sizeof(node));
	while (!err && node.next != head) {
		uint64_t address = node.next;
		if (nodes.count >= limit) {
			err = rcore_error_create(RCORE_ERROR_LIMIT,
						 "list at 0x%" PRIx64 ": more than %zu entries",
						 head, limit);
			break;
		}
		fault = rcore_read(memory, address, &node, sizeof(node));
		if (fault) {
			err = rcore_fault_error(fault, "list node", address, sizeof(node));
			break;
		}
		if (node.prev != previous &&
		    (removes ||
		     !is_past_removal(memory, head, before, previous, address, &node))) {
			err = rcore_error_create(RCORE_ERROR_CORRUPT,
						 "list at 0x%" PRIx64 ": node 0x%" PRIx64
						 " does not point back",
						 head, address);
			break;
		}
		removes |= node.prev != previous;
		uint64_t *item = rcore_push(&nodes);
		if (!item) {
			err = rcore_error_no_memory();
			break;
		}
		before = previous;
		*item = previous = address;
	}
	*ret = nodes.items;
	*ret_count = nodes.count;
	return err;
}

struct rcore_error *rcore_list_of(struct rcore_ruby *ruby, uint64_t base,
				  const struct rcore_field *head,
				  const struct rcore_field *node, size_t limit, uint64_t **ret,
				  size_t *ret_count)
{
	*ret = NULL;
	*ret_count = 0;
	struct rcore_error *err = rcore_not_measured(ruby->layout, head);
	if (!err)
		err = rcore_not_measured(ruby->layout, node);
	if (err)
		return err;
	err = rcore_list(ruby->memory, base + (uint64_t)head->offset, limit, ret, ret_count);
	for (size_t i = 0; i < *ret_count; i++)
		(*ret)[i] -= (uint64_t)node->offset;
	return err;
}
