/* SPDX-License-Identifier: MIT */
#include "sampler/stack/copies.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/order.h"

/* Reads from `count` bytes that were copied from `start`. */
static bool read_bytes(uint64_t start, const void *bytes, size_t count, uint64_t address,
		       void *buffer, size_t size)
{
	uint64_t offset = address - start;
	if (offset >= count || count - offset < size)
		return false;
	memcpy(buffer, (const uint8_t *)bytes + offset, size);
	return true;
}

static bool read_piece(const struct rcore_piece *piece, uint64_t address, void *buffer,
		       size_t size)
{
	return read_bytes(piece->start, piece->bytes, piece->read, address, buffer, size);
}

static bool read_pieces(const struct rcore_stack *stack, uint64_t address, void *buffer,
			size_t size)
{
	static const enum rcore_piece_id pieces[] = {RCORE_PIECE_VALUES, RCORE_PIECE_FRAMES,
						     RCORE_PIECE_THREAD, RCORE_PIECE_EC};
	for (size_t i = 0; i < RCORE_COUNT(pieces); i++)
		if (read_piece(&stack->pieces[pieces[i]], address, buffer, size))
			return true;
	return false;
}

/* A thread without frames has an empty range at 0. */
static bool read_stacks(const struct rcore_copies *copies, uint64_t address, void *buffer,
			size_t size)
{
	size_t after = RCORE_PARTITION_POINT(copies->stack_count, middle,
					     copies->stacks[middle]->bottom <= address);
	return after && address < copies->stacks[after - 1]->top &&
	       read_pieces(copies->stacks[after - 1], address, buffer, size);
}

static bool read_threads(const struct rcore_copies *copies, uint64_t address, void *buffer,
			 size_t size)
{
	size_t after = RCORE_PARTITION_POINT(copies->thread_count, middle,
					     copies->threads[middle]->thread <= address);
	return after && read_piece(&copies->threads[after - 1]->pieces[RCORE_PIECE_THREAD],
				   address, buffer, size);
}

static int by_bottom(const void *left, const void *right)
{
	const struct rcore_stack *const *a = left, *const *b = right;
	return (*a)->bottom < (*b)->bottom ? -1 : (*a)->bottom > (*b)->bottom;
}

void rcore_copies_add(struct rcore_copies *copies, struct rcore_stack **stacks, size_t count)
{
	qsort(stacks, count, sizeof(*stacks), by_bottom);
	copies->stacks = stacks;
	copies->stack_count = count;
}

static int by_thread(const void *left, const void *right)
{
	const struct rcore_stack *const *a = left, *const *b = right;
	return (*a)->thread < (*b)->thread ? -1 : (*a)->thread > (*b)->thread;
}

void rcore_copies_add_threads(struct rcore_copies *copies, struct rcore_stack **stacks,
			      size_t count)
{
	qsort(stacks, count, sizeof(*stacks), by_thread);
	copies->threads = stacks;
	copies->thread_count = count;
}

static enum rcore_fault read_copies(struct rcore_memory *base, uint64_t address, void *buffer,
				    size_t size)
{
	const struct rcore_copies *copies = (const struct rcore_copies *)base;
	if (copies->stack && read_pieces(copies->stack, address, buffer, size))
		return RCORE_FAULT_NONE;
	if (read_threads(copies, address, buffer, size) ||
	    read_stacks(copies, address, buffer, size))
		return RCORE_FAULT_NONE;
	for (size_t i = 0; i < copies->other_count; i++) {
		const struct rcore_live_range *range = &copies->others[i];
		if (read_bytes(range->start, range->bytes, range->read, address, buffer, size))
			return RCORE_FAULT_NONE;
	}
	return copies->below ? rcore_read(copies->below, address, buffer, size)
			     : RCORE_FAULT_NOT_COPIED;
}

void rcore_copies_init(struct rcore_copies *copies, struct rcore_memory *below)
{
	*copies = (struct rcore_copies){.memory = {.read = read_copies}, .below = below};
}
