/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/layout_command.h"
#include "layout/schema.h"
#include "layout/store.h"

static bool print_file(void *context, const char *path, const struct rcore_layout *layout,
		       struct rcore_error *err)
{
	if (layout) {
		printf("%-32s ", layout->name);
		rcore_escape_write(stdout, path);
	} else {
		printf("%-32s ", "(cannot be used)");
		rcore_escape_write(stdout, err->message);
		rcore_error_free(err);
	}
	putchar('\n');
	return true;
}

struct rcore_error *rcore_cli_layout_list(void)
{
	const char *name;
	struct rcore_error *err = rcore_layout_folder_each(print_file, NULL);
	for (size_t i = 0; !err && (name = rcore_layout_builtin_name(i)); i++)
		printf("%-32s built in\n", name);
	return err;
}

/* An item's value, as the tables print it. */
static void print_value(struct rcore_layout *layout, const struct rcore_item *item)
{
	const struct rcore_field *field;
	switch (item->kind) {
	case RCORE_ITEM_STRUCT:
		printf("%u", *rcore_item_size(layout, item));
		break;
	case RCORE_ITEM_FIELD:
		field = rcore_item_field(layout, item);
		if (!rcore_has(field)) {
			putchar('-');
			break;
		}
		printf("%d %u", field->offset, field->size);
		if (field->bits)
			printf(" %u:%u", field->bit, field->bits);
		break;
	case RCORE_ITEM_ENUM:
		if (*rcore_item_constant(layout, item) == RCORE_NO_CONSTANT)
			putchar('-');
		else
			printf("%lld", (long long)*rcore_item_constant(layout, item));
		break;
	}
}

static bool same(struct rcore_layout *a, struct rcore_layout *b, const struct rcore_item *item)
{
	switch (item->kind) {
	case RCORE_ITEM_STRUCT:
		return *rcore_item_size(a, item) == *rcore_item_size(b, item);
	case RCORE_ITEM_FIELD:
		return !memcmp(rcore_item_field(a, item), rcore_item_field(b, item),
			       sizeof(struct rcore_field));
	case RCORE_ITEM_ENUM:
		return *rcore_item_constant(a, item) == *rcore_item_constant(b, item);
	}
	return true;
}

struct rcore_error *rcore_cli_layout_diff(const char *left, const char *right, bool *ret_differ)
{
	struct rcore_layout a, b;
	struct rcore_error *err = rcore_layout_find(left, &a);
	if (!err)
		err = rcore_layout_find(right, &b);
	if (err)
		return err;
	*ret_differ = false;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (same(&a, &b, item))
			continue;
		*ret_differ = true;
		printf("%s%s%s%s: ",
		       item->kind == RCORE_ITEM_STRUCT ? "struct "
		       : item->kind == RCORE_ITEM_ENUM ? "enum "
						       : "",
		       item->group, item->kind == RCORE_ITEM_FIELD ? "." : "", item->id);
		print_value(&a, item);
		fputs(" -> ", stdout);
		print_value(&b, item);
		putchar('\n');
	}
	return NULL;
}
