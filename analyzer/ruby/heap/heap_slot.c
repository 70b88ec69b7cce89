/* SPDX-License-Identifier: MIT */
#include "ruby/heap/heap_private.h"
#include "target/live/live.h"

/* Finds the heap_page whose body contains an address. */
static bool page_of(struct rcore_ruby *ruby, uint64_t address, uint64_t *heap_page,
		    struct rcore_heap_page *page)
{
	uint64_t align = ruby->layout->traits.heap_page_align;
	return align && !rcore_read_u64(ruby->memory, address - address % align, heap_page) &&
	       rcore_heap_page_read(ruby, *heap_page, page);
}

static bool has_slot_at(const struct rcore_heap_page *page, uint64_t address)
{
	return address >= page->start && address - page->start < page->slots * page->slot_size;
}

bool rcore_heap_page_at(struct rcore_ruby *ruby, uint64_t address, struct rcore_heap_page *ret)
{
	uint64_t heap_page;
	return page_of(ruby, address, &heap_page, ret);
}

/* Reads a bit of one of the bitmaps. Returns false if it cannot be read. */
static bool read_bit(struct rcore_ruby *ruby, uint64_t heap_page,
		     const struct rcore_field *bitmap, uint64_t value, bool *ret)
{
	enum { BITS = 64 }; /* of a bits_t */
	uint64_t bit = rcore_heap_bit(ruby->layout, value), bits;
	uint64_t word = (uint64_t)bitmap->offset + bit / BITS * sizeof(bits);
	if (word + sizeof(bits) > ruby->layout->heap_page.size ||
	    rcore_read_u64(ruby->memory, heap_page + word, &bits))
		return false;
	*ret = bits >> bit % BITS & 1;
	return true;
}

/* What the collector has noted about a slot. */
struct marks {
	bool before_sweep; /* its page will be swept */
	bool is_marked;
};

/* Returns false if this cannot be read, or if there is no such slot. */
static bool read_marks(struct rcore_ruby *ruby, uint64_t value, struct marks *ret)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t heap_page, before_sweep;
	struct rcore_heap_page page;
	if (!rcore_has_place(&layout->heap_page.mark_bits) ||
	    !page_of(ruby, value, &heap_page, &page) || !has_slot_at(&page, value) ||
	    rcore_read_field(ruby->memory, heap_page, &layout->heap_page.before_sweep,
			     &before_sweep))
		return false;
	ret->before_sweep = before_sweep;
	return read_bit(ruby, heap_page, &layout->heap_page.mark_bits, value, &ret->is_marked);
}

bool rcore_heap_may_be_garbage(struct rcore_ruby *ruby, uint64_t value, bool is_collecting)
{
	struct marks marks;
	return read_marks(ruby, value, &marks) && !marks.is_marked &&
	       (marks.before_sweep || is_collecting);
}

bool rcore_heap_is_alive(struct rcore_ruby *ruby, uint64_t value, bool is_collecting)
{
	struct marks marks;
	return read_marks(ruby, value, &marks) &&
	       (marks.is_marked || (!marks.before_sweep && !is_collecting));
}

void rcore_heap_keep_marks(struct rcore_ruby *ruby, uint64_t value)
{
	uint64_t heap_page;
	struct rcore_heap_page page;
	if (page_of(ruby, value, &heap_page, &page))
		rcore_live_keep(ruby->live, heap_page,
				heap_page + ruby->layout->heap_page.size);
}

bool rcore_heap_is_unprotected(struct rcore_ruby *ruby, uint64_t value)
{
	const struct rcore_field *bits = &ruby->layout->heap_page.wb_unprotected_bits;
	uint64_t heap_page;
	struct rcore_heap_page page;
	bool is_unprotected;
	return rcore_has_place(bits) && page_of(ruby, value, &heap_page, &page) &&
	       has_slot_at(&page, value) &&
	       read_bit(ruby, heap_page, bits, value, &is_unprotected) && is_unprotected;
}

bool rcore_heap_is_garbage(struct rcore_ruby *ruby, uint64_t value)
{
	return rcore_heap_may_be_garbage(ruby, value, false);
}

bool rcore_heap_slot(struct rcore_ruby *ruby, uint64_t address, uint64_t *ret_value,
		     enum rcore_type *ret_type)
{
	uint64_t heap_page, flags;
	struct rcore_heap_page page;
	if (!page_of(ruby, address, &heap_page, &page) || !has_slot_at(&page, address))
		return false;
	uint64_t value = address - (address - page.start) % page.slot_size;
	struct rcore_memory *memory = ruby->unmoved ? ruby->unmoved : ruby->memory;
	if (rcore_read_u64(memory, value, &flags))
		return false;
	*ret_value = value;
	*ret_type = flags & RCORE_T_MASK;
	return true;
}
