/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_return.h"

#include <string.h>

uint64_t rcore_walk_code_address(struct rcore_unwinder *unwinder, uint64_t address)
{
	/*
	 * The bits of a process's addresses; the next bit distinguishes its
	 * half from the kernel's.
	 */
	static const unsigned char bits[] = {48, 39};
	if (unwinder->machine->link < 0 || !(address >> 48) || address >> 55 & 1)
		return address;
	for (size_t i = 0; i < sizeof(bits); i++) {
		uint64_t plain = address & ((UINT64_C(1) << bits[i]) - 1);
		if (rcore_native_module_at(unwinder->native, plain))
			return plain;
	}
	return address;
}

enum rcore_fault rcore_walk_read_code(const struct rcore_walk *walk, uint64_t pc, size_t before,
				      size_t after, uint8_t *code)
{
	enum { PAGE = 4096 };
	struct rcore_memory *memory = &walk->unwinder->memory.memory;
	uint64_t start = pc - before, end = pc + after, page = (after ? pc : pc - 1) / PAGE;
	enum rcore_fault fault = rcore_read(memory, start, code, before + after);
	if (!fault || start > end)
		return fault;
	memset(code, 0, before + after);
	uint64_t from = start / PAGE == page ? start : page * PAGE;
	uint64_t to = (end - 1) / PAGE == page ? end : (page + 1) * PAGE;
	return rcore_read(memory, from, code + (from - start), (size_t)(to - from));
}

bool rcore_walk_is_return(struct rcore_walk *walk, uint64_t address)
{
	struct rcore_unwinder *unwinder = walk->unwinder;
	uint8_t code[RCORE_CALL_BYTES];
	if (address < sizeof(code) || !rcore_native_module_at(unwinder->native, address - 1) ||
	    rcore_walk_read_code(walk, address, sizeof(code), 0, code) ||
	    !unwinder->machine->is_call(code + sizeof(code), sizeof(code)))
		return false;
	const struct rcore_site *site = rcore_site_at(unwinder->sites, address - 1);
	return site && site->covered;
}

bool rcore_walk_is_start(struct rcore_walk *walk, uint64_t address)
{
	const struct rcore_site *site = rcore_site_at(walk->unwinder->sites, address);
	return site && site->covered && site->fde_start == address;
}
