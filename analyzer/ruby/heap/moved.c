/* SPDX-License-Identifier: MIT */
#include "ruby/heap/moved.h"

#include <stdlib.h>

#include "ruby/heap/heap.h"

/* How many pages are cached, each in its own place. */
enum { PAGES = 256 };

struct rcore_moved {
	struct rcore_memory memory;
	struct rcore_memory *below;
	struct rcore_ruby *ruby;
	/* what is read to find out where objects are is not translated */
	bool is_looking;
	struct {
		uint64_t body; /* or 0 */
		struct rcore_heap_page page;
		bool is_page;
	} pages[PAGES];
};

static bool find_page(struct rcore_moved *moved, uint64_t address, struct rcore_heap_page *ret)
{
	uint64_t align = moved->ruby->layout->traits.heap_page_align;
	uint64_t body = address - address % align;
	size_t at = body / align % PAGES;
	if (moved->pages[at].body != body) {
		moved->pages[at].body = body;
		moved->pages[at].is_page =
			rcore_heap_page_at(moved->ruby, address, &moved->pages[at].page);
	}
	*ret = moved->pages[at].page;
	return moved->pages[at].is_page;
}

/*
 * Returns the new address of [address, address + size), which was in one slot;
 * the same if its object was not moved.
 */
static uint64_t follow(struct rcore_moved *moved, uint64_t address, size_t size)
{
	struct rcore_memory *memory = moved->below;
	struct rcore_heap_page page;
	uint64_t flags, to;
	if (!find_page(moved, address, &page) || address < page.start ||
	    address - page.start >= page.slots * page.slot_size)
		return address;
	uint64_t offset = (address - page.start) % page.slot_size, slot = address - offset;
	if (size > page.slot_size - offset || rcore_read_u64(memory, slot, &flags) ||
	    (flags & RCORE_T_MASK) != RCORE_T_MOVED ||
	    rcore_read_field(memory, slot, &moved->ruby->layout->moved.destination, &to) ||
	    !rcore_is_object(moved->ruby, to))
		return address;
	return to + offset;
}

static enum rcore_fault read_moved(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct rcore_moved *moved = (struct rcore_moved *)memory;
	if (!moved->is_looking) {
		moved->is_looking = true;
		address = follow(moved, address, size);
		moved->is_looking = false;
	}
	return rcore_read(moved->below, address, buffer, size);
}

static bool is_compacting(struct rcore_ruby *ruby, uint64_t vm)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t objspace, compacting;
	return rcore_has_place(&layout->moved.destination) && layout->traits.heap_page_align &&
	       !rcore_read_field(ruby->memory, vm, &layout->vm.objspace, &objspace) &&
	       !rcore_read_field(ruby->memory, objspace, &layout->objspace.during_compacting,
				 &compacting) &&
	       compacting;
}

void rcore_moved_follow(struct rcore_ruby *ruby, uint64_t vm)
{
	struct rcore_moved *moved;
	if (ruby->moved || !is_compacting(ruby, vm))
		return;
	moved = calloc(1, sizeof(*moved));
	if (!moved)
		return;
	moved->memory.read = read_moved;
	moved->below = ruby->memory;
	moved->ruby = ruby;
	ruby->moved = moved;
	ruby->unmoved = ruby->memory;
	ruby->memory = &moved->memory;
}

void rcore_moved_free(struct rcore_moved *moved)
{
	free(moved);
}

uint64_t rcore_moved_to(const struct rcore_ruby *ruby, uint64_t value)
{
	if (!ruby->moved || !rcore_is_object(ruby, value))
		return value;
	ruby->moved->is_looking = true;
	uint64_t to = follow(ruby->moved, value, 1);
	ruby->moved->is_looking = false;
	return to;
}

bool rcore_is_same_object(const struct rcore_ruby *ruby, uint64_t one, uint64_t other)
{
	return one == other || rcore_moved_to(ruby, one) == rcore_moved_to(ruby, other);
}
