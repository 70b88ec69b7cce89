/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_INSTRUCTION_H
#define RCORE_IMAGE_INSTRUCTION_H

/*
 * image/unwind/code/ reads machine code: the memory on which an instruction
 * works, and what a prologue has pushed. It includes target/ only.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault.h"
#include "target/process.h"

/* The longest instruction. */
enum { RCORE_INSTRUCTION_SIZE = 15 };

/* The memory on which an instruction works. */
struct rcore_operand {
	enum rcore_access access;
	bool has_address; /* x86-64 only */
	uint64_t address; /* of its first byte */
};

/*
 * Finds the operand of the instruction at the start of `code`, of which `size`
 * bytes are available, from the registers before it ran, in the order of
 * rcore_native_thread. If an instruction reads one place and writes another,
 * like movs, the one at `fault` counts. Returns false if it does not access
 * memory, or is not known here.
 *
 * Intel SDM volume 2, chapter 2 and appendix A: a table says which opcodes read
 * and which write, for the maps that compilers and the C library use (one byte,
 * 0F, 0F 38, 0F 3A; with VEX, without EVEX). Arm ARM, C4.1 "Loads and stores".
 */
bool rcore_instruction_operand(unsigned machine, const uint8_t *code, size_t size,
			       const uint64_t registers[RCORE_MAX_REGISTERS], uint64_t fault,
			       struct rcore_operand *ret);

/*
 * Returns "rdi" or "x0"; NULL if no general register has that index in
 * rcore_native_thread.registers.
 */
const char *rcore_register_name(unsigned machine, int index);

#endif
