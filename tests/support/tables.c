/* SPDX-License-Identifier: MIT */
#include "tables.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

int table_count(void)
{
	int count = 0;

	while (rcore_layout_builtin_name((size_t)count))
		count++;
	return count;
}

struct rcore_layout table_at(int index)
{
	struct rcore_layout layout;
	struct rcore_error *err = rcore_layout_builtin((size_t)index, &layout);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return layout;
}

struct rcore_layout table_of(const char *release_and_build)
{
	const char *name, *build = strchr(release_and_build, '-');
	unsigned release[3], first[3], last_patch;
	char range[64];

	snprintf(range, sizeof(range), "%.*s", (int)(build - release_and_build),
		 release_and_build);
	ck_assert(rcore_version_parse(range, release));
	for (int i = 0; (name = rcore_layout_builtin_name((size_t)i)); i++) {
		snprintf(range, sizeof(range), "%.*s", (int)strcspn(name, "-"), name);
		ck_assert(rcore_version_range_parse(range, first, &last_patch));
		if (!strcmp(strchr(name, '-'), build) && first[0] == release[0] &&
		    first[1] == release[1] && first[2] <= release[2] &&
		    release[2] <= last_patch)
			return table_at(i);
	}
	ck_abort_msg("no table of %s", release_and_build);
}

char *table_printed(struct rcore_layout layout)
{
	char *text = rcore_layout_print(&layout, NULL);
	ck_assert_ptr_nonnull(text);
	return text;
}

/* The length of "3.3." */
static size_t series_length(const char *name)
{
	size_t major = strcspn(name, ".") + 1;
	return major + strcspn(name + major, ".") + 1;
}

/* Whether the previous table is of the same series and build. */
static bool continues(int index)
{
	const char *name = rcore_layout_builtin_name((size_t)index);
	for (int i = 0; i < index; i++) {
		const char *other = rcore_layout_builtin_name((size_t)i);
		if (series_length(other) == series_length(name) &&
		    !strncmp(other, name, series_length(name)) &&
		    !strcmp(strchr(other, '-'), strchr(name, '-')))
			return true;
	}
	return false;
}

int series_count(void)
{
	int count = 0;

	for (int i = 0; i < table_count(); i++)
		count += !continues(i);
	return count;
}

struct rcore_layout series_at(int index)
{
	for (int i = 0; i < table_count(); i++)
		if (!continues(i) && !index--)
			return table_at(i);
	ck_abort_msg("no such series");
}
