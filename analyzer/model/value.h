/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_VALUE_H
#define RCORE_MODEL_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* An object of the target, as far as it was asked for. Strings are the target's own bytes. */
struct rcore_value {
	uint64_t value;         /* the VALUE */
	const char *class_name; /* NULL: not known */
	const char *text; /* as its own inspect prints it, bounded; NULL: could not be read */
	const char *problem; /* what of it could not be read, and why */
};

/* Depth 0: of a container it is said how much it holds. */
#define RCORE_NO_DEPTH SIZE_MAX

/* How much of a value to show; zero means the default. */
struct rcore_inspect_options {
	size_t depth;      /* of containers within containers; RCORE_NO_DEPTH */
	size_t max_string; /* bytes of each String */
	size_t max_items;  /* of each container, pairs and ivars too */
	size_t max_text;   /* bytes of the whole: no further item is begun past them */
};

/* A value that has a name: a local variable, an instance variable, a key of a context. */
struct rcore_variable {
	const char *name; /* NULL: not known */
	struct rcore_value value;
	const char *problem; /* of the name, or of the slot that holds the value */
};

#endif
