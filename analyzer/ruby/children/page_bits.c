/* SPDX-License-Identifier: MIT */
#include "ruby/children/page_bits.h"

static bool bit_at(const struct rcore_page_bits *bits, const struct rcore_field *bitmap,
		   uint64_t index)
{
	size_t byte = (size_t)bitmap->offset + index / 8;
	return rcore_has_place(bitmap) && byte < bits->size &&
	       bits->bytes[byte] >> index % 8 & 1;
}

/* NUM_IN_PAGE(): a larger slot has the bit of its first 40 bytes. */
static uint64_t index_of(const struct rcore_page_bits *bits, uint64_t address)
{
	const struct rcore_traits *traits = &bits->layout->traits;
	return address % traits->heap_page_align / traits->default_slot_size;
}

void rcore_page_bits_read(struct rcore_page_bits *bits, struct rcore_ruby *ruby,
			  uint64_t heap_page)
{
	bits->layout = ruby->layout;
	bits->bytes = bits->copy;
	bits->size = ruby->layout->heap_page.size;
	if (bits->size > sizeof(bits->copy) ||
	    rcore_read(ruby->memory, heap_page, bits->copy, bits->size))
		bits->size = 0;
}

bool rcore_page_bit(const struct rcore_page_bits *bits, const struct rcore_field *bitmap,
		    uint64_t address)
{
	return bit_at(bits, bitmap, index_of(bits, address));
}

unsigned rcore_page_age(const struct rcore_page_bits *bits, uint64_t address, uint64_t flags)
{
	enum { PROMOTED_SHIFT = 5 };
	const struct rcore_field *age = &bits->layout->heap_page.age_bits;
	uint64_t index = index_of(bits, address);
	if (!rcore_has(age))
		return flags >> PROMOTED_SHIFT & RCORE_OLD_AGE;
	return (unsigned)bit_at(bits, age, index * 2) |
	       (unsigned)bit_at(bits, age, index * 2 + 1) << 1;
}
