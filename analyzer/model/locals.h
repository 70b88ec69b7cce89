/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_LOCALS_H
#define RCORE_MODEL_LOCALS_H

#include <stdbool.h>
#include <stddef.h>

#include "model/value.h"

/*
 * Which values to read of each frame. All-zero: none. This struct is embedded
 * in rcore_options and never grows.
 */
struct rcore_locals_options {
	bool self, arguments, locals;
	/* The default of max_text is the next constant. */
	struct rcore_inspect_options inspect;
};

/* The bytes of each value that a frame shows. */
enum { RCORE_LOCALS_MAX_TEXT = 1000 };

/* What kind of parameter a local is, as Method#parameters names them. */
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
	/* Without a name: `|(a, b)|` receives one argument. */
	struct rcore_variable variable;
	enum rcore_parameter parameter;
	/* 0: the frame's own; 1: of the enclosing method or block; 2 ... */
	int level;
	/*
	 * Binding#local_variables does not list it: `*`, `&`, `...`, `it`, what
	 * the compiler adds, and what Ractor.make_shareable cut off.
	 */
	bool is_hidden;
};

/* The values of one frame. */
struct rcore_frame_values {
	bool has_self;
	struct rcore_value self;
	/*
	 * The arguments of a method written in C are on the VM stack only if
	 * Ruby code called it.
	 */
	bool has_arguments, has_locals;
	/* In the order of the source, the frame's own first. */
	struct rcore_local *locals;
	size_t local_count;
	const char *problem; /* why the list ends early; NULL: it is complete */
};

#endif
