/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include <stdlib.h>
#include <string.h>

/* How many patch levels off; 0 for those that it was measured on. */
static unsigned distance(const struct rcore_layout *layout, unsigned patch)
{
	if (patch < layout->version[2])
		return layout->version[2] - patch;
	return patch > layout->last_patch ? patch - layout->last_patch : 0;
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

static struct rcore_error *nothing(const unsigned version[3], unsigned machine)
{
	const char *name = rcore_machine_name(machine);
	return rcore_error_create(
		RCORE_ERROR_NO_LAYOUT,
		"no layout for Ruby %u.%u.%u on %s: install its debug information, or print a "
		"table from a build that has it ('rcore layout FILE > TABLE') and pass "
		"--layout TABLE",
		version[0], version[1], version[2], name ? name : "this machine");
}

struct rcore_error *rcore_layout_candidates(const unsigned version[3], unsigned machine,
					    struct rcore_layout **ret, size_t *ret_count)
{
	struct rcore_layout *list = NULL;
	struct rcore_error *err = NULL;
	size_t count = 0;
	const char *name;

	for (size_t i = 0; (name = rcore_layout_builtin_name(i)); i++) {
		struct rcore_layout layout;
		if (!concerns(name, version, machine))
			continue;
		err = rcore_layout_builtin(i, &layout);
		if (err)
			break;
		struct rcore_layout *grown = realloc(list, (count + 1) * sizeof(*list));
		if (!grown) {
			err = rcore_error_no_memory();
			break;
		}
		list = grown;
		if (distance(&layout, version[2]))
			layout.source = RCORE_LAYOUT_APPROXIMATE;
		size_t at = place(list, count, &layout, version[2]);
		memmove(&list[at + 1], &list[at], (count - at) * sizeof(*list));
		list[at] = layout;
		count++;
	}
	if (!err && !count)
		err = nothing(version, machine);
	if (err) {
		free(list);
		return err;
	}
	*ret = list;
	*ret_count = count;
	return NULL;
}
