/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_COPY_H
#define RCORE_TARGET_CORE_COPY_H

#include "target/core/core.h"
#include "target/output/inputs.h"

/* A thread that is added to the copy of a core. */
struct rcore_added_thread {
	int tid; /* different from all others */
	/*
	 * The kernel thread whose thread pointer and so on it shares; 0: none.
	 */
	int owner;
	char name[16];                           /* LLDB shows it */
	uint64_t registers[RCORE_MAX_REGISTERS]; /* elf_gregset_t */
};

/*
 * Writes a copy of `core` to `path` with `count` more threads. Each gets a
 * NT_PRSTATUS with the registers that are passed (without floating point, which
 * debuggers show as unavailable), the thread pointer and pointer signing mask
 * of the owner, and a NT_PRPSINFO with the name. Memory keeps its bytes and
 * holes, and shares blocks with the original if the file system supports it; a
 * truncated core is truncated at the same byte of memory. What an earlier copy
 * added is left out; rcore's own readers skip all of it (RCORE_NOTE_ADDED).
 *
 * The file is written as described in target/output/output.h. Errors: OS,
 * FORMAT (no notes to add to), USAGE (path), LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_core_copy(const struct rcore_core *core, const char *path,
				    const struct rcore_inputs *inputs,
				    const struct rcore_added_thread *threads, size_t count);

#endif
