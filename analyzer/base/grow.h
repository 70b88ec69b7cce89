/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_GROW_H
#define RCORE_BASE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"

/*
 * Does the same as reallocarray(), but asks for huge pages if the array is
 * large.
 */
static inline void *rcore_realloc(void *array, size_t count, size_t size)
{
	void *grown = reallocarray(array, count, size);
	rcore_prefer_huge_pages(grown, count * size);
	return grown;
}

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
	void *grown = rcore_realloc(*array, wanted, size);
	if (!grown)
		return false;
	*array = grown;
	*capacity = wanted;
	return true;
}

/*
 * Makes room for `wanted` elements in all. Returns false if memory is short;
 * the array is then unchanged.
 */
static inline bool rcore_make_room(void **array, size_t wanted, size_t *capacity, size_t size)
{
	if (wanted <= *capacity)
		return true;
	size_t more = wanted + wanted / 2;
	void *grown = rcore_realloc(*array, more, size);
	if (!grown)
		return false;
	*array = grown;
	*capacity = more;
	return true;
}

/*
 * Does the same as calloc(), but returns NULL only if memory is short, even for
 * a count of 0: it allocates one element more.
 */
static inline void *rcore_calloc(size_t count, size_t size)
{
	void *bytes = calloc(count + 1, size);
	rcore_prefer_huge_pages(bytes, count * size);
	return bytes;
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

/* Does the same as rcore_make_room() for such a struct. */
#define rcore_reserve(vector, wanted)                                           \
	rcore_make_room((void **)&(vector)->items, wanted, &(vector)->capacity, \
			sizeof(*(vector)->items))

#endif
