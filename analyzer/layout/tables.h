/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_TABLES_H
#define RCORE_LAYOUT_TABLES_H

/*
 * The built-in tables, made by the build from layout/tables/
 * (scripts/pack-tables.awk); ends with a NULL name.
 */
struct rcore_layout_table {
	const char *name;
	/*
	 * The table that has the lines that this one lacks; -1: it lacks none.
	 */
	int base;
	const char *text;
};
extern const struct rcore_layout_table rcore_layout_tables[];

#endif
