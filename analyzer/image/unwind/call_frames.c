/* SPDX-License-Identifier: MIT */
#include "image/unwind/call_frames.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

/*
 * .eh_frame_hdr and .eh_frame as the Linux Standard Base describes them, with
 * the encodings that GNU ld and LLVM's linker write.
 */
enum {
	KNOWN_FORMAT = 1,
	ENCODED_PCREL = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
	MAX_BYTES = 1 << 14, /* the kernel's vdso has some 300 */
	MAX_DESCRIPTIONS = 256,
	MAX_REGISTER = 127, /* the last vector register of aarch64 is 95 */
	MAX_REMEMBERED = 8, /* states on the stack of one description */
};

struct header {
	uint8_t format, frames_encoding, count_encoding, table_encoding;
	int32_t frames; /* relative to itself */
	uint32_t count; /* of descriptions */
};

struct cursor {
	const uint8_t *at, *end;
	bool failed;
};

static uint64_t take(struct cursor *cursor, size_t size)
{
	uint64_t value = 0;
	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->failed = true;
		return 0;
	}
	memcpy(&value, cursor->at, size);
	cursor->at += size;
	return value;
}

/* Reads a LEB128 of at most 32 bits. */
static uint32_t take_number(struct cursor *cursor)
{
	enum { BITS = 7, MORE = 1 << BITS, LAST = 28 };
	uint32_t value = 0;
	for (unsigned shift = 0; shift <= LAST; shift += BITS) {
		uint32_t byte = (uint32_t)take(cursor, 1);
		value |= (byte & (MORE - 1)) << shift;
		if (!(byte & MORE))
			return value;
	}
	cursor->failed = true;
	return 0;
}

static void take_register(struct cursor *cursor)
{
	if (take_number(cursor) > MAX_REGISTER)
		cursor->failed = true;
}

/*
 * The operands of each instruction: r is a register, n a number, 1 2 4 are that
 * many bytes. All other instructions, such as those with an expression, are
 * refused.
 */
static const char *const operands[] = {
	[DW_CFA_nop] = "",
	[DW_CFA_advance_loc1] = "1",
	[DW_CFA_advance_loc2] = "2",
	[DW_CFA_advance_loc4] = "4",
	[DW_CFA_offset_extended] = "rn",
	[DW_CFA_restore_extended] = "r",
	[DW_CFA_undefined] = "r",
	[DW_CFA_same_value] = "r",
	[DW_CFA_register] = "rr",
	[DW_CFA_remember_state] = "",
	[DW_CFA_restore_state] = "",
	[DW_CFA_def_cfa] = "rn",
	[DW_CFA_def_cfa_register] = "r",
	[DW_CFA_def_cfa_offset] = "n",
	[DW_CFA_offset_extended_sf] = "rn",
	[DW_CFA_def_cfa_sf] = "rn",
	[DW_CFA_def_cfa_offset_sf] = "n",
	/* aarch64: DW_CFA_AARCH64_negate_ra_state. */
	[DW_CFA_GNU_window_save] = "",
	[DW_CFA_GNU_args_size] = "n",
};

static void take_instruction(struct cursor *cursor, unsigned *remembered)
{
	enum { PRIMARY = 0xc0 };
	uint8_t code = (uint8_t)take(cursor, 1);
	switch (code & PRIMARY) {
	case DW_CFA_offset:
		take_number(cursor);
		return;
	case DW_CFA_advance_loc:
	case DW_CFA_restore:
		return;
	}
	*remembered += code == DW_CFA_remember_state;
	if (code == DW_CFA_restore_state && !(*remembered)--)
		cursor->failed = true;
	if (code >= RCORE_COUNT(operands) || !operands[code] || *remembered > MAX_REMEMBERED) {
		cursor->failed = true;
		return;
	}
	for (const char *operand = operands[code]; *operand; operand++)
		switch (*operand) {
		case 'r':
			take_register(cursor);
			break;
		case 'n':
			take_number(cursor);
			break;
		default:
			take(cursor, (size_t)(*operand - '0'));
		}
}

static bool are_instructions(struct cursor cursor)
{
	unsigned remembered = 0;
	while (cursor.at < cursor.end && !cursor.failed)
		take_instruction(&cursor, &remembered);
	return !cursor.failed;
}

/*
 * Whether this is a common information entry (CIE), after its length and its
 * zero.
 */
static bool is_common(struct cursor cursor)
{
	/* "z": one byte, how addresses are encoded. */
	enum { VERSION = 1, DATA = 1 };
	bool known = take(&cursor, 1) == VERSION && take(&cursor, 1) == 'z' &&
		     take(&cursor, 1) == 'R';
	uint64_t end = take(&cursor, 1);
	if (end == 'S') /* it describes a signal frame */
		end = take(&cursor, 1);
	take_number(&cursor);
	take_number(&cursor);
	/* the register of the return address */
	if (take(&cursor, 1) > MAX_REGISTER)
		return false;
	return known && !end && take_number(&cursor) == DATA &&
	       take(&cursor, 1) == ENCODED_PCREL && !cursor.failed && are_instructions(cursor);
}

/*
 * Whether this is the description of a function (FDE), after its length and the
 * offset of its CIE.
 */
static bool is_description(struct cursor cursor)
{
	take(&cursor, sizeof(uint32_t)); /* the function's start */
	take(&cursor, sizeof(uint32_t)); /* its size */
	return !take_number(&cursor) && !cursor.failed && are_instructions(cursor);
}

/*
 * Returns how many bytes the first `count` descriptions have, with everything
 * before them; 0 if they are not sound.
 */
static size_t extent(const uint8_t *bytes, size_t size, uint32_t count)
{
	struct cursor all = {bytes, bytes + size, false};
	size_t common[MAX_DESCRIPTIONS], commons = 0;
	while (count) {
		size_t start = (size_t)(all.at - bytes);
		uint32_t length = (uint32_t)take(&all, sizeof(length));
		struct cursor entry = {all.at, all.at + length, false};
		/*
		 * A length that exceeds the memory, 0 for the end, or
		 * UINT32_MAX for the 64-bit format.
		 */
		if (all.failed || length < sizeof(uint32_t) ||
		    length > (size_t)(all.end - all.at))
			return 0;
		size_t place = (size_t)(entry.at - bytes);
		uint32_t back = (uint32_t)take(&entry, sizeof(back));
		all.at += length;
		if (!back) {
			if (commons == MAX_DESCRIPTIONS || !is_common(entry))
				return 0;
			common[commons++] = start;
			continue;
		}
		size_t i = 0;
		while (i < commons && common[i] + back != place)
			i++;
		if (i == commons || !is_description(entry))
			return 0;
		count--;
	}
	return (size_t)(all.at - bytes);
}

/*
 * Reads as much as there is, up to a limit, because .eh_frame does not contain
 * its length.
 */
static size_t read_most(struct rcore_memory *memory, uint64_t address, uint64_t end,
			uint8_t *bytes)
{
	size_t size = end - address < MAX_BYTES ? (size_t)(end - address) : MAX_BYTES;
	return rcore_read(memory, address, bytes, size) ? 0 : size;
}

bool rcore_call_frames_read(struct rcore_memory *memory, uint64_t bias,
			    const struct rcore_elf_headers *headers,
			    struct rcore_call_frames *ret)
{
	const GElf_Phdr *item = rcore_elf_headers_find(headers, PT_GNU_EH_FRAME);
	uint64_t low, high;
	struct header header;
	*ret = (struct rcore_call_frames){0};
	if (!item || !rcore_elf_headers_extent(headers, &low, &high) ||
	    rcore_read(memory, bias + item->p_vaddr, &header, sizeof(header)) ||
	    header.format != KNOWN_FORMAT || header.frames_encoding != ENCODED_PCREL ||
	    header.count_encoding != DW_EH_PE_udata4 || !header.count ||
	    header.count > MAX_DESCRIPTIONS)
		return false;
	uint64_t address = item->p_vaddr + offsetof(struct header, frames) +
			   (uint64_t)(int64_t)header.frames;
	if (address < low || address >= high)
		return false;
	uint8_t *bytes = malloc(MAX_BYTES);
	if (!bytes)
		return false;
	size_t size = extent(bytes, read_most(memory, bias + address, bias + high, bytes),
			     header.count);
	if (!size) {
		free(bytes);
		return false;
	}
	*ret = (struct rcore_call_frames){bytes, size, address};
	return true;
}
