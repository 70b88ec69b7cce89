/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include <string.h>

struct rcore_error *rcore_sized_copy_bytes(void *to, size_t size, const void *from)
{
	size_t given = size;
	if (from)
		memcpy(&given, from, sizeof(given));
	if (given < sizeof(given))
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "a struct has the size %zu; set its member 'size' to "
					  "the sizeof the struct",
					  given);
	for (size_t i = size; i < given; i++)
		if (((const unsigned char *)from)[i])
			return rcore_error_create(
				RCORE_ERROR_USAGE,
				"a struct of %zu bytes sets a member that librcore does not "
				"know; leave it zero, or use a later librcore",
				given);
	if (from)
		memcpy(to, from, given < size ? given : size);
	memcpy(to, &size, sizeof(size));
	return NULL;
}
