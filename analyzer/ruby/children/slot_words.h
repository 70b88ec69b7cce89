/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_SLOT_WORDS_H
#define RCORE_RUBY_SLOT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "layout/layout.h"

/*
 * The words of an object's slot that may point to C memory, as offsets from the
 * slot's start; none if start == end. CRuby does not clear a slot for its next
 * object, so the words that an object does not use still point to the memory of
 * an earlier one.
 */
struct rcore_slot_words {
	uint32_t start, end;
	/* That memory may point to more: it is not just text or VALUEs. */
	bool leads_on;
};

/*
 * Finds the words for the object's type: one member, or a struct after the
 * object's own. For types whose C struct is not known, all words after RBasic.
 * `flags` is RBasic.flags. The result is always within the slot's `size` bytes.
 */
void rcore_slot_words(const struct rcore_layout *layout, uint64_t flags, uint32_t size,
		      struct rcore_slot_words *ret);

#endif
