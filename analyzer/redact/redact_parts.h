/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_REDACT_PARTS_H
#define RCORE_REDACT_REDACT_PARTS_H

#include <stddef.h>

/*
 * Lists every member of the model that contains text or leads to it. Whatever
 * is not listed as safe is redacted. A new member needs a row in
 * redact_parts.c; tests/unit/redact/check_redact_parts.c compares the table
 * with the debug information of the structs, and fails if a member has no row.
 */
enum rcore_part_kind {
	/*
	 * Text that only rcore, the kernel or a compiler can have written, so
	 * every mode keeps it.
	 */
	RCORE_PART_SAFE,       /* const char *, or an array of char */
	RCORE_PART_SAFE_TEXTS, /* array of const char * */
	/*
	 * A struct, or a pointer to one, that is not printed or whose texts
	 * another row covers.
	 */
	RCORE_PART_OPAQUE,

	/* const char *, a name in code: only RCORE_REDACT_ALL removes it. */
	RCORE_PART_NAME,
	RCORE_PART_TEXT, /* const char * */
	/*
	 * const char *, the inspect of a value, which may contain names of
	 * classes.
	 */
	RCORE_PART_INSPECT,
	/* const char *, the same, whose key is at `other`. */
	RCORE_PART_VALUE,
	RCORE_PART_COMMAND, /* const char *, a command line */
	RCORE_PART_TEXTS,   /* array of const char *, `other` is its length */
	RCORE_PART_WITHIN,  /* a struct in the struct */
	RCORE_PART_ONE,     /* pointer to a struct, may be NULL */
	/* Pointer to an array of structs; `other` is its length. */
	RCORE_PART_MANY,
	/* Array of structs in the struct; `other` is the offset of its end. */
	RCORE_PART_ARRAY,
	/*
	 * Pointer to a struct of the same type, may be NULL; must be the last
	 * part.
	 */
	RCORE_PART_CHAIN,
};

struct rcore_parts;

struct rcore_part {
	enum rcore_part_kind kind;
	size_t offset, other;
	/* Of the struct that it leads to, or NULL. */
	const struct rcore_parts *parts;
};

/* The parts of a struct of the model. */
struct rcore_parts {
	size_t size; /* of the struct */
	const struct rcore_part *items;
	size_t count;
};

extern const struct rcore_parts rcore_snapshot_parts, rcore_print_parts;

#endif
