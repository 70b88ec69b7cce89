/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_TABLES_H
#define RCORE_TESTS_TABLES_H

#include "layout/layout.h"

/* The built-in tables; a test that takes one it cannot parse fails. */
int table_count(void);
struct rcore_layout table_at(int index);

/* The one of a release and build, "3.3.8-x86_64-cet", by whatever range it is called. */
struct rcore_layout table_of(const char *release_and_build);

/* Its text; the caller frees it. */
char *table_printed(struct rcore_layout layout);

/* One of each series, machine and build: decoders have to do with each of them. */
int series_count(void);
struct rcore_layout series_at(int index);

#endif
