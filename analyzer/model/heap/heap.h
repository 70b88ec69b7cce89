/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_HEAP_H
#define RCORE_MODEL_HEAP_H

/*
 * model/heap/ has what `rcore heap` finds: the graph of the objects, lists of
 * them, and what diff, doctor and verify report. Start here.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The GC heap as a graph of numbers. ruby/children/ and vm/roots.c fill it,
 * heap/ computes with it, report/ prints it.
 *
 * A node is a slot, free ones included: node N is slot N of all pages in the
 * order of their addresses. So a node needs no address of its own, and an
 * address leads to its node by arithmetic. Edges are in compressed sparse rows:
 * first_edge[N] is the first one of node N, first_edge[N + 1] - 1 the last. A
 * slot costs 10 bytes, and an edge 8.
 */

/* "No node" in every array of nodes. */
#define RCORE_HEAP_NONE UINT32_MAX

/* A page: its slots are the nodes from first_node on. */
struct rcore_heap_span {
	uint64_t start;
	uint32_t first_node, slot_count;
	uint32_t slot_size;
	/*
	 * The page is not in the core. Its slots are nodes of type 0 with the
	 * state ABSENT.
	 */
	bool is_absent;
	uint64_t heap_page; /* CRuby's struct for it */
};

/* What is known of a slot; bits of rcore_heap.state. */
enum rcore_heap_state {
	/* The last marking of the collector reached it. */
	RCORE_HEAP_MARKED = 1 << 0,
	/* Survived; only a major GC collects it. */
	RCORE_HEAP_OLD = 1 << 1,
	RCORE_HEAP_WB_PROTECTED = 1 << 2,
	/*
	 * The collector found it to be garbage and has not freed it yet. What
	 * it refers to may be freed.
	 */
	RCORE_HEAP_UNSWEPT = 1 << 3,
	/*
	 * Only code of an extension knows all of its references: some of its
	 * edges are of kind CONSERVATIVE, and some may be missing.
	 */
	RCORE_HEAP_OPAQUE = 1 << 4,
	/* Some of its references could not be read. */
	RCORE_HEAP_PARTIAL = 1 << 5,
	RCORE_HEAP_ABSENT = 1 << 6, /* not in the core */
	/* `extra` is not known: an extension's T_DATA. */
	RCORE_HEAP_SIZE_UNKNOWN = 1 << 7,
};

/*
 * How a node refers to another one. A label is `kind << RCORE_EDGE_KIND_SHIFT |
 * number`. What the number is depends on the kind: N is an index, which stops
 * at RCORE_EDGE_NUMBER_MAX; NAME an index of rcore_heap.names.
 */
enum rcore_edge_kind {
	/* The first edge of a node if it has a class: RBasic.klass. */
	RCORE_EDGE_CLASS,
	/* NAME: of Thread#[] */
	RCORE_EDGE_FIBER_LOCAL,
	RCORE_EDGE_FIELD,    /* NAME: a member of the struct, "default proc" */
	RCORE_EDGE_IVAR,     /* NAME: "@a" */
	RCORE_EDGE_CONSTANT, /* NAME */
	RCORE_EDGE_CVAR,     /* NAME: "@@a" */
	RCORE_EDGE_METHOD,   /* NAME */
	RCORE_EDGE_LOCAL,    /* NAME */
	RCORE_EDGE_ELEMENT,  /* N: of an Array, a Struct ... */
	RCORE_EDGE_KEY,      /* N: of a Hash; the pair's place in it */
	RCORE_EDGE_VALUE,    /* N */
	RCORE_EDGE_OPERAND,  /* N: of an instruction; its place in the code */
	/*
	 * N: a word that looks like a reference; its place in the object's own
	 * malloc chunk, in words.
	 */
	RCORE_EDGE_CONSERVATIVE,
	RCORE_EDGE_KINDS,
};

enum { RCORE_EDGE_KIND_SHIFT = 27 };
#define RCORE_EDGE_NUMBER_MAX ((UINT32_C(1) << RCORE_EDGE_KIND_SHIFT) - 1)

static inline uint32_t rcore_edge_label(enum rcore_edge_kind kind, uint64_t number)
{
	return (uint32_t)kind << RCORE_EDGE_KIND_SHIFT |
	       (uint32_t)(number < RCORE_EDGE_NUMBER_MAX ? number : RCORE_EDGE_NUMBER_MAX);
}

static inline enum rcore_edge_kind rcore_edge_kind(uint32_t label)
{
	return label >> RCORE_EDGE_KIND_SHIFT;
}

static inline uint32_t rcore_edge_number(uint32_t label)
{
	return label & RCORE_EDGE_NUMBER_MAX;
}

/* Whether the number is an index of rcore_heap.names. */
static inline bool rcore_edge_has_name(enum rcore_edge_kind kind)
{
	return kind >= RCORE_EDGE_FIBER_LOCAL && kind <= RCORE_EDGE_LOCAL;
}

/* Why something is alive. The order is that in which paths prefer roots. */
enum rcore_root_kind {
	RCORE_ROOT_VM,         /* a member of the VM, named */
	RCORE_ROOT_GLOBAL,     /* "$a" */
	RCORE_ROOT_THREAD,     /* a member of a thread or a fiber, named */
	RCORE_ROOT_FRAME,      /* a word of a VM stack: "T3 frame 4: x" */
	RCORE_ROOT_SYMBOL,     /* a symbol's name; symbols are never freed */
	RCORE_ROOT_FINALIZER,  /* ObjectSpace.define_finalizer */
	RCORE_ROOT_ENDING,     /* a block of at_exit */
	RCORE_ROOT_REGISTERED, /* rb_gc_register_address(): "cache of foo.so" */
	RCORE_ROOT_MACHINE,    /* a word of a machine stack, or a register */
	RCORE_ROOT_KINDS,
};

enum { RCORE_DANGLING_LIMIT = 10000 };

struct rcore_heap_root {
	uint32_t node;
	uint8_t kind; /* enum rcore_root_kind */
	/* The word only looks like a reference. */
	bool is_conservative;
	/* NAME: an index of rcore_heap.names; 0: none. */
	uint32_t name;
	/* Where the word is; 0: in a register. */
	uint64_t address;
};

/* Bytes that do not fit into `extra`. */
struct rcore_heap_large {
	uint32_t node;
	uint64_t bytes;
};

/* A reference that leads to no used slot of the heap. */
struct rcore_heap_dangling {
	uint32_t node, label; /* as in an edge */
	uint64_t value;
};

/* What the collector was doing: enum gc_mode. */
enum rcore_heap_mode {
	RCORE_HEAP_IDLE,
	RCORE_HEAP_MARKING,
	RCORE_HEAP_SWEEPING,
	RCORE_HEAP_COMPACTING,
};

struct rcore_heap {
	/* By address. */
	struct rcore_heap_span *spans;
	size_t span_count;

	uint32_t node_count;
	/* enum rcore_type; 0 (T_NONE): a free slot. */
	uint8_t *type;
	uint8_t *state; /* enum rcore_heap_state */
	/*
	 * Bytes of C memory that ObjectSpace.memsize_of adds to the slot;
	 * UINT32_MAX: it is in `large`, which is in the order of nodes.
	 */
	uint32_t *extra;
	struct rcore_heap_large *large;
	size_t large_count;

	uint32_t *first_edge; /* node_count + 1 */
	uint32_t *target;     /* nodes; never RCORE_HEAP_NONE */
	uint32_t *label;
	uint32_t edge_count;

	struct rcore_heap_root *roots;
	size_t root_count;

	/* Texts of edges and roots, each once; names[0] is "". */
	const char **names;
	uint32_t name_count;

	/* Pages of the heap that could not be found or read. */
	size_t absent_pages;
	uint64_t dangling_edges;
	/* The first RCORE_DANGLING_LIMIT of them. */
	struct rcore_heap_dangling *dangling;
	size_t dangling_count;
	enum rcore_heap_mode mode;
	/* In the middle of a step, such as the sweep of a page. */
	bool is_collecting;
	/* Why the graph is incomplete; "" if it is not. */
	char problem[160];
};

/* Returns the address of a node < node_count. */
uint64_t rcore_heap_address(const struct rcore_heap *heap, uint32_t node);

/*
 * Returns the node whose edges include `edge`; node_count if the edge is not
 * < edge_count.
 */
uint32_t rcore_heap_node_of_edge(const struct rcore_heap *heap, uint32_t edge);

/*
 * Returns the node whose slot starts at `address`, or RCORE_HEAP_NONE. If
 * `inside`, also finds it by an address within the slot.
 */
uint32_t rcore_heap_node_at(const struct rcore_heap *heap, uint64_t address, bool inside);

/* Returns the bytes of the slot and of its C memory. */
uint64_t rcore_heap_bytes(const struct rcore_heap *heap, uint32_t node);

/* Returns the node of its class; RCORE_HEAP_NONE if it has none. */
uint32_t rcore_heap_class(const struct rcore_heap *heap, uint32_t node);

/* Frees all arrays and names, and zeroes *heap. */
void rcore_heap_deinit(struct rcore_heap *heap);

#endif
