/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include <string.h>

const struct rcore_item rcore_items[] = {
#define RCORE_STRUCT(id, names)                  \
	{RCORE_ITEM_STRUCT,                      \
	 #id,                                    \
	 "",                                     \
	 names,                                  \
	 offsetof(struct rcore_layout, id.size), \
	 offsetof(struct rcore_layout, id.is_borrowed)},
#define RCORE_FIELD(struct_id, id, paths)             \
	{RCORE_ITEM_FIELD,                            \
	 #struct_id,                                  \
	 #id,                                         \
	 paths,                                       \
	 offsetof(struct rcore_layout, struct_id.id), \
	 0},
#define RCORE_END(id)
#define RCORE_ENUM(id, names) \
	{RCORE_ITEM_ENUM, "", #id, names, offsetof(struct rcore_layout, constant.id), 0},
#include "layout/fields.def"
#undef RCORE_STRUCT
#undef RCORE_FIELD
#undef RCORE_END
#undef RCORE_ENUM
};

const size_t rcore_item_count = sizeof(rcore_items) / sizeof(rcore_items[0]);

static void *at(struct rcore_layout *layout, const struct rcore_item *item)
{
	return (char *)layout + item->where;
}

uint32_t *rcore_item_size(struct rcore_layout *layout, const struct rcore_item *item)
{
	return at(layout, item);
}

bool *rcore_item_borrowed(struct rcore_layout *layout, const struct rcore_item *item)
{
	return (bool *)((char *)layout + item->borrowed);
}

struct rcore_field *rcore_item_field(struct rcore_layout *layout, const struct rcore_item *item)
{
	return at(layout, item);
}

int64_t *rcore_item_constant(struct rcore_layout *layout, const struct rcore_item *item)
{
	return at(layout, item);
}

void rcore_layout_init(struct rcore_layout *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind == RCORE_ITEM_FIELD)
			*rcore_item_field(ret, item) = (struct rcore_field){.offset = -1};
		else if (item->kind == RCORE_ITEM_ENUM)
			*rcore_item_constant(ret, item) = RCORE_NO_CONSTANT;
	}
}
