/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_RUBY_H
#define RCORE_RUBY_RUBY_H

/*
 * ruby/ decodes single objects of CRuby's heap: object/ (classes, instance
 * variables, strings, tables), heap/ (pages and slots), symbol/ (IDs and
 * Symbols), children/ (what an object refers to), iseq/ (code, lines,
 * labels, methods), inspect/ (a value as its inspect prints it). It includes
 * model/, a layout and struct rcore_memory, and never sees an ELF file, so unit
 * tests run it on fake memory. Start here.
 */

#include <string.h>

#include "base/address_map.h"
#include "base/arena.h"
#include "base/error.h"
#include "layout/layout.h"
#include "ruby/cache.h"
#include "target/memory.h"
#include "target/pack/recorder.h"

/*
 * Static variables of the VM that no symbol of a stripped Ruby names. They are
 * searched for when the first object needs them. As they do not move while the
 * process lives, later readers get them from earlier ones.
 */
struct rcore_statics {
	/*
	 * The writable data of the module that contains the VM, in address
	 * order; not owned.
	 */
	const struct rcore_range {
		uint64_t start, end;
	} * writable;
	size_t writable_count;
	struct rcore_range module; /* all of that module; empty if unknown */
	/* rb_shape_tree, rb_shape_tree_ptr; 0 if not known yet. */
	uint64_t shape_tree;
	/* generic_fields_tbl_, generic_iv_tbl_, generic_iv_tbl. */
	uint64_t generic_ivars;
	uint64_t fiber_type; /* the rb_data_type_t of Fibers */
	/* Whether Fibers that were found last have no write barriers. */
	bool fibers_unprotected;
	uint64_t encoding_list; /* rb_encoding_list */
	/* default_internal if it is set, otherwise default_external. */
	uint64_t default_encoding;
	/* The element of CodeRanges that points to CR_Print. */
	uint64_t printable;
	uint32_t iseq_body_size; /* see ruby/children/memsize_iseq.c */
	bool has_no_async;       /* no constant Async at the last look */
	/*
	 * How often each was searched for in vain. In a process that runs, that
	 * says little: rcore_statics_search_again().
	 */
	struct {
		unsigned shape, generic, encoding, default_encoding, printable, body;
	} searches;
};

/*
 * Lets decoders search once more for the table of generic instance variables.
 * That takes milliseconds, so it is for a process that is stopped.
 */
static inline void rcore_statics_search_once_more(struct rcore_statics *statics)
{
	if (statics->searches.generic)
		statics->searches.generic--;
}

/* Lets decoders search for all of them again. */
static inline void rcore_statics_search_again(struct rcore_statics *statics)
{
	memset(&statics->searches, 0, sizeof(statics->searches));
}

struct rcore_core;
struct rcore_live;
struct rcore_chunk_sizes;

/*
 * What every decoder of a Ruby object needs: the memory, the layout, and the
 * few global tables of the VM. Decoders only read. They cache what they find
 * here (thousands of frames share an iseq), and put strings into `arena`.
 */
struct rcore_ruby {
	struct rcore_memory *memory;
	/* Reads objects that compaction has moved; may be NULL. */
	struct rcore_moved *moved;
	/*
	 * If so, the memory without this: a slot itself, not the object that
	 * was in it.
	 */
	struct rcore_memory *unmoved;
	const struct rcore_layout *layout;
	struct rcore_arena *arena; /* the snapshot's */

	/*
	 * The Ruby::Box in which the program runs (ruby/object/box.h); 0: Ruby
	 * was started without boxes.
	 */
	uint64_t main_box;
	/* rb_symbols_t; 0: not found, then IDs have no names. */
	uint64_t global_symbols;
	/*
	 * The array of rb_shape_t (3.2: of the VM; later, rcore_shape() finds
	 * it); 0 if unknown.
	 */
	uint64_t shape_list;
	/* 0: not known yet; RCORE_NO_SHAPE: there is none */
	uint32_t too_complex_shape;
	struct rcore_statics statics;

	/*
	 * Set if a pack will be written: it records what walks over the whole
	 * heap find, but not the walks themselves. Otherwise NULL.
	 */
	struct rcore_recorder *recorder;
	/*
	 * Contents of Strings and Symbols that the program created are replaced
	 * by stars.
	 */
	bool hides_text;
	size_t hidden_count; /* how many */
	/*
	 * Addresses of the fibers that an earlier walk has found: on the
	 * machine that wrote the pack, or in the running process before it was
	 * resumed. NULL: walk.
	 */
	const uint64_t *packed_fibers;
	size_t packed_fiber_count;
	/*
	 * The core or the running process, to read many ranges with few system
	 * calls; both are NULL for other targets.
	 */
	struct rcore_core *core;
	struct rcore_live *live;
	/* For `live`: no round is open, so reads return the current memory. */
	bool reads_now;
	/*
	 * Fibers of an earlier reading, from rb_fiber_t to index. Those that
	 * have not changed since are not decoded and are left out of the
	 * snapshot, unless a thread points to them; `seen` is set to true if
	 * the fiber was found. NULL: there was no such reading.
	 */
	struct rcore_earlier_fibers {
		struct rcore_address_map indices;
		size_t count;
		/* Of each: its rb_fiber_t, its Fiber (0: not known). */
		uint64_t *addresses, *objects;
		bool *unchanged, *seen;
		size_t next; /* after the one that was found last */
	} * earlier_fibers;

	/* How long chunks of C memory are; NULL: glibc's headers show it. */
	const struct rcore_chunk_sizes *chunks;

	/* A check of proof/ failed because memory is short. */
	bool lacks_memory;

	uint64_t top_self; /* the object "main"; 0: unknown */
	uint64_t progname; /* the String $0; 0: unknown */

	/* Private to the decoders. */
	struct rcore_arena scratch; /* what the caches hold, except strings */
	struct rcore_cache iseqs, classes, methods, names, labels, data_types;
	bool is_making_message; /* see inspect_exception.c */
	/* Pairs of first and last; NULL if not read yet. */
	const uint32_t *printable;
	size_t printable_count;
	/* Those of __classpath__ ..., see class_name.c; 0 if not seen yet. */
	uint64_t class_name_ids[3];
};

/* `memory`, `layout` and `arena` must outlive it. */
void rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
		     const struct rcore_layout *layout, struct rcore_arena *arena);
void rcore_ruby_deinit(struct rcore_ruby *ruby);

/*
 * Empties the caches: strings that they have are in `arena`. Call it before you
 * free what decoders put there.
 */
void rcore_ruby_forget(struct rcore_ruby *ruby);

/*
 * Reads from the rb_vm_t what decoders need. What cannot be read stays unknown.
 */
void rcore_ruby_set_vm(struct rcore_ruby *ruby, uint64_t vm);

#endif
