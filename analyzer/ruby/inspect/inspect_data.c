/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "ruby/object/data.h"
#include "ruby/inspect/inspect_types.h"

#define ROW(type_name, function) {type_name, rcore_inspect_##function},
static const struct {
	const char *type_name;
	rcore_inspect_wrapped *inspect;
} types[] = {RCORE_INSPECT_TYPES(ROW)};

struct rcore_error *rcore_inspect_data(struct rcore_inspect *inspect, uint64_t value,
				       uint64_t flags)
{
	struct rcore_data data;
	struct rcore_error *err = rcore_data(inspect->ruby, value, &data);
	if (err)
		return err;
	for (size_t i = 0; data.type_name && i < RCORE_COUNT(types); i++)
		if (!strcmp(types[i].type_name, data.type_name) &&
		    (data.data || types[i].inspect == rcore_inspect_opaque))
			return types[i].inspect(inspect, value, data.data);
	return rcore_inspect_default(inspect, value, flags);
}
