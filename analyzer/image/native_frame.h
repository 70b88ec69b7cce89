/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_NATIVE_FRAME_H
#define RCORE_IMAGE_NATIVE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* How sure a native frame is, best first. */
enum rcore_trust {
	RCORE_TRUST_EXACT, /* registers as saved: the innermost frame, a signal's, a parked fiber's first */
	RCORE_TRUST_CFI, /* by call frame information of the module */
	RCORE_TRUST_NO_CFI, /* the caller's code has no CFI: frame pointer or a guess of libdwfl's */
	RCORE_TRUST_SCANNED, /* a return address found on the stack */
};

/* A frame of the machine stack. An inlined function has a frame of its own, before the one it was
 * inlined into, with the same pc and sp. */
struct rcore_native_frame {
	uint64_t pc, sp;
	uint64_t
		function_start; /* address of its first instruction, by symbol or FDE; 0: unknown */
	const char *function;     /* NULL: no symbol */
	uint64_t function_offset; /* pc - start of the symbol */
	const char *module;       /* base name of the file; NULL: none maps pc (JIT code) */
	const char *gem;          /* "pg-1.5.4"; NULL: the module is no gem's */
	const char *file;         /* source, where DWARF has it */
	int line;
	enum rcore_trust trust;
	bool is_signal; /* the handler's return address leads into the kernel's trampoline */
	bool is_inlined;
	bool is_interpreter; /* of libruby or the ruby executable: folded by default */
};

#endif
