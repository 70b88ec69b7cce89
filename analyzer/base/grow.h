/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_GROW_H
#define RCORE_BASE_GROW_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more element in a malloc'ed array: *array, of `count` used
 * and *capacity allocated elements of `size` bytes. false: memory is short, the
 * array is as it was. (uthash's utarray would serve, but it ends the process
 * when memory runs out.)
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
 * For `struct { T *items; size_t count, capacity; }`: a pointer to a new,
 * zeroed last element, or NULL when memory is short.
 */
#define rcore_push(vector)                                                                  \
	(rcore_grow((void **)&(vector)->items, (vector)->count, &(vector)->capacity,        \
		    sizeof(*(vector)->items))                                               \
		 ? (memset(&(vector)->items[(vector)->count], 0, sizeof(*(vector)->items)), \
		    &(vector)->items[(vector)->count++])                                    \
		 : NULL)

#endif
