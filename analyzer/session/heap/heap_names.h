/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_NAMES_H
#define RCORE_SESSION_HEAP_NAMES_H

#include "base/address_map.h"
#include "heap/path.h"
#include "image/elf/modules.h"
#include "model/heap/heap_object.h"
#include "redact/redact.h"
#include "ruby/ruby.h"
#include "session/heap/heap_threads.h"

/*
 * Describes nodes, edges and roots of a heap in words. All texts are redacted
 * and live in `arena`.
 */
struct rcore_heap_namer {
	struct rcore_ruby *ruby;
	const struct rcore_heap *heap;
	struct rcore_modules *modules;
	struct rcore_redactor *redactor;
	struct rcore_arena *arena;
	/* Counts what was removed; NULL: do not count. */
	struct rcore_redaction *redaction;
	/*
	 * Redact nothing: the texts are compared, and the caller redacts those
	 * that are printed.
	 */
	bool is_raw;
	/* Names threads; freed with the namer. */
	struct rcore_heap_threads threads;
	/* Private: the names of classes by the address in RBasic.klass. */
	struct rcore_address_map known;
	struct {
		const char **items;
		size_t count, capacity;
	} classes;
	/* Classes that were asked for last, by node. */
	struct rcore_recent_class {
		bool is_known;
		uint32_t klass, number;
	} recent[64];
};

void rcore_heap_namer_deinit(struct rcore_heap_namer *namer);

/* Redacts one text, as rcore_redact_text() does, and counts it. */
struct rcore_error *rcore_heap_redact(struct rcore_heap_namer *namer, enum rcore_part_kind kind,
				      const char **text);

/*
 * Returns the number of the name of a node's class: an index of
 * namer->classes. Objects with equal names may have different numbers. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_heap_class_number(struct rcore_heap_namer *namer, uint32_t node,
					    uint32_t *ret);

/* Sets all but `retained`. Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe(struct rcore_heap_namer *namer, uint32_t node,
					struct rcore_heap_object *ret);

/*
 * The same. Also names a Thread ("T2") or a Fiber ("T2.F1"), and its thread.
 * Such a name is valid in one core only. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_describe_one(struct rcore_heap_namer *namer, uint32_t node,
					    struct rcore_heap_object *ret);

/* "@items", "[3]", "constant FOO". Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe_edge(struct rcore_heap_namer *namer, uint32_t label,
					     const char **ret);

/*
 * The same for an edge between two nodes. For a local variable, also names the
 * fiber and the frames. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_describe_edge_of(struct rcore_heap_namer *namer, uint32_t from,
						uint32_t to, uint32_t label, const char **ret);

/* The same without the index: "an element". Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe_step(struct rcore_heap_namer *namer, uint32_t label,
					     const char **ret);

/*
 * Returns the thread on whose machine stack a root is; NULL: it is another
 * root, or the thread is unknown.
 */
const struct rcore_thread *rcore_heap_thread_of_root(struct rcore_heap_namer *namer,
						     const struct rcore_heap_root *root);

/* "global variable $a". `name` is an index of heap->names. */
struct rcore_error *rcore_heap_describe_root(struct rcore_heap_namer *namer, unsigned kind,
					     uint32_t name, const char **ret);

/* The same for one root: "machine stack of T2 \"pump\"". Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe_one_root(struct rcore_heap_namer *namer,
						 const struct rcore_heap_root *root,
						 const char **ret);

/* The path to a node. Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe_route(struct rcore_heap_namer *namer,
					      const struct rcore_heap_paths *paths,
					      uint32_t node, struct rcore_heap_route *ret);

/* What could not be read of the heap. Error: NO_MEMORY. */
struct rcore_error *rcore_heap_describe_gaps(const struct rcore_heap_namer *namer,
					     struct rcore_heap_gaps *ret);

#endif
