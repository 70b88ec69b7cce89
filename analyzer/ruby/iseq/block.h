/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_BLOCK_H
#define RCORE_RUBY_BLOCK_H

#include "ruby/iseq/iseq.h"

/* enum rb_block_type of vm_core.h, the same from 2.6 to 4.0. */
enum rcore_block_type {
	RCORE_BLOCK_ISEQ,
	RCORE_BLOCK_IFUNC,
	RCORE_BLOCK_SYMBOL,
	RCORE_BLOCK_PROC,
};

/*
 * What a Proc runs: the struct rb_block of the innermost Proc, if Procs contain
 * Procs.
 */
struct rcore_block {
	enum rcore_block_type type;         /* never PROC */
	const struct rcore_iseq_info *iseq; /* ISEQ */
	/* IFUNC: the vm_ifunc; SYMBOL: the Symbol. */
	uint64_t code;
};

/*
 * Reads that of a Proc (T_DATA "proc"). *is_lambda (may be NULL) is the Proc's
 * own. Errors: CORRUPT, FAULT, LIMIT (nested Procs).
 */
struct rcore_error *rcore_proc_block(struct rcore_ruby *ruby, uint64_t proc,
				     struct rcore_block *ret, bool *is_lambda);

#endif
