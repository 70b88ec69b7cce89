/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CHILDREN_H
#define RCORE_RUBY_CHILDREN_H

#include "model/heap/heap.h"
#include "ruby/object/fields.h"
#include "ruby/object/value.h"

/*
 * ruby/children/ finds what an object refers to: what the collector marks when
 * it visits the object, in the same order. There is one file for each family of
 * types; each names the functions of CRuby that it mirrors, below
 * gc_mark_children() (from 3.4 on, rb_gc_mark_children()) of gc.c.
 *
 * graph.h builds the graph of the whole heap from it.
 */
struct rcore_child {
	uint64_t value;
	enum rcore_edge_kind kind;
	/*
	 * An index. If the kind has a name and `name` is NULL: the ID of the
	 * name (IVAR and LOCAL; FIBER_LOCAL if traits.local_storage_is_st), or
	 * the serial number of that ID.
	 */
	uint64_t number;
	const char *name; /* static; of a FIELD */
};

/* Gets each reference that is not an immediate. It need not be valid. */
typedef void rcore_child_visit(void *context, const struct rcore_child *child);

enum { RCORE_CHILD_IVARS = 256 };

struct rcore_children {
	struct rcore_ruby *ruby;
	rcore_child_visit *visit;
	void *context;
	/* Sets state bits of the object: OPAQUE, PARTIAL. */
	uint8_t state;

	/* Private: the object. */
	uint64_t object, flags;
	const unsigned char *copy; /* of its slot */
	size_t size;
	uint64_t count;  /* of words looked at so far */
	uint64_t total;  /* of those of all objects */
	uint64_t *words; /* a buffer of RCORE_CHILD_WORDS */
	/*
	 * The IDs of the first instance variables of objects that have this
	 * shape or, up to 3.1, this table. `kind` is NONE before the first one.
	 */
	struct rcore_child_ivars {
		enum rcore_fields_kind kind;
		uint64_t place; /* the shape or the table */
		uint64_t count; /* of fields that the shape has */
		uint64_t ids[RCORE_CHILD_IVARS];
	} ivars;
	bool generic_failed;
};

/*
 * Bounds on the words that may be references, and on the members of structs:
 * of one object, and of all. Damaged objects may all claim to have the same
 * gigabyte.
 */
#define RCORE_CHILD_LIMIT       (UINT64_C(1) << 28)
#define RCORE_CHILD_TOTAL_LIMIT (UINT64_C(1) << 34)
enum { RCORE_CHILD_WORDS = 8192 };

/* Error: NO_MEMORY. */
struct rcore_error *rcore_children_init(struct rcore_children *children,
					struct rcore_ruby *ruby, rcore_child_visit *visit,
					void *context);
void rcore_children_deinit(struct rcore_children *children);

/*
 * Visits what the object in a slot refers to: generic instance variables, the
 * class (kind CLASS), and then the rest. `copy` has the whole slot. What cannot
 * be read is left out, and sets PARTIAL.
 */
void rcore_children_of(struct rcore_children *children, uint64_t object, const void *copy,
		       size_t size);

#endif
