/* SPDX-License-Identifier: MIT */
#include "session/layout/layouts.h"

#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "layout/schema.h"
#include "layout/store.h"

/*
 * The user's table is the only candidate. If it is for another release, the
 * layout is approximate.
 */
static struct rcore_error *from_user(const char *file, unsigned machine,
				     const unsigned version[3], struct rcore_layouts *ret)
{
	ret->items = calloc(1, sizeof(*ret->items));
	struct rcore_layout *layout = ret->items;
	struct rcore_error *err =
		layout ? rcore_layout_read(file, layout) : rcore_error_no_memory();
	if (!err && layout->machine != machine) {
		const char *name = rcore_machine_name(machine);
		err = rcore_error_create(RCORE_ERROR_NO_LAYOUT,
					 "%s is a table for %s, but the target runs on %s",
					 file, rcore_machine_name(layout->machine),
					 name ? name : "another machine");
	}
	if (err)
		return err;
	if (!rcore_layout_measures(layout, version))
		layout->source = RCORE_LAYOUT_APPROXIMATE;
	ret->count = 1;
	return NULL;
}

/* The layout that passed its proofs on the machine that wrote the pack. */
static struct rcore_error *from_pack(const struct rcore_pack_facts *pack,
				     struct rcore_layouts *ret)
{
	static const char *const names[] = {
		[RCORE_LAYOUT_DWARF] = "dwarf",
		[RCORE_LAYOUT_EXACT] = "exact",
		[RCORE_LAYOUT_APPROXIMATE] = "approximate",
	};
	ret->items = calloc(1, sizeof(*ret->items));
	struct rcore_error *err =
		ret->items ? rcore_layout_parse(pack->layout, "the pack", &ret->items[0])
			   : rcore_error_no_memory();
	if (err)
		return err;
	ret->items[0].source = RCORE_LAYOUT_APPROXIMATE;
	for (size_t i = 0; i < RCORE_COUNT(names); i++)
		if (pack->layout_source && !strcmp(pack->layout_source, names[i]))
			ret->items[0].source = (enum rcore_layout_source)i;
	ret->count = 1;
	return NULL;
}

struct rcore_error *rcore_session_layouts(const struct rcore_target *target,
					  const struct rcore_identity *identity,
					  const char *file, struct rcore_layouts *ret)
{
	unsigned machine = target->process->machine;
	if (file)
		return from_user(file, machine, identity->version, ret);
	if (target->pack && target->pack->layout)
		return from_pack(target->pack, ret);

	const char *debug = rcore_module_debug_file(target->modules, identity->module);
	struct rcore_layout own;
	struct rcore_error *err =
		debug ? rcore_layout_from_dwarf_kept(debug, identity->version, &own) : NULL;
	bool has_own = debug && !err;
	rcore_error_free(err);

	err = rcore_layout_candidates(identity->version, machine, &ret->items, &ret->count);
	if (!has_own)
		return err;
	if (!err && ret->count)
		rcore_layout_complete(&own, &ret->items[0]);
	rcore_error_free(err);
	struct rcore_layout *items =
		reallocarray(ret->items, ret->count + 1, sizeof(*ret->items));
	if (!items)
		return rcore_error_no_memory();
	memmove(items + 1, items, ret->count * sizeof(*items));
	items[0] = own;
	ret->items = items;
	ret->count++;
	return NULL;
}
