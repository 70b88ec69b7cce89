/* SPDX-License-Identifier: MIT */
#include "image/unwind/code/prologue.h"

#include <string.h>

#include "base/count.h"

enum { RSP = 4, SLOT = 8, MAX_FRAME = 4096, REGISTERS = 16 };

/*
 * DWARF's register numbers by the numbers in instructions: rax rcx rdx rbx rsp
 * rbp rsi rdi r8 ...
 */
static const unsigned char dwarf[REGISTERS] = {0, 2, 1,  3,  7,  6,  4,  5,
					       8, 9, 10, 11, 12, 13, 14, 15};

static void save(struct rcore_prologue *frame, unsigned number, uint64_t below)
{
	frame->saved |= UINT64_C(1) << dwarf[number];
	frame->below[dwarf[number]] = below;
}

static void restore(struct rcore_prologue *frame, unsigned number)
{
	frame->saved &= ~(UINT64_C(1) << dwarf[number]);
}

/* push %reg; pop %reg */
static size_t run_push(const uint8_t *code, size_t size, struct rcore_prologue *frame)
{
	size_t prefix = code[0] == 0x41;
	if (size < prefix + 1 || (code[prefix] & 0xf0) != 0x50)
		return 0;
	unsigned number = (code[prefix] & 7) | (unsigned)prefix << 3;
	if (code[prefix] & 8) {
		frame->size -= SLOT;
		restore(frame, number);
	} else {
		frame->size += SLOT;
		save(frame, number, frame->size);
	}
	return prefix + 1;
}

/* sub $imm,%rsp; add $imm,%rsp */
static size_t run_add(const uint8_t *code, size_t size, struct rcore_prologue *frame)
{
	int8_t byte;
	int32_t word;
	bool is_short = size >= 4 && code[1] == 0x83;
	if (size < 4 || code[0] != 0x48 || (!is_short && (size < 7 || code[1] != 0x81)) ||
	    (code[2] != 0xec && code[2] != 0xc4))
		return 0;
	memcpy(&byte, code + 3, sizeof(byte));
	if (!is_short)
		memcpy(&word, code + 3, sizeof(word));
	int64_t distance = is_short ? byte : word;
	frame->size += (uint64_t)(code[2] == 0xec ? distance : -distance);
	return is_short ? 4 : 7;
}

/*
 * mov %reg,disp(%rsp), and the reverse; mov %rsp,(%reg); mov (%reg),%rsp; mov
 * %reg,%rax
 */
static size_t run_mov(const uint8_t *code, size_t size, struct rcore_prologue *frame)
{
	if (size < 3 || (code[0] & 0xf8) != 0x48 || (code[1] != 0x89 && code[1] != 0x8b))
		return 0;
	bool is_load = code[1] == 0x8b;
	unsigned mode = code[2] >> 6, base = code[2] & 7;
	unsigned number = (code[2] >> 3 & 7) | (code[0] & 4u) << 1;
	if (mode == 3)
		return !is_load && base == 0 && !(code[0] & 1) ? 3 : 0;
	if (base != RSP)
		return !mode && base != 5 && number == RSP ? 3 : 0;
	size_t length = mode == 1 ? 5 : 4;
	if (mode > 1 || size < length || code[3] != 0x24 || number == RSP)
		return 0;
	int8_t offset = 0;
	if (mode)
		memcpy(&offset, code + 4, sizeof(offset));
	if (is_load)
		restore(frame, number);
	else
		save(frame, number, frame->size - (uint64_t)(int64_t)offset);
	return length;
}

/* endbr64 */
static size_t run_mark(const uint8_t *code, size_t size, struct rcore_prologue *frame)
{
	return size >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4) ? 4 : 0;
}

/* Whether only these instructions come before the end of `code`. */
static bool run(const uint8_t *code, size_t size, struct rcore_prologue *ret)
{
	static size_t (*const kinds[])(const uint8_t *, size_t, struct rcore_prologue *) = {
		run_push, run_add, run_mov, run_mark};
	*ret = (struct rcore_prologue){0};
	for (size_t at = 0; at < size;) {
		size_t length = 0;
		for (size_t i = 0; !length && i < RCORE_COUNT(kinds); i++)
			length = kinds[i](code + at, size - at, ret);
		at += length;
		if (!length || at > size || ret->size > MAX_FRAME)
			return false;
	}
	return true;
}

/* ret, or padding */
static bool ends_function(uint8_t byte)
{
	return byte == 0xc3 || byte == 0x90 || byte == 0xcc || !byte;
}

bool rcore_prologue_x86(const uint8_t *code, size_t size, bool starts,
			struct rcore_prologue *ret)
{
	if (starts)
		return run(code, size, ret);
	for (size_t start = 1; start < size; start++)
		if (ends_function(code[start - 1]) && run(code + start, size - start, ret))
			return true;
	return false;
}

/* mov $imm,%eax; mov $imm,%rax; mov %reg,%rax */
static size_t run_result(const uint8_t *code, size_t size)
{
	static const struct {
		uint8_t code[3], mask[3];
		unsigned char bytes, length;
	} kinds[] = {
		{{0xb8}, {0xff}, 1, 5},
		{{0x48, 0xb8}, {0xff, 0xff}, 2, 10},
		{{0x48, 0xc7, 0xc0}, {0xff, 0xff, 0xff}, 3, 7},
		{{0x48, 0x89, 0xc0}, {0xfb, 0xff, 0xc7}, 3, 3},
	};
	for (size_t i = 0; i < RCORE_COUNT(kinds); i++) {
		size_t same = 0;
		while (same < kinds[i].bytes && same < size &&
		       (code[same] & kinds[i].mask[same]) == kinds[i].code[same])
			same++;
		if (same == kinds[i].bytes)
			return kinds[i].length;
	}
	return 0;
}

bool rcore_epilogue_x86(const uint8_t *code, size_t size, size_t *words)
{
	enum { RET = 0xc3, POP = 0x58, POPS = 0xf8 };
	*words = 0;
	for (size_t at = 0; at < size;) {
		if (code[at] == RET)
			return true;
		size_t prefix = code[at] == 0x41;
		size_t length = run_result(code + at, size - at);
		if (!length && at + prefix < size && (code[at + prefix] & POPS) == POP) {
			length = prefix + 1;
			++*words;
		}
		if (!length)
			return false;
		at += length;
	}
	return false;
}

bool rcore_unset_record_x86(const uint8_t *pc, size_t size, size_t *words)
{
	enum { PUSH = 0x55, POP = 0x5d, MOV = 3, JUMP = 5, LOAD = 10 };
	static const uint8_t mov[] = {0x48, 0x89, 0xe5}; /* mov %rsp,%rbp */
	/*
	 * Of a method that is not compiled yet: mov $imm,%r11; jmp TRAMPOLINE.
	 */
	static const uint8_t load[] = {0x49, 0xbb};
	/* ... which continues in what was compiled: jmp *%r11. */
	static const uint8_t jump[] = {0x41, 0xff, 0xe3};
	if (size < LOAD + JUMP)
		return false;
	*words = pc[-1] == PUSH && !memcmp(pc, mov, MOV);
	if (*words || (pc[0] == PUSH && memcmp(pc - MOV, mov, MOV)) ||
	    !memcmp(pc, jump, sizeof(jump)) ||
	    (!memcmp(pc, load, sizeof(load)) && pc[LOAD] == 0xe9) ||
	    (!memcmp(pc - LOAD, load, sizeof(load)) && pc[0] == 0xe9))
		return true;
	return rcore_epilogue_x86(pc, size, words) &&
	       (!*words || (*words == 1 && pc[0] == POP));
}
