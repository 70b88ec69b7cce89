/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "layout/schema.h"

void rcore_layout_complete(struct rcore_layout *layout, const struct rcore_layout *from)
{
	/* Its items are only read. */
	struct rcore_layout *other = (struct rcore_layout *)from;
	bool absent = false;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind == RCORE_ITEM_STRUCT) {
			absent = !*rcore_item_size(layout, item);
			if (!absent)
				continue;
			*rcore_item_size(layout, item) = *rcore_item_size(other, item);
			*rcore_item_unmeasured(layout, item) =
				*rcore_item_unmeasured(other, item);
		} else if (item->kind == RCORE_ITEM_FIELD && absent) {
			*rcore_item_field(layout, item) = *rcore_item_field(other, item);
		}
	}
}
