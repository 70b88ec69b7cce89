/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_H
#define RCORE_IMAGE_UNWIND_H

/*
 * image/unwind/ unwinds native stacks: of kernel threads and of parked fibers,
 * through signal frames and code without unwind information. It finds the
 * interpreter's function by its code (activation.h). Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "image/unwind/activation.h"
#include "image/unwind/cold_part.h"
#include "image/elf/modules.h"
#include "model/native_frame.h"
#include "target/memory.h"

/*
 * Native unwinding by libdwfl with callbacks of our own: kernel threads and
 * parked fibers are one set of "threads", cores and live processes one code
 * path. Modules are those of `modules`, matched by build-id already; libdwfl
 * looks for no file by itself.
 */
struct rcore_unwind_context {
	/*
	 * In the order of elf_gregset_t, as rcore_native_thread has them; bit n
	 * of `known`: register n is (a parked fiber saved only some).
	 */
	uint64_t registers[RCORE_MAX_REGISTERS];
	uint64_t known;
	/* pc is a return address, not an interrupted instruction. */
	bool is_parked;

	/*
	 * All of its machine stack, as it was mapped (Ruby's own idea of where
	 * a thread's stack starts leaves out the outermost frames); 0: unknown.
	 * Once inside, the stack ends where it leaves these bounds; a signal
	 * may change stacks.
	 */
	uint64_t stack_start, stack_end;
	/*
	 * Ruby's idea of it: of a thread that runs as a coroutine all that
	 * there is. 0: unknown.
	 */
	uint64_t stack_base;
	/*
	 * Its thread is ending, and no longer says where its stack begins
	 * (thread_cleanup_func_before_exec() of thread.c).
	 */
	bool is_ending;
	uint64_t ec; /* of the fiber (rb_execution_context_t); 0: unknown */

	/* Result, in the arena; innermost first. */
	struct rcore_native_frame *frames;
	size_t frame_count;
	/* Why it ended early; NULL: at the natural end of the stack. */
	const char *problem;
};

/*
 * More native frames than this in one stack (8 MiB have room for 524,288 of the
 * smallest), or in all, end the unwinding, and `problem` says so.
 */
enum { RCORE_NATIVE_FRAME_LIMIT = 1 << 20, RCORE_NATIVE_TOTAL_LIMIT = 2000000 };

/*
 * A target's modules as libdwfl sees them, and what was found out about
 * addresses of their code. It is kept from one unwinding to the next: names and
 * call frame information are most of the work. `memory` is the overlaid memory;
 * it and the modules must outlive the result. UNSUPPORTED: another machine.
 */
struct rcore_code;

struct rcore_error *rcore_code_open(struct rcore_modules *modules, struct rcore_memory *memory,
				    unsigned machine, struct rcore_code **ret);
void rcore_code_close(struct rcore_code *code); /* NULL-safe */

/*
 * Unwinds and symbolises all `contexts` in one walk. If `interpreter` is not
 * NULL, finds interpreter->activation first, unless it is known. Where code
 * without a name is a part of one of `functions` (those of methods; NULL: none)
 * or of the activation, its frames say so. Frames' strings are in `arena`,
 * shared between frames of the same function. An error only where nothing could
 * be unwound at all (NO_MEMORY, UNSUPPORTED); each context tells its own
 * trouble.
 *
 * Where code has no call frame information (that of a JIT, a module whose file
 * is not here, an address that is none), the stack is picked up again: at a
 * frame pointer, or at the nearest return address from which it goes on; the
 * frame there says so by its trust. Such a step leaves out the frames that
 * cannot be seen.
 */
struct rcore_error *rcore_unwind(struct rcore_code *code, struct rcore_arena *arena,
				 const struct rcore_functions *functions,
				 struct rcore_interpreter *interpreter,
				 struct rcore_unwind_context *contexts, size_t count);

#endif
