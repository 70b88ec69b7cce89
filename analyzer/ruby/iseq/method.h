/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_METHOD_H
#define RCORE_RUBY_METHOD_H

#include "ruby/object/value.h"

/* rb_method_type_t of method.h, the same from 2.6 to 4.0. */
enum rcore_method_type {
	RCORE_METHOD_ISEQ,
	RCORE_METHOD_CFUNC,
	RCORE_METHOD_ATTRSET,
	RCORE_METHOD_IVAR,
	RCORE_METHOD_BMETHOD,
	RCORE_METHOD_ZSUPER,
	RCORE_METHOD_ALIAS,
	RCORE_METHOD_UNDEF,
	RCORE_METHOD_NOTIMPLEMENTED,
	RCORE_METHOD_OPTIMIZED,
	RCORE_METHOD_MISSING,
	RCORE_METHOD_REFINED,
};

/* rb_callable_method_entry_t and its definition. */
struct rcore_method_entry {
	uint64_t address;
	enum rcore_method_type type;
	uint64_t defined_class, owner;
	uint64_t called_id, original_id;
	uint64_t iseq;  /* RCORE_METHOD_ISEQ: its rb_iseq_t */
	uint64_t cfunc; /* RCORE_METHOD_CFUNC: the C function */
	/* Of original_id. If it is NULL, `problem` says why. */
	const char *name;
	const char *problem;
};

/*
 * Reads the method entry at `address` (an imemo_ment). Cached; the result lives
 * as long as `ruby`. Error: CORRUPT if there is no method entry.
 */
struct rcore_error *rcore_method_entry(struct rcore_ruby *ruby, uint64_t address,
				       const struct rcore_method_entry **ret);

/*
 * Finds the method entry of a control frame: rb_vm_frame_method_entry of
 * vm_insnhelper.c. In each environment from `ep` outwards, ep[-2]
 * (VM_ENV_DATA_INDEX_ME_CREF) is a method entry, a cref (skipped) or, in the
 * local environment, a svar that wraps either. *ret is the address, or 0 if the
 * frame has none, because its code is not in a method. If an environment is
 * just being moved to the heap, follows it. Errors: FAULT; CORRUPT, also if a
 * method's environment has no method entry; LIMIT (also for a cycle).
 */
struct rcore_error *rcore_frame_method_entry(struct rcore_ruby *ruby, uint64_t ep,
					     uint64_t *ret);

#endif
