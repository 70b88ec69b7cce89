/* SPDX-License-Identifier: MIT */
#include "vm/find/list_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "vm/find/running.h"

struct node {
	uint64_t next, prev;
};

struct nodes {
	uint64_t *items;
	size_t count, capacity;
};

/* How far a walk in one direction got, and where it could not continue. */
struct end {
	uint64_t last, beyond;
};

/*
 * Walks from the head as long as neighbours point to each other. Returns false
 * if the list is longer than `limit` or memory is short.
 */
static bool walk(struct rcore_memory *memory, uint64_t head, bool forward, size_t limit,
		 struct nodes *nodes, struct end *ret)
{
	struct node node;
	if (rcore_read(memory, head, &node, sizeof(node)))
		return false;
	*ret = (struct end){head, forward ? node.next : node.prev};
	while (ret->beyond != head && nodes->count < limit) {
		if (rcore_read(memory, ret->beyond, &node, sizeof(node)) ||
		    (forward ? node.prev : node.next) != ret->last)
			return true;
		uint64_t *item = rcore_push(nodes);
		if (!item)
			return false;
		*item = ret->last = ret->beyond;
		ret->beyond = forward ? node.next : node.prev;
	}
	return ret->beyond == head;
}

/*
 * Returns the only node between the two ends, to which one or both of them
 * already point; 0 if more than that is wrong.
 */
static uint64_t between(const struct end *before, const struct end *after)
{
	uint64_t node = before->beyond == after->last ? after->beyond : before->beyond;
	bool leads_on = before->beyond == node || before->beyond == after->last;
	bool leads_back = after->beyond == node || after->beyond == before->last;
	return leads_on && leads_back && node % sizeof(uint64_t) == 0 ? node : 0;
}

/*
 * One word of the new node may already be written. The walk from that side then
 * took it for the last node, and the other side points to it.
 */
static uint64_t untake(struct nodes *taken, const struct end *end, const struct end *other)
{
	return taken->count && end->last == other->beyond ? taken->items[--taken->count] : 0;
}

/* Finds all nodes in list order, without the one that is being added. */
static bool around(struct rcore_memory *memory, const struct rcore_process *process,
		   uint64_t head, size_t limit, struct nodes *ret)
{
	struct nodes back = {0};
	struct end before, after;
	bool done = walk(memory, head, true, limit, ret, &before) &&
		    walk(memory, head, false, limit, &back, &after);
	uint64_t node = done ? between(&before, &after) : 0;
	if (done && !rcore_is_in_running_frame(memory, process, node)) {
		node = untake(ret, &before, &after);
		if (!node)
			node = untake(&back, &after, &before);
		done = node && rcore_is_in_running_frame(memory, process, node);
	}
	while (done && back.count) {
		uint64_t *item = rcore_push(ret);
		done = item;
		if (item)
			*item = back.items[--back.count];
	}
	free(back.items);
	return done;
}

struct rcore_error *rcore_list_of_waiters(struct rcore_memory *memory,
					  const struct rcore_process *process, uint64_t head,
					  size_t limit, uint64_t **ret, size_t *ret_count)
{
	struct nodes nodes = {0};
	struct rcore_error *err = rcore_list(memory, head, limit, ret, ret_count);
	if (!err || err->code == RCORE_ERROR_NO_MEMORY || err->code == RCORE_ERROR_LIMIT)
		return err;
	if (!around(memory, process, head, limit, &nodes)) {
		free(nodes.items);
		return err;
	}
	rcore_error_free(err);
	free(*ret);
	*ret = nodes.items;
	*ret_count = nodes.count;
	return NULL;
}
