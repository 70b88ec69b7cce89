/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"
#include "layout/store.h"

#include <stdlib.h>
#include <string.h>

/* How many patch levels off; 0 for those that it was measured on. */
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

/* Whether the table called `name`, "3.3.1..3.3.6-x86_64-cet", is of this minor release and machine. */
static bool concerns(const char *name, const unsigned version[3], unsigned machine)
{
	const char *wanted = rcore_machine_name(machine);
	unsigned of_table[3], last_patch;
	char range[RCORE_RANGE_TEXT];
	size_t length = strcspn(name, "-"), machine_length = wanted ? strlen(wanted) : 0;

	if (!wanted || length >= sizeof(range) || name[length] != '-' ||
	    strncmp(name + length + 1, wanted, machine_length) ||
	    (name[length + 1 + machine_length] && name[length + 1 + machine_length] != '-'))
		return false;
	memcpy(range, name, length);
	range[length] = '\0';
	return rcore_version_range_parse(range, of_table, &last_patch) &&
	       of_table[0] == version[0] && of_table[1] == version[1];
}

/* Before which of the candidates so far `layout` goes: the nearer release first;
 * of two as near, the newer; builds of one release in the order of the tables. */
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
	struct rcore_error *err, *unusable; /* `unusable`: a file of the user's folder */
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
	return rcore_error_create(
		RCORE_ERROR_NO_LAYOUT,
		"no layout for Ruby %u.%u.%u on %s: install its debug information, or print a "
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
