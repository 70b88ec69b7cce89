/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_CHILDREN_PRIVATE_H
#define RCORE_RUBY_CHILDREN_PRIVATE_H

#include "ruby/children/children.h"

/* FL_USERn of include/ruby/internal/fl_type.h. */
#define RCORE_FL_USER(n) (UINT64_C(1) << (RCORE_FL_USHIFT + (n)))
/* IMEMO_FL_USERn of internal/imemo.h. */
#define RCORE_IMEMO_FL_USER(n) RCORE_FL_USER((n) + 4)

/* Whether it has that type. For objects that lead to others. */
bool rcore_child_is_imemo(struct rcore_children *children, uint64_t value, unsigned type);

/* Visits a value, unless it is an immediate. */
void rcore_child_mark(struct rcore_children *children, uint64_t value,
		      enum rcore_edge_kind kind, uint64_t number);
/* Does the same for a member of a struct. */
void rcore_child_mark_named(struct rcore_children *children, uint64_t value, const char *name);

/*
 * Reads a field of the slot's copy; 0 and PARTIAL if this Ruby has the field,
 * but it cannot be read; 0 if it does not have it.
 */
uint64_t rcore_child_field(struct rcore_children *children, const struct rcore_field *field);
/* Does the same for a struct elsewhere. */
uint64_t rcore_child_read(struct rcore_children *children, uint64_t base,
			  const struct rcore_field *field);

#define RCORE_CHILD_FIELD(children, struct_id, id) \
	rcore_child_field(children, &(children)->ruby->layout->struct_id.id)
#define RCORE_CHILD_READ(children, base, struct_id, id) \
	rcore_child_read(children, base, &(children)->ruby->layout->struct_id.id)

/* Visits a member of the slot, or of another struct. */
#define RCORE_CHILD_MARK(children, struct_id, id) \
	rcore_child_mark_named(children, RCORE_CHILD_FIELD(children, struct_id, id), #id)
#define RCORE_CHILD_MARK_AT(children, base, struct_id, id) \
	rcore_child_mark_named(children, RCORE_CHILD_READ(children, base, struct_id, id), #id)

/* Visits an array of VALUEs, numbered from 0 on. */
void rcore_child_mark_values(struct rcore_children *children, uint64_t address, uint64_t count,
			     enum rcore_edge_kind kind);
/*
 * Visits the local variables of an environment: the `size` words below ep[-2].
 * The local table of `iseq` names them.
 */
void rcore_child_mark_locals(struct rcore_children *children, uint64_t iseq, uint64_t ep,
			     uint64_t size);
/* Returns how many local variables `iseq` has; 0 if it is not an iseq. */
uint64_t rcore_child_count_locals(struct rcore_children *children, uint64_t iseq);
/* Visits the records of a st_table; its keys are IDs. */
void rcore_child_mark_st_values(struct rcore_children *children, uint64_t table,
				enum rcore_edge_kind kind);
/*
 * Counts the entries of a table for RCORE_CHILD_TOTAL_LIMIT, since many may be
 * deleted.
 */
void rcore_child_count_table(struct rcore_children *children, uint64_t entries);
/* Sets PARTIAL and releases the error. */
void rcore_child_failed(struct rcore_children *children, struct rcore_error *err);

/* The families. */
void rcore_children_of_generic(struct rcore_children *children);
void rcore_children_of_object(struct rcore_children *children);
void rcore_children_of_fields(struct rcore_children *children);
void rcore_children_of_class(struct rcore_children *children);
void rcore_children_of_iclass(struct rcore_children *children);
void rcore_children_of_array(struct rcore_children *children);
void rcore_children_of_hash(struct rcore_children *children);
void rcore_children_of_string(struct rcore_children *children);
void rcore_children_of_symbol(struct rcore_children *children);
void rcore_children_of_struct(struct rcore_children *children);
void rcore_children_of_file(struct rcore_children *children);
void rcore_children_of_regexp(struct rcore_children *children);
void rcore_children_of_match(struct rcore_children *children);
void rcore_children_of_rational(struct rcore_children *children);
void rcore_children_of_complex(struct rcore_children *children);
void rcore_children_of_imemo(struct rcore_children *children);
void rcore_children_of_iseq(struct rcore_children *children);
void rcore_children_of_data(struct rcore_children *children);
void rcore_children_of_thread(struct rcore_children *children, uint64_t data);
void rcore_children_of_fiber(struct rcore_children *children, uint64_t data);
void rcore_children_of_ractor(struct rcore_children *children, uint64_t data);
/*
 * Words that may be references, in a range or in the chunk that malloc()
 * returned: sets OPAQUE.
 */
void rcore_child_scan(struct rcore_children *children, uint64_t start, uint64_t size);
void rcore_child_scan_chunk(struct rcore_children *children, uint64_t chunk);
/* Structs of extensions. */
void rcore_children_of_ripper(struct rcore_children *children, uint64_t data);
void rcore_children_of_ssl(struct rcore_children *children, uint64_t data);
/* The call caches of a class, up to 3.4, and of a "VM/cc_table". */
void rcore_children_of_call_caches(struct rcore_children *children, uint64_t table);

#endif
