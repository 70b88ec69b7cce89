/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SYMBOLIZE_H
#define RCORE_IMAGE_SYMBOLIZE_H

/*
 * image/symbolize/ names native frames: function, source line, file and gem. It
 * includes image/elf/ and target/. Start here.
 */

#include "base/arena.h"
#include "model/native_frame.h"
#include "image/unwind/unwind_modules.h"

/* Names code addresses. Copies each string into the arena once. */
struct rcore_symbolizer {
	struct rcore_arena *arena;
	struct rcore_interned *interned; /* private */
};

/* To initialize it, zero the struct and set `arena`. */
void rcore_symbolizer_deinit(struct rcore_symbolizer *symbolizer);

/*
 * Returns the frames of an address in `module` (or NULL): the functions inlined
 * there, innermost first, then the one that contains the code. For a return
 * address, pass the byte before it. `fde_start` is as in
 * rcore_native_module_fde(), or 0. *ret is an array in the arena, in which pc
 * is `address` and function_offset is relative to it; the caller sets sp and
 * trust. The number of frames is 0 if memory is short.
 */
size_t rcore_symbolize(struct rcore_symbolizer *symbolizer, struct rcore_native_module *module,
		       uint64_t address, uint64_t fde_start, struct rcore_native_frame **ret);

#endif
