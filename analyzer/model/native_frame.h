/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_NATIVE_FRAME_H
#define RCORE_MODEL_NATIVE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How a frame was reached from the one inside it, most reliable first. A frame
 * is never more reliable than those inside it.
 */
enum rcore_trust {
	/* Saved registers: the innermost frame, or one that a signal hit. */
	RCORE_TRUST_EXACT,
	RCORE_TRUST_CFI, /* call frame information of the code inside it */
	/*
	 * That code has none. Found by its frame pointer or return address
	 * register, or by a call to an address without code.
	 */
	RCORE_TRUST_NO_CFI,
	/*
	 * None of these. A return address was found on the stack; frames may be
	 * missing.
	 */
	RCORE_TRUST_SCANNED,
};

/*
 * A frame of the machine stack. An inlined function has a frame of its own,
 * before the one it was inlined into, with the same pc and sp. Strings are raw
 * bytes of files and of the target.
 */
struct rcore_native_frame {
	/* pc: the return address if the function inside called another. */
	uint64_t pc, sp;
	/*
	 * The function's first instruction, by symbol, otherwise by call frame
	 * information. For a symbol "NAME.cold" that of NAME. 0: unknown, or
	 * inlined.
	 */
	uint64_t function_start;
	/*
	 * The start of the only function that jumps to this code, which has no
	 * name of its own: the rarely executed part of a C method in a stripped
	 * file. 0: unknown.
	 */
	uint64_t part_of;
	const char *function; /* C++ and Rust demangled; NULL: no symbol */
	/* Its mangled name; NULL: the same as `function`. */
	const char *symbol;
	/* pc minus the start of the symbol, or function_start. */
	uint64_t function_offset;
	/* Base name of the file; NULL: no file maps pc (JIT code). */
	const char *module;
	/*
	 * pc as an address in the file, as objdump -d and addr2line use it. 0:
	 * unknown.
	 */
	uint64_t module_offset;
	/* Full name, "pg-1.5.4"; NULL: the module is not in a gem. */
	const char *gem;
	const char *file; /* source, from DWARF; NULL: unknown */
	int line;         /* 0: unknown */
	enum rcore_trust trust;
	/* The kernel's trampoline: the frame outside was interrupted. */
	bool is_signal;
	bool is_inlined;
	/* Of libruby or the ruby executable; reports fold these. */
	bool is_interpreter;
};

#endif
