/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_LAYOUT_H
#define RCORE_LAYOUT_LAYOUT_H

/*
 * layout/ knows where CRuby's fields are, by release and build. It has the list
 * of fields (fields.def), the tables (tables/, generated), their parser, and
 * the DWARF reader with which they are made. It includes base/ and target/, and
 * is the only folder that compares versions. Start with fields.def, then read
 * this.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "target/memory.h"

/*
 * Describes, as data, where the fields are in one build of one Ruby release. A
 * layout comes from the target's own DWARF, or from a table that was generated
 * from a build with DWARF (layout/tables/). Tables are never written by hand.
 */

/*
 * What a layout knows of a field, a struct or a constant: its offset or value;
 * that this Ruby does not have it (absent); or nothing, because it is in
 * fields.def but was not measured yet (unmeasured). If a feature needs an
 * unmeasured field, it fails with an error. If this Ruby does not have the
 * field, that is an answer.
 */
enum {
	RCORE_ABSENT = -1, /* an offset */
	RCORE_UNMEASURED = -2,
};
#define RCORE_NO_CONSTANT         INT64_MIN
#define RCORE_UNMEASURED_CONSTANT (INT64_MIN + 1)

/*
 * One field: `offset` is in bytes from the struct's start, or one of the
 * constants above. For a bit-field, it is the byte that contains its lowest
 * bit; `bit` is that bit's number in the byte, and `bits` the width. Other
 * fields have bits == 0.
 */
struct rcore_field {
	int32_t offset;
	/*
	 * Bytes of the member's type, of arrays and structs as a whole; 0: a
	 * flexible array member.
	 */
	uint16_t size;
	uint8_t bit, bits;
};

/* Algorithms that changed between releases; layout/traits.c says when. */
enum rcore_label_style {
	RCORE_LABEL_PLAIN, /* up to 3.3: `block in foo' */
	/* 3.4: 'Foo#foo', internal frames unchanged. */
	RCORE_LABEL_QUALIFIED,
	/* 4.0: <internal: frames get the caller's path and line. */
	RCORE_LABEL_BACKPATCH,
};

/* The order of a Thread::Backtrace's locations. */
enum rcore_backtrace_order {
	RCORE_BACKTRACE_OUTERMOST_FIRST, /* up to 2.7 */
	/* 3.0: the innermost is the last, and is never printed. */
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
	/* During a switch, th->ec is the new fiber's before its stack is. */
	bool ec_switched_first;
	/* ec->cfp counts a frame before it is filled. */
	bool frames_pushed_first;
	/* A parked fiber's pc is its saved x30 (aarch64). */
	bool coroutine_link;
	bool shapes; /* ivars by shape */
	/* The bits of a shape's ID that are its index in the list. */
	uint32_t shape_id_mask;
	/* rb_shape_tree is the struct itself, not a pointer to it. */
	bool shape_tree_is_struct;
	unsigned heap_page_align;   /* bytes */
	unsigned default_slot_size; /* if heap_page has no slot_size */
	/* heap_pages.sorted is a rb_darray. */
	bool heap_pages_darray;
	/* The collector has a mode of its own for compaction. */
	bool gc_mode_compacting;
	/* A VM that ends aborts a lazy sweep: garbage stays, without marks. */
	bool sweep_aborted;
	/* FL_SINGLETON: mask in RBasic.flags of a T_CLASS. */
	unsigned singleton_flag;
	/* binding.local_variables lists _1. */
	bool numbered_are_locals;
	/* NameError#message contains the receiver's inspect. */
	bool name_error_inspects;
	/* ec->local_storage is a st_table. */
	bool local_storage_is_st;
	/* A thread that waits for another's autoload sleeps without a lock. */
	bool autoload_sleeps;
	/* VM_ENV_FLAG_ISOLATED's bit means that, not PASSED. */
	bool env_isolated;
	enum rcore_backtrace_order backtrace_order;
	/* Imemo types; 0: this Ruby does not have it. */
	unsigned imemo_ment, imemo_svar, imemo_cref, imemo_iseq, imemo_env;
	unsigned imemo_throw_data, imemo_ifunc, imemo_memo, imemo_tmpbuf;
	unsigned imemo_ast, imemo_parser_strterm;
	unsigned imemo_cvar_entry, imemo_callinfo, imemo_callcache, imemo_constcache;

	/* What the collector marks. */
	/* ELTS_SHARED: mask in the flags of a T_STRING and a T_ARRAY. */
	unsigned shared_flag;
	unsigned chilled_flags;    /* STR_CHILLED: any of these; 3.4 on */
	unsigned shared_root_flag; /* RARRAY_SHARED_ROOT_FLAG */
	/* Of a T_ICLASS; 0: a bit of its classext, or there is none. */
	unsigned iclass_origin_flag, iclass_shared_mtbl_flag;
	unsigned struct_gen_fields_flag; /* RSTRUCT_GEN_FIELDS */
	unsigned callcache_unmarkable_flag;
	/* Call caches mark their method entries, whatever their kind. */
	bool callcaches_mark_all;
	/* Call caches for super, or of refinements, mark their class. */
	bool callcaches_mark_class;
	unsigned producer_values; /* objects in struct producer */
	bool iseqs_mark_callcaches;
	/*
	 * vm_cc_invalidated_p() of 3.0 answers the wrong way round, so the
	 * collector drops the call caches that are valid.
	 */
	bool iseqs_mark_invalidated;
	bool iseqs_mark_local;     /* local_iseq */
	bool classes_mark_cvars;   /* the lexical scopes of their caches */
	bool envs_mark_code_first; /* before the outer environment */
	/* ObjectSpace.dump_all prints the age of objects, and more. */
	bool dump_has_age;
	bool threads_mark_ec; /* not only through their fiber */
	/* The environment of a frame, and not only the one around it. */
	bool frames_mark_env;
	/* The machine stack of a parked fiber: fiber.machine_stack. */
	bool fibers_mark_stack;
	bool symbols_marked; /* class and name of a dynamic Symbol */

	/*
	 * ObjectSpace.memsize_of counts what any imemo has, not only a tmpbuf.
	 */
	bool memsize_of_imemo;
	/* It counts a table for each Hash without an st_table. */
	bool memsize_of_no_table;
	unsigned registers_size; /* of a MatchData, in bytes */

	/* What inspect prints. */
	/* Masks of the length in flags of an embedded T_STRUCT or T_ARRAY. */
	unsigned struct_embed_mask, array_embed_mask;
	/* {a: 1, "b" => 2}, not {:a=>1, "b"=>2}. */
	bool hash_with_colons;
	/* #<Foo:"a\nb">; otherwise the unchanged text. */
	bool exception_quotes_newlines;
	/* NameError#message contains only an inspect of up to 65 bytes. */
	bool receiver_inspect_limited;
	bool method_shows_parameters; /* and its location */
	/* The owner is found by the receiver's class only. */
	bool method_of_class;
	/* An UnboundMethod only shows its owner. */
	bool method_of_owner;
	/* "..." is three parameters; otherwise "*" is. */
	bool method_forwards_all;
	bool time_offset_seconds; /* +010203, not +0102 */
	bool time_fraction;       /* 12:00:00.5; otherwise it is left out */
	/* #<Proc:0x12@a.rb:3>, not #<Proc:0x12 a.rb:3>; a Thread, too. */
	bool place_after_at;
	/* nil..2, not ..2; and nil.., not nil..nil */
	bool range_always_begins;
	bool next_line_printable; /* U+0085 */
	/* A byte order mark selects how a UTF-16 String is read. */
	bool dummy_utf_by_mark;
	/* #<Encoding:BINARY (ASCII-8BIT)> */
	bool encoding_named_binary;
};

enum rcore_layout_source {
	RCORE_LAYOUT_DWARF, /* the target's own debug information */
	RCORE_LAYOUT_EXACT, /* the table of this release, proved */
	/*
	 * The nearest table of the same minor version, proved as far as
	 * possible.
	 */
	RCORE_LAYOUT_APPROXIMATE,
};

struct rcore_layout {
	/*
	 * "3.3.1..3.3.6-x86_64-cet", the table's name; or the base name of the
	 * DWARF file.
	 */
	char name[64];
	unsigned version[3]; /* the first release that it was measured on */
	/*
	 * The patch level of the last release: 6 in the example above. All
	 * releases in between were measured, too.
	 */
	unsigned last_patch;
	unsigned machine; /* EM_X86_64, EM_AARCH64 */
	/*
	 * If only the headers of a release were available: the release that
	 * provided the structs which only C files define (is_borrowed). 0.0.0
	 * if all were measured. Such a layout is APPROXIMATE.
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
 * Whether this Ruby has the field. True if it is unmeasured, because reading it
 * then fails: code that asks which of two fields a Ruby has must not choose the
 * wrong one.
 */
static inline bool rcore_has(const struct rcore_field *field)
{
	return field->offset != RCORE_ABSENT;
}

/* Whether its offset is known. */
static inline bool rcore_has_place(const struct rcore_field *field)
{
	return field->offset >= 0;
}

/*
 * Returns how many bytes contain the field. For a bit-field, these are the
 * bytes with its bits, not those of its type.
 */
static inline size_t rcore_field_width(const struct rcore_field *field)
{
	return field->bits ? (field->bit + field->bits + 7u) / 8 : field->size;
}

/* Returns where the field ends in its struct; 0 if its offset is not known. */
static inline size_t rcore_field_end(const struct rcore_field *field)
{
	return rcore_has_place(field) ? (size_t)field->offset + rcore_field_width(field) : 0;
}

/* Returns where the last of these fields ends. */
static inline size_t rcore_fields_end(const struct rcore_field *const *fields, size_t count)
{
	size_t end = 0;
	for (size_t i = 0; i < count; i++)
		if (rcore_field_end(fields[i]) > end)
			end = rcore_field_end(fields[i]);
	return end;
}

/* Whether it is measured and has `size` whole bytes. */
static inline bool rcore_is_whole(const struct rcore_field *field, size_t size)
{
	return field->size == size && !field->bit && !field->bits && field->offset >= 0;
}

/*
 * Reads a field of the struct at `base`: unsigned, 1 to 8 bytes, bit-fields
 * shifted down. The caller casts signed fields (int). Returns
 * RCORE_FAULT_UNMAPPED if this Ruby does not have the field; check rcore_has()
 * if that is possible. Returns RCORE_FAULT_NOT_MEASURED if the field is
 * unmeasured.
 */
enum rcore_fault rcore_read_field(struct rcore_memory *memory, uint64_t base,
				  const struct rcore_field *field, uint64_t *ret);

/*
 * Reads a field from a copy of the struct's first `size` bytes. Returns false
 * if it is not completely in the copy.
 */
bool rcore_field_of_any(const void *copy, size_t size, const struct rcore_field *field,
			uint64_t *ret);

/* Tests that record which fields are read set this: reads are then calls. */
#ifndef RCORE_FIELDS_BY_CALL
#define RCORE_FIELDS_BY_CALL 0
#endif

/* A heap has millions of words, so a whole word is read without a call. */
static inline bool rcore_field_of(const void *copy, size_t size,
				  const struct rcore_field *field, uint64_t *ret)
{
	if (RCORE_FIELDS_BY_CALL || !rcore_is_whole(field, sizeof(*ret)) ||
	    size < sizeof(*ret) || (size_t)field->offset > size - sizeof(*ret))
		return rcore_field_of_any(copy, size, field, ret);
	memcpy(ret, (const char *)copy + field->offset, sizeof(*ret));
	return true;
}

/*
 * Returns the error UNSUPPORTED for code that needs an unmeasured field of the
 * layout; NULL for any other field.
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

/*
 * Returns the text of a table, malloc'ed; NULL if memory is short. `provenance`
 * (may be NULL) becomes comment lines at the top.
 */
char *rcore_layout_print(const struct rcore_layout *layout, const char *provenance);

/*
 * Returns the name of a built-in table by its index; NULL after the last one.
 */
const char *rcore_layout_builtin_name(size_t index);

/* Reads that table. Errors: those of rcore_layout_parse(). */
struct rcore_error *rcore_layout_builtin(size_t index, struct rcore_layout *ret);

/*
 * Finds the candidates for a target, best first: the exact version (each build
 * of it), then other releases of the same minor version, nearest first. Of two
 * equally near ones, the user's own (store.h) precedes the built-in one. *ret
 * is malloc'ed. Error: NO_LAYOUT if there is none; its message says what to do
 * next.
 */
struct rcore_error *rcore_layout_candidates(const unsigned version[3], unsigned machine,
					    struct rcore_layout **ret, size_t *ret_count);

/*
 * Returns why there cannot be a built-in table: `name`, such as "Ruby 2.1.6",
 * is of a series before the first or after the last one that has tables.
 * Returns NULL for other versions.
 */
struct rcore_error *rcore_layout_unsupported(const unsigned version[3], unsigned machine,
					     const char *name);

/* Just-in-time compilers with which a Ruby may be built; a set of bits. */
enum rcore_built_jits {
	RCORE_BUILT_MJIT = 1,
	RCORE_BUILT_RJIT = 2,
	RCORE_BUILT_YJIT = 4,
	RCORE_BUILT_ZJIT = 8,
};

/*
 * Returns whether the size of struct rb_iseq_constant_body depends on the
 * compilers with which Ruby was built: from 3.2 on. Builds of one release
 * differ: Debian's lacks YJIT, the official images have it. All members that
 * rcore reads are before those that differ.
 */
bool rcore_layout_has_jit_members(const struct rcore_layout *layout);

/*
 * Returns the size of struct rb_iseq_constant_body in bytes if Ruby was built
 * with these enum rcore_built_jits. Unlike iseq_body.size, it is also right if
 * the table was measured on another build. Returns iseq_body.size if the size
 * does not depend on them, and 0 if the last member that all builds have was
 * not measured.
 */
uint32_t rcore_layout_iseq_body_size(const struct rcore_layout *layout, unsigned jits);

/* Whether the layout was measured on this release. */
bool rcore_layout_measures(const struct rcore_layout *layout, const unsigned version[3]);

/*
 * Parses "3.3.8" into three numbers. For any other text, returns false and does
 * not change `ret`.
 */
bool rcore_version_parse(const char *text, unsigned ret[3]);

/*
 * Parses "3.3.1..3.3.6" or "3.3.0" into the first release and the last one's
 * patch level.
 */
bool rcore_version_range_parse(const char *text, unsigned ret[3], unsigned *ret_last_patch);

/*
 * Sets layout->traits from layout->version. Versions are compared nowhere else.
 */
void rcore_layout_set_traits(struct rcore_layout *layout);

/*
 * Reads a layout from the DWARF of a file: a ruby, a libruby, a program that
 * embeds one, or a separate debug file of one. `version` is the target's, or
 * NULL to read it from the file (ruby_version), which a debug file does not
 * contain. A struct that no C unit of the file defines is absent, with all its
 * fields; VM, thread and EC always exist. The layout's name is the file's base
 * name. Errors, each naming the file: OS, FORMAT (not ELF, no DWARF, no Ruby in
 * it, no version), UNSUPPORTED (32-bit, another machine).
 */
struct rcore_error *rcore_layout_from_dwarf(const char *path, const unsigned version[3],
					    struct rcore_layout *ret);

/*
 * Does the same for a file that was built from the sources of `neighbour` with
 * the headers of release `version`, which are in the folder `headers`. Marks
 * structs that no header declares as the neighbour's.
 */
struct rcore_error *rcore_layout_from_headers(const char *path, const unsigned version[3],
					      const char *headers, const unsigned neighbour[3],
					      struct rcore_layout *ret);

/*
 * Copies the structs that a layout does not have from another one: a struct
 * that only an extension of Ruby defines (struct rb_monitor) is not in the
 * DWARF of any libruby.
 */
void rcore_layout_complete(struct rcore_layout *layout, const struct rcore_layout *from);

/*
 * Visits what the layout does not know, in the order of fields.def: "struct
 * weakmap" for a struct and all its fields, "thread.name", "enum qnil". Returns
 * the number of unmeasured items of fields.def; `visit` may be NULL.
 */
typedef void rcore_layout_unmeasured_visit(void *context, const char *item);
size_t rcore_layout_unmeasured(const struct rcore_layout *layout,
			       rcore_layout_unmeasured_visit *visit, void *context);

/*
 * Returns the comment lines for the top of such a table: file name, build-id,
 * compiler; malloc'ed. Returns NULL if the file cannot be read or memory is
 * short.
 */
char *rcore_layout_provenance(const char *path);

/* Names a layout like the tables: "3.3.0-x86_64", "3.3.1..3.3.6-x86_64-cet". */
void rcore_layout_set_table_name(struct rcore_layout *layout);

#endif
