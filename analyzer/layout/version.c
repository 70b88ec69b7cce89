/* SPDX-License-Identifier: MIT */
#include "layout/layout.h"

#include <stdlib.h>

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
