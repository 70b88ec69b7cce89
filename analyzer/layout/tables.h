/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_TABLES_H
#define RCORE_LAYOUT_TABLES_H

/*
 * The built-in tables, which the build makes from layout/tables/
 * (scripts/pack-tables.awk). Ends with a NULL name.
 */
struct rcore_layout_table {
	const char *name;
	/*
	 * The table that contains the lines which this one lacks; -1 if it is
	 * complete.
	 */
	int base;
	const char *text;
};
extern const struct rcore_layout_table rcore_layout_tables[];

#endif
