/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_machine.h"

#include <elf.h>
#include <string.h>

#include "base/count.h"
#include "image/unwind/signal_frame.h"

/*
 * call rel32, or FF /2: an opcode, ModRM, and possibly SIB and a displacement
 */
static bool is_x86_call(const uint8_t *end, size_t size)
{
	if (size >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t length = 2; length <= 7 && length <= size; length++) {
		const uint8_t *code = end - length;
		if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
			continue;
		unsigned mod = code[1] >> 6, rm = code[1] & 7;
		bool sib = mod != 3 && rm == 4;
		if (length < 2u + sib)
			continue;
		bool far = mod == 2 || (!mod && rm == 5) || (!mod && sib && (code[2] & 7) == 5);
		if (length == 2u + sib + (far ? 4 : mod == 1))
			return true;
	}
	return false;
}

/* jmp rel32; jcc rel32. Within one section, they may be shorter. */
static bool is_x86_jump(const uint8_t *code, size_t size, struct rcore_jump *jump)
{
	jump->is_conditional = size >= 6 && code[0] == 0x0f && (code[1] & 0xf0) == 0x80;
	if (!jump->is_conditional && (size < 5 || code[0] != 0xe9))
		return false;
	size_t length = jump->is_conditional ? 6 : 5;
	int32_t distance;
	memcpy(&distance, code + length - sizeof(distance), sizeof(distance));
	jump->to = jump->from + length + (uint64_t)(int64_t)distance;
	return true;
}

/*
 * call rel32, jmp rel32, jcc rel32. Tests the distance first, which is rarely
 * the right one.
 */
static size_t find_x86_branch(const uint8_t *code, size_t size, uint64_t address, size_t at,
			      uint64_t target, bool *is_call)
{
	uint32_t wanted = (uint32_t)(target - address - sizeof(wanted)), distance;
	for (size_t i = at + 1; i + sizeof(distance) <= size; i++) {
		memcpy(&distance, code + i, sizeof(distance));
		if (distance != wanted - (uint32_t)i)
			continue;
		*is_call = code[i - 1] == 0xe8;
		if (*is_call || code[i - 1] == 0xe9)
			return i - 1;
		if (i >= at + 2 && code[i - 2] == 0x0f && (code[i - 1] & 0xf0) == 0x80)
			return i - 2;
	}
	return size;
}

/* push %rbp; mov %rsp,%rbp; possibly after endbr64 */
static bool has_x86_frame_pointer(const uint8_t *code, size_t size)
{
	if (size >= 8 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4)) {
		code += 4;
		size -= 4;
	}
	return size >= 4 &&
	       (!memcmp(code, "\x55\x48\x89\xe5", 4) || !memcmp(code, "\x55\x48\x8b\xec", 4));
}

/*
 * DWARF's register numbers by the numbers in instructions: rax rcx rdx rbx rsp
 * rbp rsi rdi
 */
static unsigned x86_register(uint8_t number, bool is_extended)
{
	static const unsigned char low[] = {0, 2, 1, 3, 7, 6, 4, 5};
	return is_extended ? 8u + number : low[number];
}

/* mov MEMORY,%rsp; mov %reg,%rsp */
static bool ends_with_x86_rsp(const uint8_t *end)
{
	enum { RSP = 4 };
	const size_t LEAST = 3, MOST = 8;
	for (size_t length = LEAST; length <= MOST; length++) {
		const uint8_t *code = end - length;
		unsigned mod = code[2] >> 6, rm = code[2] & 7;
		if ((code[0] & 0xfe) != 0x48)
			continue;
		if (code[1] == 0x89 && mod == 3 && rm == RSP && code[0] == 0x48 &&
		    length == LEAST)
			return true;
		if (code[1] != 0x8b || mod == 3 || (code[2] >> 3 & 7) != RSP)
			continue;
		bool far = mod == 2 || (!mod && rm == 5);
		if (length == LEAST + (rm == RSP) + (far ? 4 : mod == 1))
			return true;
	}
	return false;
}

/* mov %reg,%rbp */
static bool is_x86_fp(const uint8_t *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x89 && (code[2] & 0xc7) == 0xc5;
}

/* jmp *%reg */
static bool is_x86_indirect(const uint8_t *code, unsigned *ret)
{
	bool is_extended = code[0] == 0x41;
	code += is_extended;
	*ret = x86_register(code[1] & 7, is_extended);
	return code[0] == 0xff && (code[1] & 0xf8) == 0xe0;
}

/*
 * The three instructions in the order in which GCC's expand_builtin_longjmp()
 * writes them.
 */
static bool is_x86_landing(const uint8_t *pc, struct rcore_landing *ret)
{
	enum { MOV = 3 };
	if (ends_with_x86_rsp(pc) && is_x86_fp(pc) && is_x86_indirect(pc + MOV, &ret->pc)) {
		ret->fp = x86_register(pc[2] >> 3 & 7, pc[0] & 4);
		return true;
	}
	ret->fp = x86_register(5, false);
	return is_x86_fp(pc - MOV) && ends_with_x86_rsp(pc - MOV) &&
	       is_x86_indirect(pc, &ret->pc);
}

/* call *%rdx */
static bool is_x86_entry_call(const uint8_t *end)
{
	return end[-2] == 0xff && end[-1] == 0xd2;
}

static uint32_t instruction(const uint8_t *code)
{
	uint32_t value;
	memcpy(&value, code, sizeof(value));
	return value;
}

/* mov x8, #139 (rt_sigreturn); svc #0 */
static bool is_arm_restorer(const uint8_t *code)
{
	return instruction(code) == 0xd2801168 && instruction(code + 4) == 0xd4000001;
}

/* bl; blr; blraa and similar ones */
static bool is_arm_call(const uint8_t *end, size_t size)
{
	if (size < 4)
		return false;
	uint32_t code = instruction(end - 4);
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

/* blr x2 */
static bool is_arm_entry_call(const uint8_t *end)
{
	return instruction(end - 4) == 0xd63f0040;
}

/* The `width` bits from `low` on, signed, times 4. */
static uint64_t distance(uint32_t code, unsigned low, unsigned width)
{
	return (uint64_t)((int64_t)((uint64_t)code << (64 - low - width)) >> (64 - width)) * 4;
}

/* b; b.cond; cbz, cbnz; tbz, tbnz */
static bool is_arm_jump(const uint8_t *bytes, size_t size, struct rcore_jump *jump)
{
	uint32_t code = size < 4 ? 0 : instruction(bytes);
	jump->is_conditional = true;
	if ((code & 0xfc000000) == 0x14000000) {
		jump->is_conditional = false;
		jump->to = jump->from + distance(code, 0, 26);
	} else if ((code & 0xff000010) == 0x54000000 || (code & 0x7e000000) == 0x34000000) {
		jump->to = jump->from + distance(code, 5, 19);
	} else if ((code & 0x7e000000) == 0x36000000) {
		jump->to = jump->from + distance(code, 5, 14);
	} else {
		return false;
	}
	return true;
}

/* bl; b */
static size_t find_arm_branch(const uint8_t *code, size_t size, uint64_t address, size_t at,
			      uint64_t target, bool *is_call)
{
	for (size_t i = at; i + 4 <= size; i += 4) {
		uint32_t word = instruction(code + i);
		if ((word & 0x7c000000) != 0x14000000 ||
		    address + i + distance(word, 0, 26) != target)
			continue;
		*is_call = word >> 31;
		return i;
	}
	return size;
}

/* mov sp, xA; mov x29, xB; br xC */
static bool is_arm_landing(const uint8_t *pc, struct rcore_landing *ret)
{
	const uint8_t *jump = pc + 4;
	if ((instruction(pc) & 0xfffffc1f) == 0xd61f0000)
		jump = pc;
	uint32_t sp = instruction(jump - 8), fp = instruction(jump - 4);
	ret->fp = jump == pc ? 29 : fp >> 16 & 31;
	ret->pc = instruction(jump) >> 5 & 31;
	return (sp & 0xfffffc1f) == 0x9100001f && (fp & 0xffe0ffff) == 0xaa0003fd &&
	       (instruction(jump) & 0xfffffc1f) == 0xd61f0000;
}

/*
 * The procedure call standard requires every function that saves x30 to keep a
 * frame record.
 */
static bool has_arm_frame_pointer(const uint8_t *code, size_t size)
{
	return true;
}

static const struct rcore_unwind_machine machines[] = {
	{
		.machine = EM_X86_64,
		/* Rax rdx rcx rbx rsi rdi rbp rsp r8 ... r15. */
		.register_count = 16,
		.sp = 7,
		.fp = 6,
		.link = -1,
		.pc = 16,
		.forgotten = 3,
		.gregset = {10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0},
		.gregset_pc = 16,
		/*
		 * Relative to the ucontext; struct sigcontext of
		 * asm/sigcontext.h.
		 */
		.signal_base = 40,
		.signal = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7},
		.signal_pc = 16,
		.is_restorer = rcore_is_x86_restorer,
		.is_call = is_x86_call,
		.code_step = 1,
		.is_jump = is_x86_jump,
		.find_branch = find_x86_branch,
		.has_frame_pointer = has_x86_frame_pointer,
		.is_landing = is_x86_landing,
		.find_frame = rcore_prologue_x86,
		/* r12; rdi; r13 r12 rbx; rbp r14 r15 */
		.compiled = {12, 5, {13, 12, 3}, 1 << 6 | 1 << 14 | 1 << 15},
		.find_return = rcore_epilogue_x86,
		/* r13 rbx r12; r12 r14 r15 */
		.records = {{13, 3, 12},
			    1 << 12 | 1 << 14 | 1 << 15,
			    is_x86_entry_call,
			    rcore_unset_record_x86},
	},
	{
		.machine = EM_AARCH64,
		.register_count = 32, /* x0 ... x30 sp */
		.sp = 31,
		.fp = 29,
		.link = 30,
		.pc = -1,
		.forgotten = -1,
		.gregset = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
		.gregset_pc = 32,
		/*
		 * Relative to the siginfo, which the ucontext and the fault
		 * address follow.
		 */
		.signal_base = 312,
		.signal = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
			   16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
		.signal_pc = 32,
		.is_restorer = is_arm_restorer,
		.is_call = is_arm_call,
		.code_step = 4,
		.is_jump = is_arm_jump,
		.find_branch = find_arm_branch,
		.has_frame_pointer = has_arm_frame_pointer,
		.is_landing = is_arm_landing,
		/* x19 x21 x20; x20, and from x22 on */
		.records = {{19, 21, 20}, 1 << 20 | 0x7f << 22, is_arm_entry_call, NULL},
	},
};

const struct rcore_unwind_machine *rcore_unwind_machine(unsigned machine)
{
	for (size_t i = 0; i < RCORE_COUNT(machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}
