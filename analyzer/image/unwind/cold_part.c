/* SPDX-License-Identifier: MIT */
#include "image/unwind/cold_part.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_site.h"

enum { CODE_LIMIT = 64 << 10 }; /* of one function */

static void search(struct rcore_sites *sites, struct rcore_native_module *module,
		   uint64_t function)
{
	const struct rcore_unwind_machine *machine =
		rcore_unwind_machine(sites->native->machine);
	uint8_t code[4096 + RCORE_JUMP_BYTES];
	uint64_t start, end;
	if (!rcore_native_module_fde(module, function, &start, &end) || start != function)
		return;
	if (end - start > CODE_LIMIT)
		end = start + CODE_LIMIT;
	for (uint64_t at = start; at < end; at += 4096) {
		size_t left = end - at;
		size_t size = left < sizeof(code) ? left : sizeof(code);
		if (rcore_read(sites->native->memory, at, code, size))
			return;
		for (size_t i = 0; i < size && i < 4096; i += machine->code_step) {
			struct rcore_jump jump = {.from = at + i};
			if (!machine->is_jump(code + i, size - i, &jump) ||
			    (start <= jump.to && jump.to < end))
				continue;
			struct rcore_jump *kept = rcore_push(&module->jumps);
			if (!kept) {
				sites->no_memory = true;
				return;
			}
			*kept = jump;
			kept->from = function;
		}
	}
}

static void search_module(struct rcore_sites *sites, const struct rcore_functions *functions,
			  struct rcore_native_module *module)
{
	for (size_t i = 0; i < functions->count; i++) {
		uint64_t function = functions->starts[i];
		if (rcore_address_map_get(&module->searched, function) >= 0 ||
		    rcore_native_module_at(sites->native, function) != module)
			continue;
		if (rcore_address_map_put(&module->searched, function, 0))
			search(sites, module, function);
		else
			sites->no_memory = true;
	}
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

static bool has(const struct rcore_functions *functions, uint64_t start)
{
	return bsearch(&start, functions->starts, functions->count, sizeof(start), compare);
}

bool rcore_can_be_called(struct rcore_sites *sites, uint64_t address)
{
	const struct rcore_unwind_machine *machine =
		rcore_unwind_machine(sites->native->machine);
	const struct rcore_site *site = rcore_site_at(sites, address);
	return !site || !site->covered ||
	       (site->base_register == (int)machine->sp &&
		site->base_offset == (machine->link < 0 ? sizeof(uint64_t) : 0));
}

/*
 * Whether a function begins there that others may tail-call; or a stub of the
 * linker. Call frame information has one entry for all stubs, which computes
 * with the pc.
 */
static bool is_entry(struct rcore_sites *sites, uint64_t address)
{
	const struct rcore_site *site = rcore_site_at(sites, address);
	return !site || rcore_can_be_called(sites, address) || site->base_register < 0;
}

uint64_t rcore_cold_part_of(struct rcore_sites *sites, const struct rcore_functions *functions,
			    const struct rcore_site *site)
{
	struct rcore_native_module *module = site->module;
	uint64_t start, end, found = 0;
	if (!functions || !functions->count || !module || !site->fde_start ||
	    !rcore_native_module_fde(module, site->address, &start, &end))
		return 0;
	search_module(sites, functions, module);
	for (size_t i = 0; i < module->jumps.count; i++) {
		const struct rcore_jump *jump = &module->jumps.items[i];
		if (jump->to < start || jump->to >= end ||
		    (!jump->is_conditional && is_entry(sites, jump->to)) ||
		    !has(functions, jump->from))
			continue;
		if (found && found != jump->from)
			return 0;
		found = jump->from;
	}
	return found;
}
