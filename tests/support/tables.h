/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_TABLES_H
#define RCORE_TESTS_TABLES_H

#include "layout/layout.h"

/*
 * The built-in tables. A test fails if it uses a table that cannot be parsed.
 */
int table_count(void);
struct rcore_layout table_at(int index);

/*
 * Returns the table of a release and build, such as "3.3.8-x86_64-cet",
 * whatever range its name has.
 */
struct rcore_layout table_of(const char *release_and_build);

/* Returns the text of a table; the caller frees it. */
char *table_printed(struct rcore_layout layout);

/*
 * The number of tables with one of each series, machine and build, which the
 * decoders must all support.
 */
int series_count(void);
struct rcore_layout series_at(int index);

#endif
