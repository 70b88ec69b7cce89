/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_H
#define RCORE_IMAGE_UNWIND_H

#include "base/arena.h"
#include "base/error.h"
#include "image/modules.h"
#include "image/native_frame.h"
#include "target/memory.h"

/*
 * Native unwinding by libdwfl with callbacks of our own: kernel threads and parked fibers are one set of
 * "threads", cores and live processes one code path. Modules are those of `modules`, matched by build-id
 * already; libdwfl looks for no file by itself.
 */
struct rcore_unwind_context {
	uint64_t registers
		[RCORE_MAX_REGISTERS]; /* order of elf_gregset_t, as rcore_native_thread */
	uint64_t known; /* bit n: register n is known (a parked fiber saved only some) */
	bool is_parked; /* pc is a return address, not an interrupted instruction */
	uint64_t stack_start,
		stack_end; /* bounds of its machine stack; 0: unknown. Unwinding ends outside. */

	struct rcore_native_frame *frames; /* result, in the arena; innermost first */
	size_t frame_count;
	const char *problem; /* why it ended early; NULL: at the natural end of the stack */
};

/* More native frames than this in one stack end the unwinding, and `problem` says so. */
enum { RCORE_NATIVE_FRAME_LIMIT = 100000 };

/*
 * Unwinds and symbolises all `contexts` in one walk. `memory` is the overlaid memory. Frames' strings
 * are in `arena`, shared between frames of the same function. An error only where nothing could be
 * unwound at all; each context tells its own trouble.
 */
struct rcore_error *rcore_unwind(struct rcore_modules *modules, struct rcore_memory *memory,
				 unsigned machine, struct rcore_arena *arena,
				 struct rcore_unwind_context *contexts, size_t count);

#endif
