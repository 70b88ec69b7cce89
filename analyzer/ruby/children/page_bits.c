/* SPDX-License-Identifier: MIT */
#include "ruby/children/page_bits.h"

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

unsigned rcore_page_age(const struct rcore_page_bits *bits, uint64_t address, uint64_t flags)
{
	enum { PROMOTED_SHIFT = 5 };
	const struct rcore_field *age = &bits->layout->heap_page.age_bits;
	uint32_t index = rcore_page_index(bits, address);
	if (!rcore_has(age))
		return flags >> PROMOTED_SHIFT & RCORE_OLD_AGE;
	return (unsigned)rcore_page_bit_at(bits, age, index * 2) |
	       (unsigned)rcore_page_bit_at(bits, age, index * 2 + 1) << 1;
}
