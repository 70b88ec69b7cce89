/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_PAGE_BITS_H
#define RCORE_RUBY_PAGE_BITS_H

#include "ruby/ruby.h"

enum { RCORE_PAGE_STRUCT_LIMIT = 16 << 10 };

/*
 * What the collector notes of each slot: the bitmaps of a heap_page of gc.c
 * (from 3.4 on, of gc/default/default.c).
 */
struct rcore_page_bits {
	const struct rcore_layout *layout;
	size_t size;                /* 0: it cannot be read */
	const unsigned char *bytes; /* a heap_page: `copy`, or mapped */
	unsigned char copy[RCORE_PAGE_STRUCT_LIMIT];
};

/* Reads a heap_page. If it cannot be read, no bit is set. */
void rcore_page_bits_read(struct rcore_page_bits *bits, struct rcore_ruby *ruby,
			  uint64_t heap_page);

/*
 * Returns the index of the bit of the slot at `address`. Mirrors NUM_IN_PAGE():
 * a larger slot has the bit of its first 40 bytes. Pages are aligned to a power
 * of two, so half of the address suffices; dividing that takes a third of the
 * time.
 */
static inline uint32_t rcore_page_index(const struct rcore_page_bits *bits, uint64_t address)
{
	const struct rcore_traits *traits = &bits->layout->traits;
	return (uint32_t)address % traits->heap_page_align / traits->default_slot_size;
}

/* Returns a bit of a bitmap; false if this Ruby does not have it. */
static inline bool rcore_page_bit_at(const struct rcore_page_bits *bits,
				     const struct rcore_field *bitmap, uint32_t index)
{
	size_t byte = (size_t)bitmap->offset + index / 8;
	return rcore_has_place(bitmap) && byte < bits->size &&
	       bits->bytes[byte] >> index % 8 & 1;
}

/* Returns the bit of the slot at `address`. */
static inline bool rcore_page_bit(const struct rcore_page_bits *bits,
				  const struct rcore_field *bitmap, uint64_t address)
{
	return rcore_page_bit_at(bits, bitmap, rcore_page_index(bits, address));
}

/* The age at which an object is old: RVALUE_OLD_AGE. */
enum { RCORE_OLD_AGE = 3 };

/*
 * Returns how many collections an object has survived, at most RCORE_OLD_AGE:
 * two bits of age_bits from 3.3 on; before, FL_PROMOTED0 and 1 of its flags.
 */
unsigned rcore_page_age(const struct rcore_page_bits *bits, uint64_t address, uint64_t flags);

#endif
