/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_RUBY_H
#define RCORE_RUBY_RUBY_H

/*
 * ruby/ decodes single objects of CRuby's heap: object/ (classes, instance
 * variables, strings, tables), symbol/ (IDs and Symbols), iseq/ (code, lines,
 * labels, methods), inspect/ (a value as its inspect prints it). It sees
 * struct rcore_memory and a layout, never an ELF file, so unit tests run it on
 * fake memory. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "layout/layout.h"
#include "ruby/cache.h"
#include "target/memory.h"
#include "target/pack/recorder.h"

/*
 * Static variables of the VM that no symbol of a stripped Ruby names. They are
 * searched for when the first object needs them, and stay where they are as
 * long as the process lives: whoever reads it again hands them on.
 */
struct rcore_statics {
	/*
	 * Writable data of the module that holds the VM, in address order; not
	 * owned.
	 */
	const struct rcore_range {
		uint64_t start, end;
	} * writable;
	size_t writable_count;
	/* rb_shape_tree, rb_shape_tree_ptr; 0: not known yet. */
	uint64_t shape_tree;
	/* generic_fields_tbl_, generic_iv_tbl_, generic_iv_tbl. */
	uint64_t generic_ivars;
	uint64_t encoding_list; /* rb_encoding_list */
	/* default_internal where it is set, else default_external. */
	uint64_t default_encoding;
	/* The element of CodeRanges that leads to CR_Print. */
	uint64_t printable;
	unsigned shape_searches, generic_searches;
	unsigned encoding_searches, default_searches, printable_searches;
};

/*
 * What every decoder of a Ruby object needs: the bytes, where the fields are,
 * and the few global tables of the VM. Decoders only read; what they find they
 * keep in caches here (an iseq is shared by thousands of frames), strings in
 * `arena`.
 */
struct rcore_ruby {
	struct rcore_memory *memory;
	/* Reads through what compaction left; NULL: nothing. */
	struct rcore_moved *moved;
	/*
	 * Then the bytes as they are: a slot itself, not where its object is.
	 */
	struct rcore_memory *unmoved;
	const struct rcore_layout *layout;
	struct rcore_arena *arena; /* the snapshot's */

	/* rb_symbols_t; 0: not found, then IDs have no names. */
	uint64_t global_symbols;
	/*
	 * The array of rb_shape_t (3.2: of the VM; later found by
	 * rcore_shape()); 0: unknown.
	 */
	uint64_t shape_list;
	struct rcore_statics statics;

	/*
	 * Where something is to be packed: walks over the whole heap are not,
	 * what they find is. NULL: nothing is.
	 */
	struct rcore_recorder *recorder;
	/*
	 * Contents of Strings and Symbols that the program made are filled with
	 * stars.
	 */
	bool hides_text;
	size_t hidden_count; /* of these */
	/*
	 * The fibers that such a walk found where the pack was made; NULL: the
	 * target is no pack.
	 */
	const uint64_t *packed_fibers;
	size_t packed_fiber_count;

	uint64_t top_self; /* the object "main"; 0: unknown */
	uint64_t progname; /* the String $0; 0: unknown */

	/* Private to the decoders. */
	struct rcore_arena scratch; /* what the caches hold, but for strings */
	struct rcore_cache iseqs, classes, methods, names, labels;
	bool is_making_message; /* of a NameError, see inspect_exception.c */
	/* Pairs of first and last; NULL: not read yet. */
	const uint32_t *printable;
	size_t printable_count;
	/* Of __classpath__ ..., see class_name.c; 0: not met yet. */
	uint64_t class_name_ids[3];
};

/* `memory`, `layout` and `arena` must outlive it. */
void rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
		     const struct rcore_layout *layout, struct rcore_arena *arena);
void rcore_ruby_deinit(struct rcore_ruby *ruby);

/*
 * Takes from the rb_vm_t what decoders need of it. What cannot be read stays
 * unknown.
 */
void rcore_ruby_set_vm(struct rcore_ruby *ruby, uint64_t vm);

#endif
