/* SPDX-License-Identifier: MIT */
#include "image/unwind/va_list.h"

#include <elf.h>
#include <string.h>

enum {
	SLOT = 8,
	FIRST = SLOT,          /* in the save area: rdi is the first argument */
	GENERAL = 6 * SLOT,    /* rdi to r9 */
	VECTORS_END = 176,     /* the save area with xmm0 to xmm7 */
	LARGEST_FRAME = 16384, /* of a function that prints a message */
	/* How far before the call an argument may be loaded. */
	CODE_SIZE = 64,
};

bool rcore_va_list_find(struct rcore_memory *memory, unsigned machine, uint64_t sp,
			uint64_t cfa, struct rcore_va_list *ret)
{
	if (machine != EM_X86_64 || cfa <= sp || cfa - sp > LARGEST_FRAME)
		return false;
	/*
	 * gp_offset and fp_offset in one word, overflow_arg_area,
	 * reg_save_area.
	 */
	for (uint64_t at = sp; at + 3 * SLOT <= cfa; at += SLOT) {
		uint64_t offsets, stack, area;
		if (rcore_read_u64(memory, at, &offsets) ||
		    rcore_read_u64(memory, at + SLOT, &stack) ||
		    rcore_read_u64(memory, at + 2 * SLOT, &area))
			return false;
		uint32_t general = (uint32_t)offsets, vectors = (uint32_t)(offsets >> 32);
		if (general < FIRST || general > GENERAL || general % SLOT ||
		    vectors < GENERAL || vectors > VECTORS_END || stack < cfa ||
		    stack - cfa > LARGEST_FRAME || area < sp || area + VECTORS_END > cfa + SLOT)
			continue;
		*ret = (struct rcore_va_list){memory, area + FIRST, area + GENERAL, cfa};
		return true;
	}
	return false;
}

bool rcore_va_list_next(struct rcore_va_list *list, uint64_t *ret)
{
	bool in_registers = list->registers < list->registers_end;
	uint64_t *at = in_registers ? &list->registers : &list->stack;
	if (rcore_read_u64(list->memory, *at, ret))
		return false;
	*at += SLOT;
	return true;
}

uint64_t rcore_constant_argument(struct rcore_memory *memory, unsigned machine, uint64_t pc)
{
	/* lea disp32(%rip),%rdi */
	static const uint8_t load[] = {0x48, 0x8d, 0x3d};
	uint8_t code[CODE_SIZE];
	int32_t displacement;
	enum { LOAD_SIZE = sizeof(load) + sizeof(displacement) };
	if (machine != EM_X86_64 || pc < CODE_SIZE ||
	    rcore_read(memory, pc - CODE_SIZE, code, sizeof(code)))
		return 0;
	for (size_t i = CODE_SIZE - LOAD_SIZE + 1; i-- > 0;) {
		if (memcmp(code + i, load, sizeof(load)))
			continue;
		memcpy(&displacement, code + i + sizeof(load), sizeof(displacement));
		return pc - CODE_SIZE + i + LOAD_SIZE + (uint64_t)(int64_t)displacement;
	}
	return 0;
}
