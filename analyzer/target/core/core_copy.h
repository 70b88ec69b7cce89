/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_COPY_H
#define RCORE_TARGET_CORE_COPY_H

#include "target/core/core.h"
#include "target/output/inputs.h"

/* A thread that the copy of a core has besides those of the core. */
struct rcore_added_thread {
	int tid; /* of no other thread */
	/*
	 * The kernel thread whose thread pointer and the like it shares; 0:
	 * none.
	 */
	int owner;
	char name[16];                           /* LLDB shows it */
	uint64_t registers[RCORE_MAX_REGISTERS]; /* elf_gregset_t */
};

/*
 * Writes a copy of `core` to `path` with `count` more threads: an NT_PRSTATUS
 * each, with the registers given (no floating point: debuggers show that as
 * unavailable), the thread pointer and pointer signing mask of the owner, and
 * an NT_PRPSINFO with the name. Memory keeps its bytes and its holes, and is
 * shared with the original where the file system can; a core that ends early
 * ends at the same byte of memory. What an earlier copy added is left out, and
 * readers of ours pass over all of it (RCORE_NOTE_ADDED).
 *
 * The file appears as target/output/output.h says. Errors: OS, FORMAT (no notes
 * to add to), USAGE (path), LIMIT, NO_MEMORY.
 */
struct rcore_error *rcore_core_copy(const struct rcore_core *core, const char *path,
				    const struct rcore_inputs *inputs,
				    const struct rcore_added_thread *threads, size_t count);

#endif
