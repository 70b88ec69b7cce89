/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_site.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/unwind/unwind_machine.h"

void rcore_sites_deinit(struct rcore_sites *sites)
{
	rcore_symbolizer_deinit(&sites->symbolizer);
	rcore_address_map_deinit(&sites->at);
	free(sites->list.items);
	rcore_arena_deinit(&sites->arena);
	free((void *)sites->functions.starts);
	*sites = (struct rcore_sites){0};
}

bool rcore_sites_set_functions(struct rcore_sites *sites,
			       const struct rcore_functions *functions, uint64_t one)
{
	size_t count = functions ? functions->count : 0, i = 0;
	uint64_t *starts = malloc((count + 1) * sizeof(*starts));
	if (!starts)
		return false;
	for (; i < count && (!one || functions->starts[i] < one); i++)
		starts[i] = functions->starts[i];
	if (one)
		starts[i] = one;
	for (; i < count; i++)
		starts[i + 1] = functions->starts[i];
	count += one != 0;
	sites->generation += count != sites->functions.count ||
			     (count && memcmp(starts, sites->functions.starts,
					      count * sizeof(*starts)) != 0);
	free((void *)sites->functions.starts);
	sites->functions = (struct rcore_functions){starts, count};
	return true;
}

/*
 * libdw says that a register's value is lost by returning no operations, in the
 * caller's buffer.
 */
static bool is_undefined(Dwarf_Frame *frame, int number)
{
	Dwarf_Op buffer[3], *operations;
	size_t count;
	return number >= 0 &&
	       !dwarf_frame_register(frame, number, buffer, &operations, &count) && !count &&
	       operations == buffer;
}

/*
 * libdw expresses "saved at offset N from the frame address" as two operations.
 */
static bool is_saved(Dwarf_Frame *frame, int number, uint64_t *offset)
{
	Dwarf_Op buffer[3], *operations;
	size_t count;
	if (dwarf_frame_register(frame, number, buffer, &operations, &count) || count != 2 ||
	    operations[0].atom != DW_OP_call_frame_cfa ||
	    operations[1].atom != DW_OP_plus_uconst)
		return false;
	*offset = operations[1].number;
	return true;
}

static void look_up(struct rcore_site *site, Dwarf_Frame *frame)
{
	const struct rcore_unwind_machine *machine =
		rcore_unwind_machine(site->module->all->machine);
	Dwarf_Op *operations;
	size_t count;
	int link = dwarf_frame_info(frame, NULL, NULL, &site->is_signal);
	site->covered = true;
	site->is_outermost = is_undefined(frame, link);
	if (!dwarf_frame_cfa(frame, &operations, &count) && count == 1 &&
	    operations->atom == DW_OP_bregx && operations->number < 64 &&
	    (int)operations->number != machine->pc) {
		site->base_register = (int)operations->number;
		site->base_offset = operations->number2;
	}
	uint64_t offset;
	site->saves_link = is_saved(frame, link, &offset);
	site->saves_fp = is_saved(frame, (int)machine->fp, &site->fp_offset);
	/* Of a signal's frame, libdwfl keeps more than its registers. */
	if (!site->is_signal && site->base_register >= 0)
		rcore_row_init(&site->row, frame, machine);
	free(frame);
}

/*
 * Searches in the order of libdwfl: first the section that is loaded with the
 * code, then .debug_frame.
 */
static bool find_cover(struct rcore_site *site)
{
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	uint64_t end;
	Dwarf_CFI *cfi = dwfl_module_eh_cfi(site->module->dwfl, &bias);
	if (cfi && !dwarf_cfi_addrframe(cfi, site->address - bias, &frame)) {
		look_up(site, frame);
		if (!rcore_native_module_fde(site->module, site->address, &site->fde_start,
					     &end))
			site->fde_start = 0;
		return true;
	}
	/* The next call may set errno for another reason. */
	if (rcore_lacks_memory())
		return false;
	cfi = dwfl_module_dwarf_cfi(site->module->dwfl, &bias);
	if (!cfi || dwarf_cfi_addrframe(cfi, site->address - bias, &frame))
		return false;
	look_up(site, frame);
	return true;
}

struct rcore_site *rcore_site_at(struct rcore_sites *sites, uint64_t address)
{
	int index = rcore_address_map_get(&sites->at, address);
	if (index >= 0)
		return sites->list.items[index];
	struct rcore_site *site = rcore_arena_alloc(&sites->arena, sizeof(*site));
	struct rcore_site **slot = NULL;
	if (site) {
		site->address = address;
		site->base_register = -1;
		/* libdw finds nothing if it has no memory. */
		errno = 0;
		site->module = rcore_native_module_at(sites->native, address);
		bool is_known = (site->module && find_cover(site)) || !rcore_lacks_memory();
		is_known = is_known && !sites->native->lacks_memory;
		slot = is_known ? rcore_push(&sites->list) : NULL;
	}
	if (!slot || !rcore_address_map_put(&sites->at, address, (int)sites->list.count - 1)) {
		sites->no_memory = true;
		return NULL;
	}
	*slot = site;
	return site;
}
