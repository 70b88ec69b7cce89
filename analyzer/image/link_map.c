/* SPDX-License-Identifier: MIT */
#include "image/module_private.h"

struct rcore_error *rcore_modules_from_link_map(struct rcore_modules *modules)
{
	return NULL;
}
