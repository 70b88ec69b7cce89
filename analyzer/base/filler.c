/* SPDX-License-Identifier: MIT */
#include "base/filler.h"

static bool stays(char byte)
{
	return !byte || byte == '\n';
}

void rcore_fill(void *bytes, size_t size)
{
	char *text = bytes;
	for (size_t i = 0; i < size; i++)
		if (!stays(text[i]))
			text[i] = RCORE_FILLER;
}

bool rcore_is_filled(const void *bytes, size_t size)
{
	const char *text = bytes;
	bool any = false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] != RCORE_FILLER && !stays(text[i]))
			return false;
		any |= text[i] == RCORE_FILLER;
	}
	return any;
}
