/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/count.h"

const struct rcore_item rcore_items[] = {
#define RCORE_STRUCT(id, names)                         \
	{RCORE_ITEM_STRUCT,                             \
	 #id,                                           \
	 "",                                            \
	 names,                                         \
	 offsetof(struct rcore_layout, id.size),        \
	 offsetof(struct rcore_layout, id.is_borrowed), \
	 offsetof(struct rcore_layout, id.is_unmeasured)},
#define RCORE_FIELD(struct_id, id, paths)             \
	{RCORE_ITEM_FIELD,                            \
	 #struct_id,                                  \
	 #id,                                         \
	 paths,                                       \
	 offsetof(struct rcore_layout, struct_id.id), \
	 0,                                           \
	 0},
#define RCORE_ENUM(id, names) \
	{RCORE_ITEM_ENUM, "", #id, names, offsetof(struct rcore_layout, constant.id), 0, 0},
#include "layout/fields.def"
};

const size_t rcore_item_count = RCORE_COUNT(rcore_items);

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

bool *rcore_item_unmeasured(struct rcore_layout *layout, const struct rcore_item *item)
{
	return (bool *)((char *)layout + item->unmeasured);
}

struct rcore_field *rcore_item_field(struct rcore_layout *layout, const struct rcore_item *item)
{
	return at(layout, item);
}

int64_t *rcore_item_constant(struct rcore_layout *layout, const struct rcore_item *item)
{
	return at(layout, item);
}

bool rcore_item_is_measured(const struct rcore_layout *layout, const struct rcore_item *item)
{
	/* only read */
	struct rcore_layout *from = (struct rcore_layout *)layout;
	switch (item->kind) {
	case RCORE_ITEM_STRUCT:
		return !*rcore_item_unmeasured(from, item);
	case RCORE_ITEM_FIELD:
		return rcore_item_field(from, item)->offset != RCORE_UNMEASURED;
	case RCORE_ITEM_ENUM:
		return *rcore_item_constant(from, item) != RCORE_UNMEASURED_CONSTANT;
	}
	return true;
}

static void set_unknown(struct rcore_layout *layout, const struct rcore_item *item,
			bool is_absent)
{
	switch (item->kind) {
	case RCORE_ITEM_STRUCT:
		*rcore_item_size(layout, item) = 0;
		*rcore_item_borrowed(layout, item) = false;
		*rcore_item_unmeasured(layout, item) = !is_absent;
		break;
	case RCORE_ITEM_FIELD:
		*rcore_item_field(layout, item) = (struct rcore_field){
			.offset = is_absent ? RCORE_ABSENT : RCORE_UNMEASURED};
		break;
	case RCORE_ITEM_ENUM:
		*rcore_item_constant(layout, item) =
			is_absent ? RCORE_NO_CONSTANT : RCORE_UNMEASURED_CONSTANT;
		break;
	}
}

void rcore_item_set_unmeasured(struct rcore_layout *layout, const struct rcore_item *item)
{
	set_unknown(layout, item, false);
}

void rcore_item_set_absent(struct rcore_layout *layout, const struct rcore_item *item)
{
	set_unknown(layout, item, true);
}

void rcore_item_print(const struct rcore_item *item, char ret[RCORE_ITEM_TEXT])
{
	static const char *const before[] = {
		[RCORE_ITEM_STRUCT] = "struct ",
		[RCORE_ITEM_FIELD] = "",
		[RCORE_ITEM_ENUM] = "enum ",
	};
	snprintf(ret, RCORE_ITEM_TEXT, "%s%s%s%s", before[item->kind], item->group,
		 item->kind == RCORE_ITEM_FIELD ? "." : "", item->id);
}

void rcore_layout_init(struct rcore_layout *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < rcore_item_count; i++)
		rcore_item_set_unmeasured(ret, &rcore_items[i]);
}

void rcore_layout_init_absent(struct rcore_layout *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < rcore_item_count; i++)
		rcore_item_set_absent(ret, &rcore_items[i]);
}

size_t rcore_layout_unmeasured(const struct rcore_layout *layout,
			       rcore_layout_unmeasured_visit *visit, void *context)
{
	size_t count = 0;
	/* otherwise the struct's line is printed for its fields */
	bool has_struct = true;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		bool is_measured = rcore_item_is_measured(layout, item);
		char text[RCORE_ITEM_TEXT];
		if (item->kind == RCORE_ITEM_STRUCT)
			has_struct = is_measured;
		count += !is_measured;
		if (is_measured || !visit || (item->kind == RCORE_ITEM_FIELD && !has_struct))
			continue;
		rcore_item_print(item, text);
		visit(context, text);
	}
	return count;
}
