/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_H
#define RCORE_IMAGE_SYMBOLIZE_H

/*
 * image/symbolize/ names native frames: function, source line, file and gem.
 * Start here.
 */

#include "base/arena.h"
#include "model/native_frame.h"
#include "image/unwind/unwind_modules.h"

/* Names of code addresses. Strings are copied into the arena, each once. */
struct rcore_symbolizer {
	struct rcore_arena *arena;
	struct rcore_interned *interned; /* private */
};

/* An all-zero struct with `arena` set is ready. */
void rcore_symbolizer_deinit(struct rcore_symbolizer *symbolizer);

/*
 * The frames that an address in `module` (NULL: none) stands for: functions
 * inlined there, innermost first, then the one that has the code. Of a return
 * address give the byte before. `fde_start` as rcore_native_module_fde(),
 * 0: unknown. In `ret`, an array in the arena, pc is `address` and
 * function_offset counts up to it; sp and trust are the caller's to fill. Gives
 * the number of frames, 0 when memory is short.
 */
size_t rcore_symbolize(struct rcore_symbolizer *symbolizer, struct rcore_native_module *module,
		       uint64_t address, uint64_t fde_start, struct rcore_native_frame **ret);

#endif
