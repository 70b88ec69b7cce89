/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_FRAME_VALUES_H
#define RCORE_VM_FRAME_VALUES_H

/*
 * vm/stack/ reads VM stacks: control frames, their arguments and locals, the
 * exceptions that they handle, and the registers of parked fibers. It includes
 * ruby/, the rest of vm/, and model/. Start with frames.c, which loads the
 * frames of a fiber (rcore_load_frames() of vm/loader.h).
 */

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum {
	/*
	 * The number of innermost and of outermost frames to read. In a deeper
	 * stack, the frames between them are those of a recursion.
	 */
	RCORE_LOCALS_HEAD = 400,
	RCORE_LOCALS_TAIL = 100,
	RCORE_ENV_LIMIT = 1000, /* nested blocks */
};

/*
 * Sets `values` of each frame of the snapshot's fibers.
 *
 * The variables of a frame are its environment. It is on the VM stack, just
 * below the three words at ep, or, once a Proc or Binding refers to it, in the
 * heap, followed by its rb_env_t.
 *
 *   ep - 2 - size   variable 0; the others follow
 *   ...             (size: iseq_body.local_table_size)
 *   ep - 2          method entry or cref
 *   ep - 1          the block passed; in a block: the enclosing ep
 *   ep              flags
 *   ep + 1          in the heap: its rb_env_t, which points to the iseq
 *
 * Mirrors vm_make_env_each() and collect_local_variables_in_env() of vm.c, and
 * get_local_variable_ptr() of proc.c. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_locals(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
				    const struct rcore_locals_options *options);

/*
 * Finds an argument or local variable of a frame's own environment by its name.
 * Sets *ret to the address of its VALUE, or to 0 if the frame has no variable
 * of that name or does not run Ruby code. Errors: as rcore_iseq_locals().
 */
struct rcore_error *rcore_frame_local_address(struct rcore_ruby *ruby,
					      const struct rcore_frame *frame, const char *name,
					      uint64_t *ret);

#endif
