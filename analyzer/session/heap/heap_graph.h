/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_GRAPH_H
#define RCORE_SESSION_HEAP_GRAPH_H

#include "model/heap/heap_object.h"
#include "rcore.h"
#include "session/heap/heap_names.h"

/* What the subcommands of `rcore heap` read: the graph of a whole heap. */

/*
 * Receives the graph, and the namer of its parts. Texts go to the namer's
 * arena.
 */
typedef struct rcore_error *rcore_graph_use(struct rcore_heap_namer *namer, void *context);

/*
 * Reads the heap with its edges and roots, and calls `use`. Errors: those of
 * rcore_session_heap(), rcore_graph_slots() and `use`.
 */
struct rcore_error *rcore_session_graph(struct rcore_session *session,
					struct rcore_arena *arena, rcore_graph_use *use,
					void *context);

/*
 * Adds the roots to a heap that has slots, as rcore_roots_find() does. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_session_roots(struct rcore_session *session, struct rcore_ruby *ruby,
					uint64_t vm, uint64_t objspace,
					struct rcore_heap *heap);

struct rcore_refs_options {
	uint64_t address; /* of an object, or within its slot */
	bool is_id;       /* `address` is the id that a heapsnapshot has */
	/* NULL, or the path of a constant; then `address` is not used. */
	const char *constant;
	const char *global; /* the same for a global variable, "$foo" */
	size_t limit;       /* how many referrers to list */
};

/*
 * Finds what refers to an object, and a path to it. The caller frees *ret.
 * Errors: USAGE if no object is there; those of rcore_constant().
 */
struct rcore_error *rcore_heap_refs(struct rcore_session *session,
				    const struct rcore_refs_options *options,
				    struct rcore_heap_refs **ret);
void rcore_heap_refs_free(struct rcore_heap_refs *refs); /* NULL-safe */

/*
 * Finds what each object, class and root retains, and lists the `limit`
 * largest of each. The caller frees *ret.
 */
struct rcore_error *rcore_heap_retained(struct rcore_session *session, size_t limit,
					struct rcore_heap_retained **ret);
/* The same, with the `nodes` largest nodes of the tree. */
struct rcore_error *rcore_heap_retained_tree(struct rcore_session *session, size_t limit,
					     size_t nodes, struct rcore_heap_retained **ret);
/* NULL-safe. */
void rcore_heap_retained_free(struct rcore_heap_retained *retained);

#endif
