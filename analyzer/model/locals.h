/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_LOCALS_H
#define RCORE_MODEL_LOCALS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/value.h"

/* What to read of frames besides their place; all-zero: nothing. */
struct rcore_locals_options {
	bool self, arguments, locals;
	struct rcore_inspect_options inspect; /* max_text: RCORE_LOCALS_MAX_TEXT */
};

/* The bytes that a stack has room for, of each value in it. */
enum { RCORE_LOCALS_MAX_TEXT = 1000 };

/* What takes an argument; the words of Method#parameters. */
enum rcore_parameter {
	RCORE_PARAMETER_NONE, /* a local variable */
	RCORE_PARAMETER_REQ,
	RCORE_PARAMETER_OPT,
	RCORE_PARAMETER_REST,
	RCORE_PARAMETER_KEYREQ,
	RCORE_PARAMETER_KEY,
	RCORE_PARAMETER_KEYREST,
	RCORE_PARAMETER_BLOCK,
};

struct rcore_local {
	struct rcore_variable variable; /* without a name: `|(a, b)|` takes one argument */
	enum rcore_parameter parameter;
	/* 0: the frame's own; 1: of the method or block that the frame's block stands in; 2 ... */
	int level;
	/* binding.local_variables does not list it: `*`, `&`, `...`, `it`, what the compiler needs for itself,
	 * and what Ractor.make_shareable cut off. */
	bool is_hidden;
};

/* What a frame knows. */
struct rcore_frame_values {
	bool has_self;
	struct rcore_value self;
	/* Of a method in C the arguments are on the VM stack only where Ruby code called it. */
	bool has_arguments, has_locals;
	struct rcore_local *locals; /* in the order they were written, the frame's own first */
	size_t local_count;
	const char *problem; /* why there are no more */
};

#endif
