/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_STORAGE_H
#define RCORE_MODEL_STORAGE_H

#include <stddef.h>

#include "model/value.h"

/* Variables of a fiber or thread by name. */
struct rcore_variables {
	struct rcore_variable *items;
	size_t count;
	const char *problem; /* why there are no more */
};

#endif
