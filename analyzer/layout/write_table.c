/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_provenance(FILE *out, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		fprintf(out, "# %.*s\n", (int)length, text);
		text += length + (text[length] == '\n');
	}
}

static void print_item(FILE *out, struct rcore_layout *layout, const struct rcore_item *item)
{
	char neighbour[RCORE_RANGE_TEXT];
	if (!rcore_item_is_measured(layout, item))
		return;
	snprintf(neighbour, sizeof(neighbour), "%u.%u.%u", layout->neighbour[0],
		 layout->neighbour[1], layout->neighbour[2]);
	if (item->kind == RCORE_ITEM_STRUCT) {
		uint32_t size = *rcore_item_size(layout, item);
		if (size)
			fprintf(out, "\nstruct %s %" PRIu32 "%s%s\n", item->group, size,
				*rcore_item_borrowed(layout, item) ? " " : "",
				*rcore_item_borrowed(layout, item) ? neighbour : "");
		else
			fprintf(out, "\nstruct %s -\n", item->group);
	} else if (item->kind == RCORE_ITEM_FIELD) {
		const struct rcore_field *field = rcore_item_field(layout, item);
		fprintf(out, "%s.%s", item->group, item->id);
		if (field->offset < 0)
			fputs(" -", out);
		else
			fprintf(out, " %d %u", field->offset, field->size);
		if (field->offset >= 0 && field->bits)
			fprintf(out, " %u:%u", field->bit, field->bits);
		fputc('\n', out);
	} else {
		int64_t value = *rcore_item_constant(layout, item);
		if (value == RCORE_NO_CONSTANT)
			fprintf(out, "enum %s -\n", item->id);
		else
			fprintf(out, "enum %s %" PRId64 "\n", item->id, value);
	}
}

char *rcore_layout_print(const struct rcore_layout *layout, const char *provenance)
{
	const char *machine = rcore_machine_name(layout->machine);
	struct rcore_layout copy = *layout;
	char range[RCORE_RANGE_TEXT];
	char *text = NULL;
	size_t size = 0;
	FILE *out = rcore_open_text(&text, &size);

	if (!out)
		return NULL;
	if (provenance)
		print_provenance(out, provenance);
	rcore_layout_print_range(layout, range);
	fprintf(out, "layout %s\nruby %s\nmachine %s\n", copy.name, range,
		machine ? machine : "unknown");
	for (size_t i = 0; i < rcore_item_count; i++) {
		if (rcore_items[i].kind == RCORE_ITEM_ENUM &&
		    (!i || rcore_items[i - 1].kind != RCORE_ITEM_ENUM))
			fputc('\n', out);
		print_item(out, &copy, &rcore_items[i]);
	}
	bool failed = ferror(out);
	if (fclose(out) || failed) {
		free(text);
		return NULL;
	}
	return text;
}
