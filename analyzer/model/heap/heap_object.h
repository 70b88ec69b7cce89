/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_OBJECT_H
#define RCORE_MODEL_HEAP_OBJECT_H

#include "base/arena_struct.h"
#include "model/redaction.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What `rcore heap refs` and its siblings print: objects and why they live. */

struct rcore_heap_object {
	uint64_t address;
	const char *klass; /* the name of its class; "(iseq)" ... */
	/* Of a class or module; "T2" for a Thread; NULL: it has none. */
	const char *name;
	/* Of a Thread, or of the one that a Fiber belongs to; NULL: none. */
	const char *thread_name;
	uint64_t bytes; /* of its slot and its C memory */
	/* What would be freed with it; 0: not computed, or unreachable. */
	uint64_t retained;
	/*
	 * Only code of an extension knows all that it refers to, or how large
	 * it is.
	 */
	bool is_opaque;
};

struct rcore_heap_link {
	/* "@items", "[3]", "constant FOO" ... */
	const char *how;
	/* The word may be another number that looks like a reference. */
	bool is_conservative;
	struct rcore_heap_object object;
};

/* A shortest path from a root. */
struct rcore_heap_route {
	const char *root; /* "global variable $a"; NULL: none was found */
	bool is_conservative;
	/* The first one is what the root refers to; its `how` is NULL. */
	struct rcore_heap_link *links;
	size_t count;
	/* The middle of a long path: links before links[omitted_at]. */
	size_t omitted, omitted_at;
};

/* What of a heap could not be read. */
struct rcore_heap_gaps {
	uint64_t absent_pages;
	/* Objects whose references only an extension knows. */
	uint64_t opaque, partial;
	const char *problem; /* NULL: none */
};

/* Whether objects are missing. What is opaque is there. */
static inline bool rcore_heap_is_partial(const struct rcore_heap_gaps *gaps)
{
	return gaps->absent_pages || gaps->partial || gaps->problem;
}

/* A root, or the words of one machine stack. */
struct rcore_heap_holder {
	const char *root; /* "machine stack of T2 \"pump\"" */
	uint64_t count;   /* how often it refers to the object */
	bool is_stack;
};

/* `rcore heap refs` */
struct rcore_heap_refs {
	struct rcore_heap_object object;
	/* `object` of a link is the referrer. */
	struct rcore_heap_link *referrers;
	size_t referrer_count;
	struct rcore_heap_holder *roots; /* that refer to it */
	size_t root_count;
	/* Variables of C code that contain its address but are not roots. */
	const char **variables;
	size_t variable_count;
	/* Of roots and referrers, with those that are not listed. */
	uint64_t total;
	struct rcore_heap_route route;
	struct rcore_heap_gaps gaps;
	struct rcore_redaction redaction;
	struct rcore_arena arena; /* everything above is in it */
};

/* Roots of a name, or objects of a class. */
struct rcore_retained_row {
	const char *name;
	uint64_t count, bytes, retained;
};

/*
 * Objects of one class that those of a node above retain, or roots: see
 * heap/fold.h.
 */
struct rcore_retained_node {
	uint32_t above; /* a lower index; node 0 is all roots */
	const char *title;
	bool is_root;
	uint64_t count, bytes, retained;
};

/* `rcore heap retained` */
struct rcore_heap_retained {
	struct rcore_retained_row all, reachable;   /* only counts and bytes */
	struct rcore_retained_row *roots, *classes; /* by retained bytes */
	size_t root_count, class_count;
	struct rcore_retained_object {
		struct rcore_heap_object object;
		struct rcore_heap_route route;
	} * objects; /* by retained bytes */
	size_t object_count;
	/*
	 * Ractors, Threads, classes and modules, which are not among the
	 * objects: the whole program is below them, so they would hide what
	 * grows.
	 */
	struct rcore_retained_object *holders;
	size_t holder_count;
	size_t all_classes, all_roots;
	struct rcore_retained_node *nodes; /* NULL: not asked for */
	size_t node_count, nodes_left_out;
	struct rcore_heap_gaps gaps;
	struct rcore_redaction redaction;
	struct rcore_arena arena;
};

#endif
