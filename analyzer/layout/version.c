/* SPDX-License-Identifier: MIT */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

bool rcore_version_parse(const char *text, unsigned ret[3])
{
	unsigned version[3];

	for (int i = 0; i < 3; i++) {
		char *end;
		if (*text < '0' || *text > '9')
			return false;
		unsigned long part = strtoul(text, &end, 10);
		if (part > 999 || *end != (i < 2 ? '.' : '\0'))
			return false;
		version[i] = (unsigned)part;
		text = end + 1;
	}
	for (int i = 0; i < 3; i++)
		ret[i] = version[i];
	return true;
}

bool rcore_version_range_parse(const char *text, unsigned ret[3], unsigned *ret_last_patch)
{
	char text_of_first[16];
	unsigned first[3], last[3];
	const char *dots = strstr(text, "..");
	size_t length = dots ? (size_t)(dots - text) : strlen(text);

	if (length >= sizeof(text_of_first))
		return false;
	memcpy(text_of_first, text, length);
	text_of_first[length] = '\0';
	if (!rcore_version_parse(text_of_first, first) ||
	    !rcore_version_parse(dots ? dots + 2 : text, last) || last[0] != first[0] ||
	    last[1] != first[1] || last[2] < first[2])
		return false;
	memcpy(ret, first, sizeof(first));
	*ret_last_patch = last[2];
	return true;
}
