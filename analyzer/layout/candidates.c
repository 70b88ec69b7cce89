/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"
#include "layout/tables.h"

#include <stdlib.h>
#include <string.h>

const char *rcore_layout_builtin(size_t index, const char **name)
{
	size_t count = 0;

	while (rcore_layout_tables[count].name)
		count++;
	if (index >= count)
		return NULL;
	*name = rcore_layout_tables[index].name;
	return rcore_layout_tables[index].text;
}

/* How many patch levels off; 0 for those that it was measured on. */
static unsigned distance(const struct rcore_layout *layout, unsigned patch)
{
	if (patch < layout->version[2])
		return layout->version[2] - patch;
	return patch > layout->last_patch ? patch - layout->last_patch : 0;
}

/* Whether the table called `name`, "3.3.1..3.3.6-x86_64-cet", is of this minor release. */
static bool same_minor(const char *name, const unsigned version[3])
{
	char text[RCORE_RANGE_TEXT];
	unsigned of_table[3], last_patch;
	size_t length = strcspn(name, "-");

	if (length >= sizeof(text))
		return false;
	memcpy(text, name, length);
	text[length] = '\0';
	return rcore_version_range_parse(text, of_table, &last_patch) &&
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
	const char *name, *text;

	for (size_t i = 0; (text = rcore_layout_builtin(i, &name)); i++) {
		struct rcore_layout layout;
		if (!same_minor(name, version))
			continue;
		err = rcore_layout_parse(text, name, &layout);
		if (err)
			break;
		if (layout.machine != machine)
			continue;
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
