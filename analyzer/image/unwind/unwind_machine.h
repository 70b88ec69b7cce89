/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_MACHINE_H
#define RCORE_IMAGE_UNWIND_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/unwind/code/prologue.h"

/*
 * What unwinding needs to know about a machine. Registers have their DWARF
 * numbers. To add a machine, add a row to the table in unwind_machine.c.
 */
enum { RCORE_MAX_DWARF_REGISTERS = 32 };

struct rcore_jump {
	uint64_t from, to;
	bool is_conditional;
};

/*
 * Where code that has already left its frame is about to continue. Registers
 * have their DWARF numbers.
 */
struct rcore_landing {
	unsigned pc; /* the register that contains the address */
	unsigned fp; /* the register that contains the frame pointer */
};

/*
 * The registers that code compiled by YJIT uses (unwind_compiled.h), by their
 * DWARF numbers.
 */
struct rcore_compiled {
	unsigned ec;          /* the EC, while it runs; 0: not supported here */
	unsigned ec_argument; /* the EC, when C calls it */
	/* The caller's registers that it saves, in this order. */
	unsigned saved[3];
	uint64_t kept; /* bit n: it does not change register n */
};

/*
 * The registers that code compiled by ZJIT uses (unwind_records.h), by their
 * DWARF numbers.
 */
struct rcore_records {
	/*
	 * Those of C that the trampoline saves, in this order, below the frame
	 * pointer.
	 */
	unsigned saved[3];
	uint64_t kept; /* bit n: all code leaves register n as it is */
	/*
	 * Whether the call that ends at a return address is the trampoline's.
	 * NULL if the machine has no such code.
	 */
	bool (*is_entry_call)(const uint8_t *end);
	/*
	 * rcore_unset_record_x86() or a similar function; NULL if there is
	 * none.
	 */
	bool (*find_unset)(const uint8_t *pc, size_t size, size_t *words);
};

struct rcore_unwind_machine {
	unsigned machine; /* EM_* */
	unsigned register_count;
	unsigned sp, fp; /* DWARF numbers */
	/*
	 * The register with the return address of a call; -1 if it is on the
	 * stack.
	 */
	int link;
	/*
	 * The number of the pc in call frame information, which x86-64's PLT
	 * stubs use; -1 if the machine has none.
	 */
	int pc;

	/*
	 * A callee-saved register that libdw forgets; -1 if there is none.
	 * x86_64_abi_cfi() of elfutils (seen in 0.188) names 0, which is rax,
	 * instead of rbx.
	 */
	int forgotten;

	/* Indices in elf_gregset_t, in words. */
	unsigned char gregset[RCORE_MAX_DWARF_REGISTERS];
	unsigned char gregset_pc;

	/*
	 * The kernel's signal frame: where the registers are relative to the sp
	 * with which the restorer runs. The first is given in bytes, the others
	 * in words from there.
	 */
	unsigned signal_base;
	unsigned char signal[RCORE_MAX_DWARF_REGISTERS];
	unsigned char signal_pc;
	/* `code` has RCORE_RESTORER_BYTES. */
	bool (*is_restorer)(const uint8_t *code);

	/* Whether the bytes that end at a return address end with a call. */
	bool (*is_call)(const uint8_t *end, size_t size);

	/*
	 * Whether this is a direct jump. Instructions begin at multiples of
	 * code_step.
	 */
	size_t code_step;
	bool (*is_jump)(const uint8_t *code, size_t size, struct rcore_jump *jump);

	/*
	 * Returns the offset of the first call or jump to `target` in `code`
	 * from `at` on; `code` runs at `address`, and may contain data. Returns
	 * `size` if there is none.
	 */
	size_t (*find_branch)(const uint8_t *code, size_t size, uint64_t address, size_t at,
			      uint64_t target, bool *is_call);

	/*
	 * Whether the pc is in the last instructions of __builtin_longjmp, with
	 * which CRuby raises. Then sp is already that of the destination, and
	 * the call frame information for this place is wrong. There are
	 * RCORE_LANDING_BYTES before `pc`, and as many from it on.
	 */
	bool (*is_landing)(const uint8_t *pc, struct rcore_landing *ret);

	/* rcore_prologue_x86() or a similar function; NULL if there is none. */
	bool (*find_frame)(const uint8_t *code, size_t size, bool starts,
			   struct rcore_prologue *ret);

	struct rcore_compiled compiled;
	/* rcore_epilogue_x86() or a similar function; NULL if there is none. */
	bool (*find_return)(const uint8_t *code, size_t size, size_t *words);

	struct rcore_records records;

	/* Whether a function that begins like this keeps a frame pointer. */
	bool (*has_frame_pointer)(const uint8_t *code, size_t size);
};

enum {
	RCORE_RESTORER_BYTES = 9,
	RCORE_CALL_BYTES = 8,
	RCORE_PROLOGUE_BYTES = 16,
	RCORE_JUMP_BYTES = 6,
	RCORE_LANDING_BYTES = 12
};

/* Returns NULL if the machine is not supported. */
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
