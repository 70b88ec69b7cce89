/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_MACHINE_H
#define RCORE_IMAGE_UNWIND_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/unwind/prologue.h"

/* What unwinding has to know of a machine. Registers have their DWARF numbers.
 * To add a machine, add its row to the table in unwind_machine.c. */
enum { RCORE_MAX_DWARF_REGISTERS = 32 };

struct rcore_jump {
	uint64_t from, to;
	bool is_conditional;
};

/*
 * Where code is about to go on that has left its frame already. Registers have
 * their DWARF numbers.
 */
struct rcore_landing {
	unsigned pc; /* the register that holds the address */
	unsigned fp; /* that which holds the frame pointer */
};

/*
 * Where code that YJIT made has what it needs (unwind_compiled.h). Registers
 * have their DWARF numbers.
 */
struct rcore_compiled {
	unsigned ec;          /* the EC, while it runs; 0: no such code here */
	unsigned ec_argument; /* the EC, when C calls it */
	/* Those of the caller that it saves, in this order. */
	unsigned saved[3];
	uint64_t kept; /* bit n: it leaves register n as it is */
};

struct rcore_unwind_machine {
	unsigned machine; /* EM_* */
	unsigned register_count;
	unsigned sp, fp; /* DWARF numbers */
	/*
	 * The register that a call leaves the return address in; -1: the stack.
	 */
	int link;
	/*
	 * The number under which call frame information computes with the pc,
	 * as that of x86-64's PLT stubs does; -1: the machine has none.
	 */
	int pc;

	/*
	 * One that functions keep and libdw forgets; -1: none. x86_64_abi_cfi()
	 * of elfutils (seen in 0.188) names 0, which is rax, where it means
	 * rbx.
	 */
	int forgotten;

	/* Places in elf_gregset_t, words. */
	unsigned char gregset[RCORE_MAX_DWARF_REGISTERS];
	unsigned char gregset_pc;

	/*
	 * The kernel's signal frame: where the registers lie from the sp that
	 * the restorer runs with, bytes to the first and words from there.
	 */
	unsigned signal_base;
	unsigned char signal[RCORE_MAX_DWARF_REGISTERS];
	unsigned char signal_pc;
	/* RCORE_RESTORER_BYTES of them. */
	bool (*is_restorer)(const uint8_t *code);

	/* Do the bytes that end at a return address end with a call? */
	bool (*is_call)(const uint8_t *end, size_t size);

	/*
	 * Is this a jump to a place that it tells itself? Instructions begin at
	 * multiples of code_step.
	 */
	size_t code_step;
	bool (*is_jump)(const uint8_t *code, size_t size, struct rcore_jump *jump);

	/*
	 * The place of the first call or jump from `at` on in `code`, which
	 * runs at `address`, that leads to `target`, whatever of it is data;
	 * `size`: there is none.
	 */
	size_t (*find_branch)(const uint8_t *code, size_t size, uint64_t address, size_t at,
			      uint64_t target, bool *is_call);

	/*
	 * Does pc stand in the last instructions of __builtin_longjmp, which
	 * CRuby raises with: sp is that of where it goes, and what call frame
	 * information says of it here holds no longer? RCORE_LANDING_BYTES lie
	 * before `pc`, and as many from it on.
	 */
	bool (*is_landing)(const uint8_t *pc, struct rcore_landing *ret);

	/* rcore_prologue_x86(), or its like; NULL: none. */
	bool (*find_frame)(const uint8_t *code, size_t size, bool starts,
			   struct rcore_prologue *ret);

	struct rcore_compiled compiled;
	/* rcore_epilogue_x86(), or its like; NULL: none. */
	bool (*find_return)(const uint8_t *code, size_t size, size_t *words);

	/* Does a function that begins so keep a frame pointer? */
	bool (*has_frame_pointer)(const uint8_t *code, size_t size);
};

enum {
	RCORE_RESTORER_BYTES = 9,
	RCORE_CALL_BYTES = 8,
	RCORE_PROLOGUE_BYTES = 16,
	RCORE_JUMP_BYTES = 6,
	RCORE_LANDING_BYTES = 12
};

/* NULL: not covered. */
const struct rcore_unwind_machine *rcore_unwind_machine(unsigned machine);

/* Registers of one frame. */
struct rcore_unwind_registers {
	uint64_t value[RCORE_MAX_DWARF_REGISTERS];
	uint64_t known; /* bit n: value[n] */
	uint64_t pc;
};

static inline bool rcore_register_known(const struct rcore_unwind_registers *registers,
					unsigned number)
{
	return registers->known >> number & 1;
}

static inline void rcore_register_set(struct rcore_unwind_registers *registers, unsigned number,
				      uint64_t value)
{
	registers->value[number] = value;
	registers->known |= UINT64_C(1) << number;
}

#endif
