/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "image/unwind/code/instruction_private.h"

/*
 * What an opcode does with its memory operand. r reads, w writes (or does
 * both), . has none. Depending on the reg field of ModRM: a is group 1 (cmp
 * reads, the others write), t group 3, i groups 4 and 5, b group 8, f the
 * groups of x87, x group 15. Without ModRM: for strings, s is rsi (read), d rdi
 * (written), q rdi (read), m copies from one to the other, c compares both; o
 * is an address of 64 bits; p pushes, u pops, l leaves.
 */
/* clang-format off */
static const char one_byte[] =
	/*	 01234567 89abcdef */
	/* 0 */ "wwrr....wwrr...."
	/* 1 */ "wwrr....wwrr...."
	/* 2 */ "wwrr....wwrr...."
	/* 3 */ "wwrr....rrrr...."
	/* 4 */ "................"
	/* 5 */ "ppppppppuuuuuuuu"
	/* 6 */ "...r....prpr...."
	/* 7 */ "................"
	/* 8 */ "aaaarrwwwwrrw.rw"
	/* 9 */ "............pu.."
	/* a */ "oooommcc..ddssqq"
	/* b */ "................"
	/* c */ "wwuu..ww.l......"
	/* d */ "wwww....ffffffff"
	/* e */ "........p......."
	/* f */ "......tt......ii";
static const char after_0f[] =
	/* 0 */ "................"
	/* 1 */ "rwrwrrrw........"
	/* 2 */ "........rwrwrrrr"
	/* 3 */ "................"
	/* 4 */ "rrrrrrrrrrrrrrrr"
	/* 5 */ ".rrrrrrrrrrrrrrr"
	/* 6 */ "rrrrrrrrrrrrrrrr"
	/* 7 */ "r...rrr.....rrww"
	/* 8 */ "................"
	/* 9 */ "wwwwwwwwwwwwwwww"
	/* a */ "...rww.....wwwxr"
	/* b */ "wwrwrrrrr.bwrrrr"
	/* c */ "wwrwr.rw........"
	/* d */ "rrrrrrw.rrrrrrrr"
	/* e */ "rrrrrrrwrrrrrrrr"
	/* f */ "rrrrrrr.rrrrrrr.";
/* clang-format on */

/* Nearly all of 0F 38 and 0F 3A read; these write. */
static const uint8_t writes_38[] = {0x2e, 0x2f, 0x8e, 0xf1};
static const uint8_t writes_3a[] = {0x14, 0x15, 0x16, 0x17, 0x19, 0x1d, 0x39};

/* According to the reg field. */
static char of_group(char group, uint8_t opcode, unsigned reg)
{
	/* x87, d8 to df: these store. */
	static const uint8_t stores[] = {0x00, 0xcc, 0x00, 0x8e, 0x00, 0xce, 0x00, 0xce};
	switch (group) {
	case 'a':
		return reg == 7 ? 'r' : 'w';
	case 't':
		return reg == 2 || reg == 3 ? 'w' : 'r';
	case 'i':
		return reg < 2 ? 'w' : 'r';
	case 'b':
		return reg == 4 ? 'r' : 'w';
	case 'f':
		return stores[opcode & 7] >> reg & 1 ? 'w' : 'r';
	case 'x': /* fxsave, stmxcsr, xsave, xsaveopt */
		return reg == 0 || reg == 3 || reg == 4 || reg == 6 ? 'w' : 'r';
	default:
		return group;
	}
}

/* The index in elf_gregset_t of the registers that ModRM and SIB number. */
static const int order[] = {10, 11, 12, 5, 19, 4, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0};
enum { RBP = 4, RSI = 13, RDI = 14, RSP = 19, RIP = 16, FS_BASE = 21, GS_BASE = 22, SLOT = 8 };

struct cursor {
	const uint8_t *code;
	size_t at, size;
	const uint64_t *registers;
	unsigned rex; /* W R X B, from bit 3 down */
	bool is_repeated, has_66;
	int segment; /* index of its base; -1: that is 0 */
	unsigned map;
	uint8_t opcode;
	bool is_vex;
};

static bool take(struct cursor *cursor, uint8_t *ret)
{
	if (cursor->at >= cursor->size)
		return false;
	*ret = cursor->code[cursor->at++];
	return true;
}

static int64_t take_signed(struct cursor *cursor, size_t size)
{
	int32_t word = 0;
	int8_t byte = 0;
	if (cursor->at + size > cursor->size)
		return 0;
	if (size == 1)
		memcpy(&byte, cursor->code + cursor->at, 1);
	else
		memcpy(&word, cursor->code + cursor->at, 4);
	cursor->at += size;
	return size == 1 ? byte : word;
}

/* Reads the byte after the prefixes. */
static bool skip_prefixes(struct cursor *cursor, uint8_t *byte)
{
	while (take(cursor, byte)) {
		if (*byte == 0x66)
			cursor->has_66 = true;
		else if (*byte == 0xf2 || *byte == 0xf3)
			cursor->is_repeated = *byte == 0xf3;
		else if (*byte == 0x64 || *byte == 0x65)
			cursor->segment = *byte == 0x64 ? FS_BASE : GS_BASE;
		else if (!memchr("\x67\xf0\x2e\x36\x3e\x26", *byte, 6))
			break;
	}
	if ((*byte & 0xf0) != 0x40)
		return cursor->at <= cursor->size;
	cursor->rex = *byte & 15;
	return take(cursor, byte);
}

static bool take_vex(struct cursor *cursor, uint8_t first)
{
	uint8_t one, two = 0;
	if (!take(cursor, &one) || (first == 0xc4 && !take(cursor, &two)))
		return false;
	unsigned pp = (first == 0xc4 ? two : one) & 3;
	cursor->is_vex = true;
	cursor->rex = first == 0xc4 ? (~one >> 5 & 7) | (two >> 7) << 3 : (~one >> 7 & 1) << 2;
	cursor->map = first == 0xc4 ? one & 31 : 1;
	cursor->is_repeated = pp == 2;
	cursor->has_66 = pp == 1;
	return cursor->map <= 3 && take(cursor, &cursor->opcode);
}

static bool take_opcode(struct cursor *cursor)
{
	uint8_t byte = 0;
	if (!skip_prefixes(cursor, &byte))
		return false;
	if (byte == 0xc4 || byte == 0xc5)
		return take_vex(cursor, byte);
	cursor->opcode = byte;
	if (byte != 0x0f)
		return true;
	cursor->map = 1;
	if (!take(cursor, &cursor->opcode))
		return false;
	if (cursor->opcode != 0x38 && cursor->opcode != 0x3a)
		return true;
	cursor->map = cursor->opcode == 0x38 ? 2 : 3;
	return take(cursor, &cursor->opcode);
}

static char access_of(const struct cursor *cursor)
{
	switch (cursor->map) {
	case 0:
		return one_byte[cursor->opcode];
	case 1:
		/* movq to a vector */
		if (cursor->opcode == 0x7e && cursor->is_repeated)
			return 'r';
		return after_0f[cursor->opcode];
	case 2:
		/*
		 * movbe stores; crc32 (f2), which reads, is not distinguished
		 * here
		 */
		return memchr(writes_38, cursor->opcode, sizeof(writes_38)) ? 'w' : 'r';
	default:
		return memchr(writes_3a, cursor->opcode, sizeof(writes_3a)) ? 'w' : 'r';
	}
}

/*
 * Returns the size of the immediate that follows. An address relative to rip is
 * relative to its end.
 */
static int immediate_size(const struct cursor *cursor, unsigned reg)
{
	uint8_t opcode = cursor->opcode;
	if (cursor->map == 3)
		return 1;
	if (cursor->map == 1)
		return memchr("\x70\x71\x72\x73\xa4\xac\xba\xc2\xc4\xc5\xc6", opcode, 11) ? 1
											  : 0;
	if (cursor->map == 2)
		return 0;
	if (memchr("\x6b\x80\x83\xc0\xc1\xc6", opcode, 6) || (opcode == 0xf6 && reg < 2))
		return 1;
	if (memchr("\x69\x81\xc7", opcode, 3) || (opcode == 0xf7 && reg < 2))
		return cursor->has_66 ? 2 : 4;
	return 0;
}

/* Reads the operand of ModRM. Returns false if it is a register. */
static bool take_operand(struct cursor *cursor, unsigned *reg, uint64_t *ret)
{
	uint8_t modrm, sib;
	if (!take(cursor, &modrm) || modrm >> 6 == 3)
		return false;
	unsigned mode = modrm >> 6, base = modrm & 7;
	uint64_t address = 0;
	*reg = modrm >> 3 & 7;
	if (base == 4) {
		if (!take(cursor, &sib))
			return false;
		unsigned index = (sib >> 3 & 7) | (cursor->rex & 2) << 2;
		base = sib & 7;
		if (index != 4)
			address += cursor->registers[order[index]] << (sib >> 6);
		if (base == 5 && !mode)
			address += (uint64_t)take_signed(cursor, 4);
		else
			address += cursor->registers[order[base | (cursor->rex & 1) << 3]];
	} else if (base == 5 && !mode) {
		address += (uint64_t)take_signed(cursor, 4) + cursor->registers[RIP] +
			   cursor->at + (unsigned)immediate_size(cursor, *reg);
	} else {
		address += cursor->registers[order[base | (cursor->rex & 1) << 3]];
	}
	if (mode)
		address += (uint64_t)take_signed(cursor, mode == 1 ? 1 : 4);
	if (cursor->segment >= 0)
		address += cursor->registers[cursor->segment];
	*ret = address;
	return true;
}

static void set(struct rcore_operand *operand, bool writes, uint64_t address)
{
	*operand = (struct rcore_operand){writes ? RCORE_ACCESS_WRITE : RCORE_ACCESS_READ, true,
					  address};
}

void rcore_instruction_x86(const uint8_t *code, size_t size,
			   const uint64_t registers[RCORE_MAX_REGISTERS], uint64_t fault,
			   struct rcore_operand *ret)
{
	struct cursor cursor = {
		.code = code, .size = size, .registers = registers, .segment = -1};
	uint64_t address, rsi = registers[RSI], rdi = registers[RDI], rsp = registers[RSP];
	unsigned reg;
	if (!take_opcode(&cursor))
		return;
	char access = access_of(&cursor);
	switch (access) {
	case '.':
		return;
	case 's':
		set(ret, false, rsi);
		return;
	case 'd':
		set(ret, true, rdi);
		return;
	case 'q':
		set(ret, false, rdi);
		return;
	case 'm':
	case 'c':
		set(ret, access == 'm' && fault == rdi && rsi != rdi, fault == rdi ? rdi : rsi);
		return;
	case 'l':
		set(ret, false, registers[RBP]);
		return;
	case 'o':
		if (cursor.at + sizeof(address) > size)
			return;
		memcpy(&address, code + cursor.at, sizeof(address));
		set(ret, cursor.opcode >= 0xa2, address);
		return;
	case 'p':
		set(ret, true, rsp - SLOT);
		return;
	case 'u':
		set(ret, false, rsp);
		return;
	default:
		if (!take_operand(&cursor, &reg, &address))
			return;
		set(ret, of_group(access, cursor.opcode, reg) == 'w', address);
	}
}
