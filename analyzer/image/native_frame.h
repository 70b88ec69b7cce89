/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_NATIVE_FRAME_H
#define RCORE_IMAGE_NATIVE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* How a frame was reached from the one inside it, surest first. Each is as sure as the least sure of
 * those inside it. */
enum rcore_trust {
	RCORE_TRUST_EXACT, /* registers as saved: the innermost frame, what a signal interrupted */
	RCORE_TRUST_CFI,    /* by the call frame information of the code inside it */
	RCORE_TRUST_NO_CFI, /* that code has none: by its frame pointer or return address register,
			       or a call to where no code is */
	RCORE_TRUST_SCANNED, /* nor these: a return address on the stack, from which it goes on.
				Frames may be missing before it. */
};

/* A frame of the machine stack. An inlined function has a frame of its own, before the one it was
 * inlined into, with the same pc and sp. Strings are raw bytes of files and of the target. */
struct rcore_native_frame {
	uint64_t pc, sp; /* a return address, where the function inside called another */
	/* Address of its first instruction, by symbol, else by call frame information, so that it
	 * is known without symbols; of NAME for a symbol "NAME.cold". 0: unknown, or inlined. */
	uint64_t function_start;
	/* Where the function starts that alone jumps into this code, which has no name: the rarely run part of a
	 * method in C, of a stripped file. 0: none is known. */
	uint64_t part_of;
	const char *function; /* C++ and Rust demangled; NULL: no symbol */
	const char *symbol;   /* as linkers know it, where that is another name; else NULL */
	uint64_t function_offset; /* pc - the start of the symbol, else function_start */
	const char *module;       /* base name of the file; NULL: none maps pc (JIT code) */
	/* pc as the module's own file has it, wherever it was loaded: what objdump -d and addr2line
	 * take. 0: unknown. */
	uint64_t module_offset;
	const char *gem;  /* full name, "pg-1.5.4"; NULL: the module is no gem's */
	const char *file; /* source, where DWARF has it */
	int line;         /* 0: unknown */
	enum rcore_trust trust;
	bool is_signal; /* the kernel's trampoline: what is outside of it was interrupted, not
			   called */
	bool is_inlined;
	bool is_interpreter; /* of libruby or the ruby executable: folded by default */
};

#endif
