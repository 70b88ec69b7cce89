/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LOCALS_H
#define RCORE_VM_LOCALS_H

#include "model/snapshot.h"
#include "ruby/ruby.h"

enum {
	/* Frames of one fiber that are read: so many innermost and outermost ones; what lies
	 * between is the same over and over. */
	RCORE_LOCALS_HEAD = 400,
	RCORE_LOCALS_TAIL = 100,
	RCORE_ENV_LIMIT = 1000, /* blocks one within the other */
};

/*
 * Sets `values` of each frame of the snapshot's fibers.
 *
 * The variables of a frame are its environment: on the VM stack just below its three words of
 * bookkeeping, or, once a Proc or Binding holds them, in the heap with a rb_env_t behind.
 *
 *   ep - 2 - size ...   variable 0, 1 ... size - 1     (size: iseq_body.local_table_size)
 *   ep - 2              method entry or cref
 *   ep - 1              the block given; of a block: the ep of what it stands in
 *   ep                  flags
 *   ep + 1              in the heap: its rb_env_t, which knows the iseq
 *
 * Mirrors vm_make_env_each of vm.c, collect_local_variables_in_env of vm.c, get_local_variable_ptr
 * of proc.c. Error: NO_MEMORY.
 */
struct rcore_error *rcore_vm_locals(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
				    const struct rcore_locals_options *options);

/*
 * The arguments of a method in C that Ruby code called: vm_call_cfunc_with_frame of vm_insnhelper.c
 * leaves the receiver and them on the VM stack, above the caller's sp and below the environment of
 * the call.
 *
 *   caller's sp -> | receiver | argument 1 | ... | argument n | me | block | flags |
 *                                                                            ^ ep
 *
 * Gives the address of the first and how many they are. false: not known; called by C
 * (rb_funcall), they are wherever that keeps them.
 */
bool rcore_c_arguments(struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
		       const struct rcore_frame *frame, uint64_t *ret, size_t *ret_count);

/*
 * A variable of a frame's own environment, an argument or a local, by its name. *found is false,
 * and *ret untouched, if the frame has none of that name or is not of Ruby code. Errors: as
 * rcore_iseq_locals().
 */
struct rcore_error *rcore_frame_local(struct rcore_ruby *ruby, const struct rcore_frame *frame,
				      const char *name, bool *found, uint64_t *ret);

#endif
