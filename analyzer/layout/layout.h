/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_LAYOUT_H
#define RCORE_LAYOUT_LAYOUT_H

/*
 * layout/ knows where CRuby's fields are, by release and build: the list of
 * fields (fields.def), the tables (tables/, generated), their parser, and the
 * DWARF reader that makes them. It is the only folder that compares versions.
 * Start with fields.def, then read this.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "target/memory.h"

/*
 * Where CRuby's fields are, for one Ruby release and one build of it, as data.
 * A layout comes from the target's own DWARF, or from a table that the
 * generator made from a build with DWARF (layout/tables/), never from hand.
 */

/*
 * What a layout knows of a field, a struct or a constant: its place or value;
 * that this Ruby lacks it (absent); or nothing, as fields.def lists it and
 * nobody has looked yet (unmeasured). A feature that reads an unmeasured field
 * fails and says so; one that this Ruby lacks is an answer.
 */
enum {
	RCORE_ABSENT = -1, /* an offset */
	RCORE_UNMEASURED = -2,
};
#define RCORE_NO_CONSTANT         INT64_MIN
#define RCORE_UNMEASURED_CONSTANT (INT64_MIN + 1)

/* One field: `offset` in bytes from the struct's start, or one of the above. A
 * bit-field keeps the byte that holds its lowest bit, that bit's number in the
 * byte, and its width in bits; a plain field has bits == 0. */
struct rcore_field {
	int32_t offset;
	/*
	 * Bytes; of the member's type, arrays and structs whole; 0: an array to
	 * the end.
	 */
	uint16_t size;
	uint8_t bit, bits;
};

/* Algorithms that changed between releases; layout/traits.c says when. */
enum rcore_label_style {
	RCORE_LABEL_PLAIN, /* up to 3.3: `block in foo' */
	/* 3.4: 'Foo#foo', internal frames shown as they are. */
	RCORE_LABEL_QUALIFIED,
	/* 4.0: <internal: frames take the caller's path and line. */
	RCORE_LABEL_BACKPATCH,
};

/* In which order a Thread::Backtrace keeps its locations. */
enum rcore_backtrace_order {
	RCORE_BACKTRACE_OUTERMOST_FIRST, /* up to 2.7 */
	/* 3.0: the innermost, the last, is never shown. */
	RCORE_BACKTRACE_OUTERMOST_EXTRA,
	RCORE_BACKTRACE_INNERMOST_FIRST, /* 3.1 on */
};

struct rcore_traits {
	enum rcore_label_style label_style;
	/* Every rb_context_t is on the rb_jit_cont list. */
	bool fibers_listed;
	/* A fiber's machine stack begins with its guard page. */
	bool guard_inside;
	/* fiber->resuming_fiber is a Fiber, not a rb_fiber_t. */
	bool resuming_object;
	/* th->ec is the new fiber's before its stack is. */
	bool ec_switched_first;
	/* ec->cfp counts a frame before it is filled. */
	bool frames_pushed_first;
	/* A parked fiber's pc is its saved x30 (aarch64). */
	bool coroutine_link;
	bool shapes; /* ivars by shape */
	/* Bits of a shape's ID that are its place in the list. */
	uint32_t shape_id_mask;
	/* rb_shape_tree is the struct, no pointer to it. */
	bool shape_tree_is_struct;
	unsigned heap_page_align;   /* bytes */
	unsigned default_slot_size; /* where heap_page has no slot_size */
	/* heap_pages.sorted is a rb_darray. */
	bool heap_pages_darray;
	/* Mask in RBasic.flags of a T_CLASS: FL_SINGLETON. */
	unsigned singleton_flag;
	/* binding.local_variables lists _1. */
	bool numbered_are_locals;
	/* NameError#message has the receiver's inspect. */
	bool name_error_inspects;
	/* ec->local_storage is a st_table. */
	bool local_storage_is_st;
	/* The bit of VM_ENV_FLAG_ISOLATED says that, not PASSED. */
	bool env_isolated;
	enum rcore_backtrace_order backtrace_order;
	/* Imemo types. */
	unsigned imemo_ment, imemo_svar, imemo_cref, imemo_iseq, imemo_env;

	/* What inspect prints. */
	/* Of a T_STRUCT's count, in its flags. */
	unsigned struct_embed_mask;
	/* {a: 1, "b" => 2}, not {:a=>1, "b"=>2}. */
	bool hash_with_colons;
	/* #<Foo:"a\nb">; otherwise the text as it is. */
	bool exception_quotes_newlines;
	/* In the message of a NameError. */
	bool receiver_inspect_limited;
	bool method_shows_parameters; /* and its place */
	/* The class of the receiver alone tells its owner. */
	bool method_of_class;
	/* An UnboundMethod shows its owner alone. */
	bool method_of_owner;
	/* "..." are three parameters; otherwise "*" is. */
	bool method_forwards_all;
	bool time_offset_seconds; /* +010203, not +0102 */
	bool next_line_printable; /* U+0085 */
	/* A String in UTF-16 is read by its byte order mark. */
	bool dummy_utf_by_mark;
	/* #<Encoding:BINARY (ASCII-8BIT)> */
	bool encoding_named_binary;
};

enum rcore_layout_source {
	RCORE_LAYOUT_DWARF, /* the target's own debug information */
	RCORE_LAYOUT_EXACT, /* the table of this very release, proved */
	/* The nearest table of the same minor, proved as far as it goes. */
	RCORE_LAYOUT_APPROXIMATE,
};

struct rcore_layout {
	/*
	 * "3.3.1..3.3.6-x86_64-cet": the table's, or the DWARF file's base
	 * name.
	 */
	char name[64];
	unsigned version[3]; /* the first release that it was measured on */
	/* And the patch level of the last, 6; each in between was, too. */
	unsigned last_patch;
	unsigned machine; /* EM_X86_64, EM_AARCH64 */
	/*
	 * Of a release of which only headers were at hand: from which release
	 * the structs are taken that only C files define (is_borrowed); 0.0.0:
	 * all were measured. Such a layout is APPROXIMATE.
	 */
	unsigned neighbour[3];
	enum rcore_layout_source source;
	struct rcore_traits traits;

#define RCORE_STRUCT(id, names) \
	struct {                \
		uint32_t size;  \
		bool is_borrowed, is_unmeasured;
#define RCORE_FIELD(struct_id, id, paths) struct rcore_field id;
#define RCORE_END(id) \
	}             \
	id;
#include "layout/fields.def"

	struct {
#define RCORE_ENUM(id, names) int64_t id;
#include "layout/fields.def"
	} constant;
};

/*
 * Whether this Ruby has the field, or may have it: of an unmeasured one nobody
 * knows. To read that one fails, so code that asks which of two fields a Ruby
 * has takes no wrong turn.
 */
static inline bool rcore_has(const struct rcore_field *field)
{
	return field->offset != RCORE_ABSENT;
}

/* Whether its place is known. */
static inline bool rcore_has_place(const struct rcore_field *field)
{
	return field->offset >= 0;
}

/*
 * Bytes that hold the field: of a bit-field those with its bits, not its
 * type's.
 */
static inline size_t rcore_field_width(const struct rcore_field *field)
{
	return field->bits ? (field->bit + field->bits + 7u) / 8 : field->size;
}

/*
 * Reads a field of the struct at `base`: unsigned, 1 to 8 bytes, bit-fields
 * shifted down. RCORE_FAULT_UNMAPPED if this Ruby has no such field; check
 * rcore_has() where that may be. RCORE_FAULT_NOT_MEASURED if the layout does
 * not know. Signed fields (int) are the caller's to cast.
 */
enum rcore_fault rcore_read_field(struct rcore_memory *memory, uint64_t base,
				  const struct rcore_field *field, uint64_t *ret);

/* The same out of a copy of the struct's first `size` bytes; false where the
 * field is not wholly in them. */
bool rcore_field_of(const void *copy, size_t size, const struct rcore_field *field,
		    uint64_t *ret);

/*
 * The error of whoever needs an unmeasured field of the layout: UNSUPPORTED.
 * NULL for any other field.
 */
struct rcore_error *rcore_not_measured(const struct rcore_layout *layout,
				       const struct rcore_field *field);

/*
 * Parses a table: text with one item per line, as `rcore layout FILE` prints it
 * and as layout/tables/ and --layout contain it:
 *
 *   # a comment, provenance
 *   layout 3.3.1..3.3.6-x86_64-cet
 *   ruby 3.3.1..3.3.6           or one release: 3.3.0
 *   machine x86_64
 *   struct vm 9600
 *   struct fiber 624 4.0.5      as in the other release, if headers lack it
 *   vm.ractor_set 8 16          field, offset, size
 *   thread.status 240 4 0:2     field, offset, size, bit:bits
 *   fiber.transferred -         not in this Ruby
 *   enum qnil 4
 *
 * A struct or an enumerator that this Ruby lacks has '-', too. Each item of
 * fields.def appears at most once, in any order. An item that does not appear,
 * or has '?', is not measured; only the structs of VM, thread and EC must be.
 * Everything else is an error that names `origin` (the file, for messages) and
 * the line. Errors: FORMAT. Sets the layout's source to EXACT (APPROXIMATE if
 * it borrows structs), and its traits to those of its version.
 */
struct rcore_error *rcore_layout_parse(const char *text, const char *origin,
				       struct rcore_layout *ret);

/* The text of a table, malloc'ed; NULL when memory is short. `provenance` is
 * printed as comment lines at the top (may be NULL). */
char *rcore_layout_print(const struct rcore_layout *layout, const char *provenance);

/* The name of the index-th table compiled in; NULL past the last. */
const char *rcore_layout_builtin_name(size_t index);

/* That table. Errors: as rcore_layout_parse(). */
struct rcore_error *rcore_layout_builtin(size_t index, struct rcore_layout *ret);

/*
 * Candidates for a target, best first: exact version first (each build of it),
 * then the other releases of the same minor, nearest first; of two as near the
 * user's own (store.h) before the built-in one. `ret[]` is malloc'ed by the
 * callee; NO_LAYOUT, with the next step in its text, when there is none.
 */
struct rcore_error *rcore_layout_candidates(const unsigned version[3], unsigned machine,
					    struct rcore_layout **ret, size_t *ret_count);

/*
 * Why there can be no built-in table: `name`, "Ruby 2.1.6", is of a series
 * before the first or after the last that has one. NULL: it is within.
 */
struct rcore_error *rcore_layout_unsupported(const unsigned version[3], unsigned machine,
					     const char *name);

/* Whether it was measured on this very release. */
bool rcore_layout_measures(const struct rcore_layout *layout, const unsigned version[3]);

/* "3.3.8" to its three numbers; false, `ret` untouched, for anything else. */
bool rcore_version_parse(const char *text, unsigned ret[3]);

/*
 * "3.3.1..3.3.6", or "3.3.0" alone, to the first release and the last's patch
 * level.
 */
bool rcore_version_range_parse(const char *text, unsigned ret[3], unsigned *ret_last_patch);

/*
 * Sets layout->traits from layout->version: the one place that compares
 * versions.
 */
void rcore_layout_set_traits(struct rcore_layout *layout);

/*
 * Reads a layout from the DWARF of a file: a ruby, a libruby, a program that
 * embeds one, or the separate debug file of one. `version` is that of the
 * target when known, else NULL: then it comes from the file itself
 * (ruby_version), which a debug file does not hold. A struct that no C unit of
 * the file defines is absent, as are its fields; VM, thread and EC are always
 * there. The name is the file's base name. Errors, each naming the file: OS,
 * FORMAT (no ELF, no DWARF, no Ruby in it, no version), UNSUPPORTED (32-bit,
 * another machine).
 */
struct rcore_error *rcore_layout_from_dwarf(const char *path, const unsigned version[3],
					    struct rcore_layout *ret);

/*
 * The same of a file that was built of `neighbour`'s sources with the headers
 * of release `version`, which lie in the folder `headers`: structs that none of
 * these declares are marked as the neighbour's.
 */
struct rcore_error *rcore_layout_from_headers(const char *path, const unsigned version[3],
					      const char *headers, const unsigned neighbour[3],
					      struct rcore_layout *ret);

/*
 * Takes the structs that a layout has nothing of from another: what only an
 * extension of Ruby defines (struct rb_monitor) is in no libruby's DWARF.
 */
void rcore_layout_complete(struct rcore_layout *layout, const struct rcore_layout *from);

/*
 * Visits what the layout does not know, in fields.def's order: "struct weakmap"
 * for a struct and all its fields, "thread.name", "enum qnil". Returns how many
 * items of fields.def that are; `visit` may be NULL.
 */
typedef void rcore_layout_unmeasured_visit(void *context, const char *item);
size_t rcore_layout_unmeasured(const struct rcore_layout *layout,
			       rcore_layout_unmeasured_visit *visit, void *context);

/*
 * What to say of such a layout at the top of a table: file name, build-id,
 * compiler; lines, malloc'ed. NULL when the file cannot be read or memory is
 * short.
 */
char *rcore_layout_provenance(const char *path);

/*
 * Names a layout as the tables are: "3.3.0-x86_64", "3.3.1..3.3.6-x86_64-cet".
 */
void rcore_layout_set_table_name(struct rcore_layout *layout);

#endif
