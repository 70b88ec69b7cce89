/* SPDX-License-Identifier: MIT */
#include "image/symbolize/demangle.h"

#include <stddef.h>
#include <string.h>

#include <libiberty/demangle.h>

char *rcore_demangle(const char *symbol)
{
	/* Plain C, which is nearly everything. */
	if (!symbol || strncmp(symbol, "_", 1))
		return NULL;
	return cplus_demangle(symbol, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
}
