/* SPDX-License-Identifier: MIT */
#include "image/symbolize/symbolize_dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "base/order.h"
#include "image/symbolize/debug_sections.h"

enum {
	/*
	 * Of one unit or function; with one section per function, some 1,000.
	 */
	MAX_RANGES = 1 << 16,
	MAX_DEPTH = 256, /* of blocks in a function */
};

/* The code of a DIE, at the addresses in the file. */
struct range {
	uint64_t low, high;
	Dwarf_Die die;
};

struct ranges {
	struct range *items;
	size_t count, capacity;
};

/* A compilation unit that was looked up. */
struct unit {
	Dwarf_Die die;           /* has the lines */
	struct ranges functions; /* by low */
};

struct rcore_units {
	Dwfl_Module *module;
	Dwarf_Addr bias;
	/* Maps a unit's DIE in this process to its index in `units`. */
	struct rcore_address_map at;
	struct {
		struct unit *items;
		size_t count, capacity;
	} units;
	bool listed;
	/* Of all units, for files without .debug_aranges; sorted by low. */
	struct ranges list;
};

static int by_low(const void *left, const void *right)
{
	const struct range *a = left, *b = right;
	return a->low < b->low ? -1 : a->low > b->low;
}

static void sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->items, ranges->count, sizeof(*ranges->items), by_low);
}

static bool add_ranges(struct ranges *ranges, Dwarf_Die *die)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t offset = 0;
	for (int i = 0; i < MAX_RANGES; i++) {
		offset = dwarf_ranges(die, offset, &base, &low, &high);
		if (offset <= 0)
			break;
		struct range *range = rcore_push(ranges);
		if (!range)
			return false;
		*range = (struct range){low, high, *die};
	}
	return true;
}

static const struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(ranges->count, middle,
					   ranges->items[middle].low <= address);
	return low && address < ranges->items[low - 1].high ? &ranges->items[low - 1] : NULL;
}

struct rcore_units *rcore_units_new(Dwfl_Module *module)
{
	Dwarf_Addr bias;
	struct rcore_units *units = NULL;
	rcore_debug_sections_hide(module);
	if (dwfl_module_getdwarf(module, &bias))
		units = calloc(1, sizeof(*units));
	if (!units)
		return NULL;
	units->module = module;
	units->bias = bias;
	return units;
}

void rcore_units_free(struct rcore_units *units)
{
	if (!units)
		return;
	for (size_t i = 0; i < units->units.count; i++)
		free(units->units.items[i].functions.items);
	free(units->units.items);
	free(units->list.items);
	rcore_address_map_deinit(&units->at);
	free(units);
}

static int add_function(Dwarf_Die *die, void *functions)
{
	return add_ranges(functions, die) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* With split DWARF, the functions are in another file. */
static Dwarf_Die with_functions(Dwarf_Die *die)
{
	Dwarf_Die other;
	uint8_t type;
	if (!dwarf_cu_info(die->cu, NULL, &type, NULL, &other, NULL, NULL, NULL) &&
	    type == DW_UT_skeleton && other.addr)
		return other;
	return *die;
}

static Dwarf_Die *find_listed(struct rcore_units *units, uint64_t address)
{
	if (!units->listed) {
		Dwarf_Die *die = NULL;
		Dwarf_Addr bias;
		while ((die = dwfl_module_nextcu(units->module, die, &bias)))
			if (!add_ranges(&units->list, die))
				break;
		sort(&units->list);
		units->listed = true;
	}
	const struct range *range = find_range(&units->list, address - units->bias);
	return range ? (Dwarf_Die *)&range->die : NULL;
}

static struct unit *find_unit(struct rcore_units *units, uint64_t address)
{
	Dwarf_Addr bias;
	Dwarf_Die *die = dwfl_module_addrdie(units->module, address, &bias);
	/* libdwfl counts gaps between units as part of the one before. */
	if (!die || dwarf_haspc(die, address - units->bias) <= 0)
		die = find_listed(units, address);
	if (!die)
		return NULL;
	int index = rcore_address_map_get(&units->at, (uintptr_t)die->addr);
	if (index >= 0)
		return &units->units.items[index];
	index = (int)units->units.count;
	struct unit *unit = rcore_push(&units->units);
	if (!unit || !rcore_address_map_put(&units->at, (uintptr_t)die->addr, index))
		return NULL;
	unit->die = *die;
	Dwarf_Die functions = with_functions(die);
	dwarf_getfuncs(&functions, add_function, &unit->functions, 0);
	sort(&unit->functions);
	return unit;
}

/* Finds the child of a block or function that has code at the address. */
static bool find_child(Dwarf_Die *parent, uint64_t address, Dwarf_Die *ret)
{
	Dwarf_Die child;
	int status = dwarf_child(parent, &child);
	for (; status == 0; status = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);
		if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
		    dwarf_haspc(&child, address) > 0) {
			*ret = child;
			return true;
		}
	}
	return false;
}

static int number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;
	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value) ||
	    value > INT32_MAX)
		return 0;
	return (int)value;
}

/* Finds where the function was inlined into the one around it. */
static void call_site(struct unit *unit, Dwarf_Die *inlined, struct rcore_source *ret)
{
	Dwarf_Files *files;
	size_t count;
	int index = number(inlined, DW_AT_call_file);
	ret->line = number(inlined, DW_AT_call_line);
	if (ret->line && !dwarf_getsrcfiles(&unit->die, &files, &count) &&
	    (size_t)index < count)
		ret->file = dwarf_filesrc(files, (size_t)index, NULL, NULL);
}

static void source_line(struct unit *unit, uint64_t address, struct rcore_source *ret)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
	if (!line || dwarf_lineno(line, &ret->line))
		return;
	ret->file = dwarf_linesrc(line, NULL, NULL);
}

size_t rcore_units_find(struct rcore_units *units, uint64_t address,
			struct rcore_source ret[RCORE_MAX_INLINED + 1])
{
	struct unit *unit = find_unit(units, address);
	if (!unit)
		return 0;
	address -= units->bias;
	/* Outermost first; reversed at the end. */
	struct rcore_source sources[RCORE_MAX_INLINED + 1] = {{0}};
	size_t count = 1;
	const struct range *function = find_range(&unit->functions, address);
	if (function) {
		Dwarf_Die die = function->die;
		sources[0].function = dwarf_diename(&die);
		for (int depth = 0; depth < MAX_DEPTH && find_child(&die, address, &die);
		     depth++) {
			if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
				continue;
			if (count > RCORE_MAX_INLINED)
				break;
			call_site(unit, &die, &sources[count - 1]);
			sources[count++].function = dwarf_diename(&die);
		}
	}
	source_line(unit, address, &sources[count - 1]);
	for (size_t i = 0; i < count; i++)
		ret[i] = sources[count - 1 - i];
	return count;
}
