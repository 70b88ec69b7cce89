/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"
#include "layout/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many patch levels away; 0 for a release on which it was measured. */
static unsigned distance(const struct rcore_layout *layout, unsigned patch)
{
	if (patch < layout->version[2])
		return layout->version[2] - patch;
	return patch > layout->last_patch ? patch - layout->last_patch : 0;
}

bool rcore_layout_measures(const struct rcore_layout *layout, const unsigned version[3])
{
	return layout->version[0] == version[0] && layout->version[1] == version[1] &&
	       !distance(layout, version[2]);
}

/*
 * Reads the release of a table's name, "3.3.1..3.3.6-x86_64-cet", if it is for
 * this machine.
 */
static bool release_of(const char *name, unsigned machine, unsigned of_table[3])
{
	const char *wanted = rcore_machine_name(machine);
	unsigned last_patch;
	char range[RCORE_RANGE_TEXT];
	size_t length = strcspn(name, "-"), machine_length = wanted ? strlen(wanted) : 0;

	if (!wanted || length >= sizeof(range) || name[length] != '-' ||
	    strncmp(name + length + 1, wanted, machine_length) ||
	    (name[length + 1 + machine_length] && name[length + 1 + machine_length] != '-'))
		return false;
	memcpy(range, name, length);
	range[length] = '\0';
	return rcore_version_range_parse(range, of_table, &last_patch);
}

static bool concerns(const char *name, const unsigned version[3], unsigned machine)
{
	unsigned of_table[3];
	return release_of(name, machine, of_table) && of_table[0] == version[0] &&
	       of_table[1] == version[1];
}

static int compare_series(const unsigned a[3], const unsigned b[3])
{
	return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

struct rcore_error *rcore_layout_unsupported(const unsigned version[3], unsigned machine,
					     const char *name)
{
	unsigned oldest[3] = {0}, newest[3] = {0}, of_table[3];
	const char *table;
	bool any = false;
	for (size_t i = 0; (table = rcore_layout_builtin_name(i)); i++) {
		if (!release_of(table, machine, of_table))
			continue;
		if (!any || compare_series(of_table, oldest) < 0)
			memcpy(oldest, of_table, sizeof(oldest));
		if (!any || compare_series(of_table, newest) > 0)
			memcpy(newest, of_table, sizeof(newest));
		any = true;
	}
	if (any && compare_series(version, oldest) < 0)
		return rcore_error_create(RCORE_ERROR_NO_LAYOUT,
					  "%s is too old; %u.%u and later are supported", name,
					  oldest[0], oldest[1]);
	if (any && compare_series(version, newest) > 0)
		return rcore_error_create(
			RCORE_ERROR_NO_LAYOUT,
			"%s is newer than this rcore, which supports Ruby up to %u.%u; get a "
			"newer rcore, or print a table from a build with debug information "
			"('rcore layout FILE > my.layout') and pass --layout my.layout",
			name, newest[0], newest[1]);
	return NULL;
}

/*
 * Returns the index of the candidate before which `layout` goes: nearer
 * releases first; of two equally near ones, the newer; builds of one release in
 * the order of the tables.
 */
static size_t place(const struct rcore_layout *list, size_t count,
		    const struct rcore_layout *layout, unsigned patch)
{
	size_t i = count;
	while (i && (distance(&list[i - 1], patch) > distance(layout, patch) ||
		     (distance(&list[i - 1], patch) == distance(layout, patch) &&
		      list[i - 1].version[2] < layout->version[2])))
		i--;
	return i;
}

struct candidates {
	const unsigned *version;
	unsigned machine;
	struct rcore_layout *list;
	size_t count;
	/* `unusable` is about a file in the user's folder. */
	struct rcore_error *err, *unusable;
};

static struct rcore_error *add(struct candidates *candidates, const struct rcore_layout *layout)
{
	unsigned patch = candidates->version[2];
	struct rcore_layout *grown =
		reallocarray(candidates->list, candidates->count + 1, sizeof(*grown));
	if (!grown)
		return rcore_error_no_memory();
	candidates->list = grown;
	size_t at = place(grown, candidates->count, layout, patch);
	memmove(&grown[at + 1], &grown[at], (candidates->count - at) * sizeof(*grown));
	grown[at] = *layout;
	if (distance(layout, patch))
		grown[at].source = RCORE_LAYOUT_APPROXIMATE;
	candidates->count++;
	return NULL;
}

static bool add_file(void *context, const char *path, const struct rcore_layout *layout,
		     struct rcore_error *err)
{
	struct candidates *candidates = context;
	if (!layout) {
		rcore_error_free(candidates->unusable);
		candidates->unusable = err;
		return true;
	}
	if (layout->machine == candidates->machine &&
	    layout->version[0] == candidates->version[0] &&
	    layout->version[1] == candidates->version[1])
		candidates->err = add(candidates, layout);
	return !candidates->err;
}

static struct rcore_error *add_builtin(struct candidates *candidates)
{
	struct rcore_error *err = NULL;
	const char *name;

	for (size_t i = 0; !err && (name = rcore_layout_builtin_name(i)); i++) {
		struct rcore_layout layout;
		if (!concerns(name, candidates->version, candidates->machine))
			continue;
		err = rcore_layout_builtin(i, &layout);
		if (!err)
			err = add(candidates, &layout);
	}
	return err;
}

static struct rcore_error *nothing(const struct candidates *candidates)
{
	const char *name = rcore_machine_name(candidates->machine);
	const unsigned *version = candidates->version;
	char ruby[64];
	snprintf(ruby, sizeof(ruby), "Ruby %u.%u.%u", version[0], version[1], version[2]);
	/* An error in the user's own table comes first. */
	struct rcore_error *err =
		candidates->unusable
			? NULL
			: rcore_layout_unsupported(version, candidates->machine, ruby);
	if (err)
		return err;
	return rcore_error_create(
		RCORE_ERROR_NO_LAYOUT,
		"no layout for Ruby %u.%u.%u on %s; install its debug information, or print a "
		"table from a build that has it ('rcore layout FILE > my.layout') and pass "
		"--layout my.layout%s%s%s",
		version[0], version[1], version[2], name ? name : "this machine",
		candidates->unusable ? " (" : "",
		candidates->unusable ? candidates->unusable->message : "",
		candidates->unusable ? ")" : "");
}

struct rcore_error *rcore_layout_candidates(const unsigned version[3], unsigned machine,
					    struct rcore_layout **ret, size_t *ret_count)
{
	struct candidates candidates = {.version = version, .machine = machine};
	struct rcore_error *err = rcore_layout_folder_each(add_file, &candidates);
	if (!err)
		err = candidates.err;
	if (!err)
		err = add_builtin(&candidates);
	if (!err && !candidates.count)
		err = nothing(&candidates);
	rcore_error_free(candidates.unusable);
	if (err) {
		free(candidates.list);
		return err;
	}
	*ret = candidates.list;
	*ret_count = candidates.count;
	return NULL;
}
