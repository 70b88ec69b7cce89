/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_LINE_H
#define RCORE_MODEL_HEAP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object as ObjectSpace.dump_all prints it. */

enum rcore_attribute_kind {
	RCORE_ATTRIBUTE_NUMBER,
	RCORE_ATTRIBUTE_SIGNED, /* an int */
	RCORE_ATTRIBUTE_ADDRESS,
	RCORE_ATTRIBUTE_TRUE,
	RCORE_ATTRIBUTE_WORD,  /* text of rcore's own */
	RCORE_ATTRIBUTE_NAME,  /* text of the target that names code */
	RCORE_ATTRIBUTE_TEXT,  /* contents of a String or a Symbol */
	RCORE_ATTRIBUTE_FLOAT, /* printed as text */
};

struct rcore_attribute {
	const char *key;
	enum rcore_attribute_kind kind;
	uint64_t number;
	double real;
	const char *text;
	size_t length; /* of a NAME, or of a TEXT, which may contain NULs */
};

enum { RCORE_ATTRIBUTE_LIMIT = 24, RCORE_LINE_FLAG_LIMIT = 12 };

struct rcore_heap_line {
	/* In the order of their keys in a line. */
	struct rcore_attribute attributes[RCORE_ATTRIBUTE_LIMIT];
	size_t attribute_count;
	uint64_t *references; /* malloc'ed */
	size_t reference_count, reference_capacity;
	/*
	 * Only code of an extension knows what it refers to; `references` also
	 * has words that look like references.
	 */
	bool is_opaque;
	bool is_partial; /* not all references could be read */
	bool has_memsize;
	uint64_t memsize;
	struct rcore_attribute flags[RCORE_LINE_FLAG_LIMIT];
	size_t flag_count;
};

#endif
