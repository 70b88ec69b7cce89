/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"
#include "layout/tables.h"

const char *rcore_layout_builtin_name(size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (!rcore_layout_tables[i].name)
			return NULL;
	return rcore_layout_tables[index].name;
}

struct rcore_error *rcore_layout_builtin(size_t index, struct rcore_layout *ret)
{
	const struct rcore_layout_table *table = &rcore_layout_tables[index];
	struct rcore_layout base;

	if (table->base < 0)
		return rcore_layout_parse(table->text, table->name, ret);
	const struct rcore_layout_table *whole = &rcore_layout_tables[table->base];
	struct rcore_error *err = rcore_layout_parse(whole->text, whole->name, &base);
	return err ? err : rcore_layout_parse_over(&base, table->text, table->name, ret);
}
