/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_ISEQ_H
#define RCORE_RUBY_ISEQ_H

/*
 * ruby/iseq/ decodes code: instruction sequences, their lines and local
 * variables, method entries, and the labels that Ruby prints in backtraces. It
 * includes ruby/object/ and ruby/symbol/. Start here.
 */

#include "ruby/object/value.h"

/* enum rb_iseq_type (vm_core.h), the same from 2.6 to 4.0. */
enum rcore_iseq_type {
	RCORE_ISEQ_TOP,
	RCORE_ISEQ_METHOD,
	RCORE_ISEQ_BLOCK,
	RCORE_ISEQ_CLASS,
	RCORE_ISEQ_RESCUE,
	RCORE_ISEQ_ENSURE,
	RCORE_ISEQ_EVAL,
	RCORE_ISEQ_MAIN,
	RCORE_ISEQ_PLAIN,
	RCORE_ISEQ_TYPE_COUNT,
};

/*
 * An instruction sequence: the compiled body of a method, block, class, file
 * ...
 */
struct rcore_iseq_info {
	uint64_t address, body;
	enum rcore_iseq_type type;
	uint64_t encoded; /* address of the first instruction */
	uint32_t size;    /* in words of 8 bytes */
	/* location.pathobj; NULL if unreadable, see `problem`. */
	const char *path;
	const char *label; /* as stored: "block in foo" */
	const char *base_label;
	int first_line;
	uint64_t parent, local; /* rb_iseq_t; 0: none */
	bool is_internal;       /* path starts with "<internal:" */
	/* BUILTIN_ATTR_C_TRACE: 3.4 prints it like a C method. */
	bool is_c_trace;
	const char *problem;
};

/*
 * Reads an iseq and checks it: a T_IMEMO of imemo_iseq, with a readable body,
 * and type and size in range. Cached; the result lives as long as `ruby`.
 * Error: CORRUPT if there is no iseq.
 */
struct rcore_error *rcore_iseq(struct rcore_ruby *ruby, uint64_t address,
			       const struct rcore_iseq_info **ret);

/*
 * Finds the line of `pc` in this iseq: calc_lineno (vm_backtrace.c) and
 * get_insn_info (iseq.c). pc points after the current instruction, so its
 * position is n - 1. The line is 0 if the iseq has no line table. The table
 * (insns_info) is read once for each iseq. Error: CORRUPT if pc is outside the
 * iseq.
 */
struct rcore_error *rcore_iseq_line(struct rcore_ruby *ruby, const struct rcore_iseq_info *iseq,
				    uint64_t pc, int *ret);

#endif
