/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_H
#define RCORE_IMAGE_UNWIND_H

/*
 * image/unwind/ unwinds the native stacks of kernel threads and parked fibers,
 * through signal frames and code without unwind information. It finds the
 * interpreter's function by its code (activation.h). It includes image/elf/,
 * image/symbolize/ and target/. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "image/unwind/activation.h"
#include "image/unwind/cold_part.h"
#include "image/elf/modules.h"
#include "model/native_frame.h"
#include "target/memory.h"

/*
 * Unwinds with libdwfl and callbacks of rcore's own: kernel threads and parked
 * fibers are one set of "threads", and cores and live processes use the same
 * code. The modules are those of `modules`, whose files were found by build-id;
 * libdwfl does not search for any.
 */
struct rcore_unwind_context {
	/*
	 * In the order of elf_gregset_t, like rcore_native_thread. Bit n of
	 * `known` is set if register n is known; a parked fiber saves only
	 * some.
	 */
	uint64_t registers[RCORE_MAX_REGISTERS];
	uint64_t known;
	/*
	 * The pc is a return address, not that of an interrupted instruction.
	 */
	bool is_parked;

	/*
	 * All of its machine stack, as it was mapped (Ruby's own start of a
	 * thread's stack excludes the outermost frames); 0 if unknown. Once a
	 * walk is inside these bounds, it ends where it leaves them; a signal
	 * may change stacks.
	 */
	uint64_t stack_start, stack_end;
	/*
	 * Ruby's own start of the stack, which is all that is known for a
	 * thread that runs as a coroutine. 0 if unknown.
	 */
	uint64_t stack_base;
	/*
	 * Its thread is ending, and its EC no longer says where its stack
	 * begins (thread_cleanup_func_before_exec() of thread.c).
	 */
	bool is_ending;
	uint64_t ec; /* of the fiber (rb_execution_context_t); 0: unknown */

	/* The result, in the arena; innermost first. */
	struct rcore_native_frame *frames;
	size_t frame_count;
	/* Why it ended early; NULL at the natural end of the stack. */
	const char *problem;
};

/*
 * Limits for the native frames of one stack (8 MiB have room for 524,288 of the
 * smallest) and of all. Beyond them, unwinding ends and `problem` says so.
 */
enum { RCORE_NATIVE_FRAME_LIMIT = 1 << 20, RCORE_NATIVE_TOTAL_LIMIT = 2000000 };

/*
 * A target's modules as libdwfl sees them, and what was found out about
 * addresses of their code. Keep it from one unwinding to the next, because
 * names and call frame information are most of the work. `memory` is the
 * overlaid memory; it and the modules must outlive the result. Error:
 * UNSUPPORTED for another machine.
 */
struct rcore_code;

struct rcore_error *rcore_code_open(struct rcore_modules *modules, struct rcore_memory *memory,
				    unsigned machine, struct rcore_code **ret);
void rcore_code_close(struct rcore_code *code); /* NULL-safe */
/*
 * Sets how many frames of one stack are unwound, at most the limit above, which
 * is the default. Frames that were inlined do not count.
 */
void rcore_code_limit(struct rcore_code *code, size_t frames);

/*
 * Unwinds and symbolizes all `contexts` in one walk. If `interpreter` is not
 * NULL, first finds interpreter->activation, unless it is known. If code
 * without a name is a part of one of `functions` (those of methods, or NULL) or
 * of the activation, its frames say so. Strings of frames are in `arena`,
 * shared by frames of the same function. Returns an error only if nothing could
 * be unwound (NO_MEMORY, UNSUPPORTED); each context has a problem of its own.
 *
 * If code has no call frame information (that of a JIT, a module whose file is
 * missing, an invalid address), the walk continues at a frame pointer, or at
 * the nearest plausible return address. The trust of the frame there says so.
 * Such a step skips frames that cannot be seen.
 */
struct rcore_error *rcore_unwind(struct rcore_code *code, struct rcore_arena *arena,
				 const struct rcore_functions *functions,
				 struct rcore_interpreter *interpreter,
				 struct rcore_unwind_context *contexts, size_t count);

#endif
