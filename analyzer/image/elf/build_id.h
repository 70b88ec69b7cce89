/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_BUILD_ID_H
#define RCORE_IMAGE_BUILD_ID_H

#include <stdio.h>

enum { RCORE_BUILD_ID_TEXT = 2 * 64 + 1 };

/*
 * Writes a build-id of at most 64 bytes as hex digits, or "none" for an empty
 * one. Returns `buffer`.
 */
static inline const char *rcore_build_id_text(const unsigned char *build_id, size_t size,
					      char buffer[RCORE_BUILD_ID_TEXT])
{
	snprintf(buffer, RCORE_BUILD_ID_TEXT, "none");
	for (size_t i = 0; i < size && i < 64; i++)
		snprintf(buffer + 2 * i, 3, "%02x", build_id[i]);
	return buffer;
}

#endif
