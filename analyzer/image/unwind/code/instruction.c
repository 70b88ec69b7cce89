/* SPDX-License-Identifier: MIT */
#include "image/unwind/code/instruction.h"

#include <elf.h>
#include <string.h>

#include "base/count.h"
#include "image/unwind/code/instruction_private.h"

/*
 * In the order of elf_gregset_t. orig_rax, the flags and the segments have no
 * name here.
 */
static const char *const x86_names[] = {"r15", "r14", "r13", "r12", "rbp", "rbx", "r11", "r10",
					"r9",  "r8",  "rax", "rcx", "rdx", "rsi", "rdi"};
static const char *const arm_names[] = {"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",
					"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					"x24", "x25", "x26", "x27", "x28", "x29", "x30"};

const char *rcore_register_name(unsigned machine, int index)
{
	if (machine == EM_X86_64 && index >= 0 && (size_t)index < RCORE_COUNT(x86_names))
		return x86_names[index];
	if (machine == EM_AARCH64 && index >= 0 && (size_t)index < RCORE_COUNT(arm_names))
		return arm_names[index];
	return NULL;
}

/* Returns bits `low` to `high` of an instruction of aarch64. */
static uint32_t bits(uint32_t word, int high, int low)
{
	return word >> low & ((UINT32_C(1) << (high - low + 1)) - 1);
}

static enum rcore_access of_arm(uint32_t word)
{
	bool is_load = bits(word, 22, 22);
	/* op0 x1x0: loads and stores. */
	if ((bits(word, 28, 25) & 5) != 4)
		return RCORE_ACCESS_UNKNOWN;
	switch (bits(word, 29, 28)) {
	case 0: /* exclusive and ordered accesses, vector structures */
	case 2: /* pairs */
		return is_load ? RCORE_ACCESS_READ : RCORE_ACCESS_WRITE;
	case 1:
		if (!bits(word, 24, 24)) /* relative to the pc */
			return RCORE_ACCESS_READ;
		return is_load ? RCORE_ACCESS_READ : RCORE_ACCESS_WRITE;
	default:
		break;
	}
	/*
	 * One register. opc 00 is a store; so is 10 with 128 bits of a vector.
	 */
	bool is_vector = bits(word, 26, 26),
	     is_atomic = !bits(word, 24, 24) && bits(word, 21, 21) && !bits(word, 11, 10);
	uint32_t opc = bits(word, 23, 22);
	if (is_atomic && !is_vector)
		return RCORE_ACCESS_WRITE;
	return !opc || (is_vector && opc == 2) ? RCORE_ACCESS_WRITE : RCORE_ACCESS_READ;
}

bool rcore_instruction_operand(unsigned machine, const uint8_t *code, size_t size,
			       const uint64_t registers[RCORE_MAX_REGISTERS], uint64_t fault,
			       struct rcore_operand *ret)
{
	struct rcore_operand operand = {0};
	uint32_t word;
	if (machine == EM_X86_64) {
		rcore_instruction_x86(code, size, registers, fault, &operand);
	} else if (machine == EM_AARCH64 && size >= sizeof(word)) {
		memcpy(&word, code, sizeof(word));
		operand.access = of_arm(word);
	}
	*ret = operand;
	return operand.access != RCORE_ACCESS_UNKNOWN;
}
