/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_INSTRUCTION_H
#define RCORE_IMAGE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/fault.h"
#include "target/process.h"

/* An instruction has no more bytes than these. */
enum { RCORE_INSTRUCTION_SIZE = 15 };

/* What of memory an instruction works on. */
struct rcore_operand {
	enum rcore_access access;
	bool has_address; /* x86-64 alone */
	uint64_t address; /* of its first byte */
};

/*
 * Of the instruction at the start of `code` (`size` bytes of it are at hand)
 * with the registers before it ran, in the order of rcore_native_thread. Of one
 * that reads one place and writes another, as movs does, that at `fault`
 * counts. false: it works on no memory, or is none that is known here.
 *
 * Intel SDM volume 2, chapter 2 and appendix A: which opcodes read and which
 * write is a table, of the maps that compilers and the C library use (one byte,
 * 0F, 0F 38, 0F 3A; with VEX, without EVEX). Arm ARM, C4.1 "Loads and stores".
 */
bool rcore_instruction_operand(unsigned machine, const uint8_t *code, size_t size,
			       const uint64_t registers[RCORE_MAX_REGISTERS], uint64_t fault,
			       struct rcore_operand *ret);

/*
 * "rdi", "x0"; NULL: no general register has that index in
 * rcore_native_thread.registers.
 */
const char *rcore_register_name(unsigned machine, int index);

#endif
