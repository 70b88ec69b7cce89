/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_VALUE_H
#define RCORE_MODEL_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* A Ruby object of the target. Strings are the target's own bytes. */
struct rcore_value {
	uint64_t value;         /* the VALUE */
	const char *class_name; /* NULL: unknown */
	/* What its own inspect prints, bounded; NULL: unreadable. */
	const char *text;
	/* What could not be read, and why; NULL: nothing. */
	const char *problem;
};

/*
 * How much of a value to read. 0 means the default. This struct is embedded in
 * others and never grows.
 */
struct rcore_inspect_options {
	/* Of containers inside containers; or RCORE_NO_DEPTH. */
	size_t depth;
	size_t max_string; /* bytes of each String */
	/* Elements, pairs and instance variables of each object. */
	size_t max_items;
	/* Bytes in all: no further element begins after them. */
	size_t max_text;
};

/* A depth of 0: print only the size of a container. */
#define RCORE_NO_DEPTH SIZE_MAX

/* A value with a name: a local or instance variable, a key of a context. */
struct rcore_variable {
	const char *name; /* NULL: unknown */
	struct rcore_value value;
	/* Of the name, or of the slot that holds the value. */
	const char *problem;
};

/* The variables of a fiber or thread, such as Fiber[:x]. */
struct rcore_variables {
	struct rcore_variable *items;
	size_t count;
	const char *problem; /* why the list ends early; NULL: it is complete */
};

#endif
