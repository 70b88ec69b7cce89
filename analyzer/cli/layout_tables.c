/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/list.h"
#include "layout/schema.h"
#include "layout/store.h"

static void print_item(void *context, const char *item)
{
	bool *is_first = context;
	printf("%s%s", *is_first ? "; not measured: " : ", ", item);
	*is_first = false;
}

static void print_unmeasured(const struct rcore_layout *layout)
{
	bool is_first = true;
	rcore_layout_unmeasured(layout, print_item, &is_first);
}

static bool print_file(void *context, const char *path, const struct rcore_layout *layout,
		       struct rcore_error *err)
{
	if (layout) {
		printf("%-32s ", layout->name);
		rcore_escape_write(stdout, path);
		print_unmeasured(layout);
	} else {
		printf("%-32s ", "(cannot be used)");
		rcore_escape_write(stdout, err->message);
		rcore_error_free(err);
	}
	putchar('\n');
	return true;
}

static struct rcore_error *list(struct rcore_cli_target *target, void *given, int *ret_status)
{
	const char *name;
	struct rcore_error *err = rcore_layout_folder_each(print_file, NULL);
	for (size_t i = 0; !err && (name = rcore_layout_builtin_name(i)); i++) {
		struct rcore_layout layout;
		err = rcore_layout_builtin(i, &layout);
		if (err)
			return err;
		printf("%-32s built in", name);
		print_unmeasured(&layout);
		putchar('\n');
	}
	return err;
}

/* Prints an item's value as the tables contain it. */
static void print_value(struct rcore_layout *layout, const struct rcore_item *item)
{
	const struct rcore_field *field;
	if (!rcore_item_is_measured(layout, item)) {
		fputs("not measured", stdout);
		return;
	}
	switch (item->kind) {
	case RCORE_ITEM_STRUCT:
		if (*rcore_item_size(layout, item))
			printf("%u", *rcore_item_size(layout, item));
		else
			putchar('-');
		break;
	case RCORE_ITEM_FIELD:
		field = rcore_item_field(layout, item);
		if (!rcore_has_place(field)) {
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
		return *rcore_item_size(a, item) == *rcore_item_size(b, item) &&
		       *rcore_item_unmeasured(a, item) == *rcore_item_unmeasured(b, item);
	case RCORE_ITEM_FIELD:
		return !memcmp(rcore_item_field(a, item), rcore_item_field(b, item),
			       sizeof(struct rcore_field));
	case RCORE_ITEM_ENUM:
		return *rcore_item_constant(a, item) == *rcore_item_constant(b, item);
	}
	return true;
}

struct diff_arguments {
	struct rcore_strings tables;
};

static struct rcore_error *diff(struct rcore_cli_target *target, void *given, int *ret_status)
{
	const struct rcore_strings *tables = &((struct diff_arguments *)given)->tables;
	struct rcore_layout a, b;
	if (tables->count != 2)
		return rcore_error_create(RCORE_ERROR_USAGE, "missing TABLE; name two tables");
	struct rcore_error *err = rcore_layout_find(tables->items[0], &a);
	if (!err)
		err = rcore_layout_find(tables->items[1], &b);
	if (err)
		return err;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (same(&a, &b, item))
			continue;
		*ret_status = 1;
		char text[RCORE_ITEM_TEXT];
		rcore_item_print(item, text);
		printf("%s: ", text);
		print_value(&a, item);
		fputs(" -> ", stdout);
		print_value(&b, item);
		putchar('\n');
	}
	return NULL;
}

const struct rcore_command rcore_cli_layout_list = {
	.name = "list",
	.input = RCORE_INPUT_NONE,
	.summary = "list the layout tables",
	.doc = "List the tables in your folder and the built-in ones, one per line.",
	.exit_status = "Exit status: 0 printed; 2 a folder cannot be read; 64 wrong usage.",
	.run_in_shell = list,
};

const struct rcore_command rcore_cli_layout_diff = {
	.name = "diff",
	.input = RCORE_INPUT_NONE,
	.summary = "print the differences between two tables",
	.doc = "Print the differences between two tables. A table is a file, or a release that "
	       "has a built-in table: 3.3.0 stands for 3.3.0-x86_64, or on aarch64 for "
	       "3.3.0-aarch64; 3.3.0-x86_64-cet is that of builds with -fcf-protection. Fields "
	       "may have moved in one of them alone.",
	.size = sizeof(struct diff_arguments),
	.words = "TABLE TABLE",
	.operands_offset = offsetof(struct diff_arguments, tables),
	.completion = RCORE_COMPLETE_FILE,
	.shell_examples = (const char *const[]){"rcore layout diff 3.3.0 3.3.11",
						"rcore layout diff 2.7.2-aarch64 2.7.3-aarch64",
						"rcore layout diff 3.3.0 my.layout", NULL},
	.exit_status = "Exit status: 0 the tables are equal; 1 they differ; 2 there is no such "
		       "table; 64 wrong usage.",
	.run_in_shell = diff,
};
