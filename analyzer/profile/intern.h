/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_INTERN_H
#define RCORE_PROFILE_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sets that number what is added to them: 0, 1, 2 ... If a record or a run of
 * bytes is added again, it keeps its number. The numbers are dense and in the
 * order of addition, so a reader that adds the same things in the same order
 * gets the same numbers.
 */

/*
 * Hashes to numbers: open addressing, at most three quarters full. It does not
 * keep the hashes, because there may be millions of elements.
 */
struct rcore_intern_index {
	uint32_t *slots; /* number plus one; 0: free */
	size_t capacity; /* 0, or a power of two */
};

/* Records of one size, compared byte by byte: they have no padding. */
struct rcore_record_set {
	void *items;
	size_t record_size, count, capacity;
	struct rcore_intern_index index;
};

/* Returns false if memory is short; the set is then unchanged. */
bool rcore_record_set_add(struct rcore_record_set *set, const void *record, uint32_t *ret);
void rcore_record_set_deinit(struct rcore_record_set *set);

/*
 * Runs of bytes, each followed by a NUL that the set adds, and aligned to four
 * bytes.
 */
struct rcore_bytes_span {
	uint32_t offset, size;
};
struct rcore_bytes_set {
	char *bytes;
	size_t used, room;
	struct rcore_bytes_span *items;
	size_t count, capacity;
	struct rcore_intern_index index;
};

bool rcore_bytes_set_add(struct rcore_bytes_set *set, const void *bytes, size_t size,
			 uint32_t *ret);
void rcore_bytes_set_deinit(struct rcore_bytes_set *set);

static inline const void *rcore_bytes_set_get(const struct rcore_bytes_set *set,
					      uint32_t number, size_t *ret_size)
{
	if (ret_size)
		*ret_size = set->items[number].size;
	return set->bytes + set->items[number].offset;
}

/* Returns how many bytes of memory they use. */
size_t rcore_record_set_memory(const struct rcore_record_set *set);
size_t rcore_bytes_set_memory(const struct rcore_bytes_set *set);

#endif
