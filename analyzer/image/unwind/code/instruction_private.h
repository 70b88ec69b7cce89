/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_INSTRUCTION_PRIVATE_H
#define RCORE_IMAGE_INSTRUCTION_PRIVATE_H

#include "image/unwind/code/instruction.h"

/* See rcore_instruction_operand(). */
void rcore_instruction_x86(const uint8_t *code, size_t size,
			   const uint64_t registers[RCORE_MAX_REGISTERS], uint64_t fault,
			   struct rcore_operand *ret);

#endif
