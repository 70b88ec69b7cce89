/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_GROW_H
#define RCORE_BASE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more element in the malloc'ed array *array, which has
 * `count` elements of `size` bytes and room for *capacity. Returns false if
 * memory is short; the array is then unchanged. (uthash's utarray ends the
 * process if memory runs out.)
 */
static inline bool rcore_grow(void **array, size_t count, size_t *capacity, size_t size)
{
	if (count < *capacity)
		return true;
	size_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown = reallocarray(*array, wanted, size);
	if (!grown)
		return false;
	*array = grown;
	*capacity = wanted;
	return true;
}

/*
 * Does the same as calloc(), but returns NULL only if memory is short, even for
 * a count of 0: it allocates one element more.
 */
static inline void *rcore_calloc(size_t count, size_t size)
{
	return calloc(count + 1, size);
}

/*
 * Appends a zeroed element to a `struct { T *items; size_t count, capacity; }`.
 * Returns a pointer to it, or NULL if memory is short.
 */
#define rcore_push(vector)                                                                  \
	(rcore_grow((void **)&(vector)->items, (vector)->count, &(vector)->capacity,        \
		    sizeof(*(vector)->items))                                               \
		 ? (memset(&(vector)->items[(vector)->count], 0, sizeof(*(vector)->items)), \
		    &(vector)->items[(vector)->count++])                                    \
		 : NULL)

#endif
