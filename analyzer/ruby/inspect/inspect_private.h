/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_PRIVATE_H
#define RCORE_RUBY_INSPECT_PRIVATE_H

#include "ruby/object/encoding.h"
#include "ruby/inspect/inspect.h"
#include "ruby/iseq/iseq.h"
#include "ruby/object/class_name.h"
#include "ruby/object/value.h"
#include "ruby/symbol/missing_name.h"

enum {
	/* Bytes of one text; the rest is left out. */
	RCORE_INSPECT_TEXT_LIMIT = 1 << 20,
	RCORE_INSPECT_IVAR_LIMIT = 1 << 16, /* of one object */
	/* nested values, if --depth does not count */
	RCORE_INSPECT_FRAME_LIMIT = 500,
};

/*
 * Prints a value without recursion. Each type has a function that writes its
 * own part and, if it contains other values, opens a frame. A frame's `next`
 * writes the separator and names the next value to print, or writes the end.
 * rcore_inspect() works on the innermost frame. To add a type, add a function
 * to the file of its family, and a line to the table of inspect.c (by type),
 * inspect_object.c (by the class of a T_OBJECT) or inspect_types.h (by the name
 * of a T_DATA).
 */
struct rcore_inspect;
struct rcore_inspect_frame;

/*
 * Sets *child and returns true; or ends the frame and returns false. An error
 * also ends the frame.
 */
typedef struct rcore_error *rcore_inspect_next(struct rcore_inspect *inspect,
					       struct rcore_inspect_frame *frame, bool *more,
					       uint64_t *child);

struct rcore_inspect_frame {
	rcore_inspect_next *next;
	/* Written at the end, even after an error; may be NULL. */
	const char *close;
	/* The value of this frame, which is open as long as the frame. */
	uint64_t value;
	uint64_t index; /* of the next item */
	uint64_t count; /* number of items */
	uint64_t limit; /* items to show */
	/*
	 * Its items are parts of one thing, so they are printed at any depth.
	 */
	bool is_whole;
	/*
	 * It is below a String or Symbol that is its key in a Hash; set by
	 * rcore_inspect_open().
	 */
	bool has_key;
	uint64_t data[3]; /* for the type */
	void *state;      /* for the type, malloc'ed; freed with the frame */
};

struct rcore_inspect {
	struct rcore_ruby *ruby;
	/*
	 * rcore_inspect(), for a type that needs the whole text of another
	 * value.
	 */
	rcore_inspect_function *anew;
	struct rcore_inspect_options options; /* no member is zero */
	struct {
		char *items;
		size_t count, capacity;
	} text;
	struct {
		struct rcore_inspect_frame *items;
		size_t count, capacity;
	} frames;
	char *problem; /* the first one, malloc'ed */
	size_t problem_count;
	bool out_of_memory, full;
	/*
	 * The next value has such a key, or is below one. A frame's `next` may
	 * set it before it returns a child.
	 */
	bool has_key;
};

/* A type's function; `flags` is RBasic.flags. */
typedef struct rcore_error *rcore_inspect_type(struct rcore_inspect *inspect, uint64_t value,
					       uint64_t flags);

/* Write text. What exceeds the limit of a text is left out. */
void rcore_inspect_write(struct rcore_inspect *inspect, const char *bytes, size_t length);
void rcore_inspect_puts(struct rcore_inspect *inspect, const char *text);
void rcore_inspect_printf(struct rcore_inspect *inspect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Keeps the first problem, and frees the error. */
void rcore_inspect_problem(struct rcore_inspect *inspect, struct rcore_error *err);

/*
 * Writes stars if the value is a number that must be hidden: where texts are
 * replaced by stars, a key no longer shows whether a number below it is a
 * secret. Returns whether it did.
 */
bool rcore_inspect_hide_number(struct rcore_inspect *inspect, uint64_t value);

/* Whether this value is already being printed, so that there is a cycle. */
bool rcore_inspect_is_open(const struct rcore_inspect *inspect, uint64_t value);

/*
 * Opens a copy of `frame` and sets its `limit`. Takes ownership of its state,
 * even on an error: LIMIT (too many open frames), NO_MEMORY.
 */
struct rcore_error *rcore_inspect_open(struct rcore_inspect *inspect,
				       const struct rcore_inspect_frame *frame);

/* Writes the end of the innermost frame, and frees it. */
void rcore_inspect_close(struct rcore_inspect *inspect);

/*
 * Call it at the start of a frame's `next`. If there is another item to print,
 * writes ", " and returns true. Otherwise writes how many are left out.
 */
bool rcore_inspect_item(struct rcore_inspect *inspect, struct rcore_inspect_frame *frame);

/*
 * Writes the name of a value's class; "?" and a problem if it cannot be read.
 */
void rcore_inspect_class_name(struct rcore_inspect *inspect, uint64_t value);

/* Writes "#<Foo:0x00007f8a4c0d1e28" like rb_any_to_s, without the end. */
void rcore_inspect_address(struct rcore_inspect *inspect, uint64_t value);

/* The functions of the table, by file. */
rcore_inspect_type rcore_inspect_float, rcore_inspect_string, rcore_inspect_symbol;
rcore_inspect_type rcore_inspect_bignum, rcore_inspect_rational, rcore_inspect_complex;
rcore_inspect_type rcore_inspect_array, rcore_inspect_hash, rcore_inspect_struct;
rcore_inspect_type rcore_inspect_class, rcore_inspect_object, rcore_inspect_data;
rcore_inspect_type rcore_inspect_regexp, rcore_inspect_match, rcore_inspect_file;

/* Kernel#inspect: address and instance variables. */
rcore_inspect_type rcore_inspect_default;

/* For T_OBJECT and T_STRUCT, by class. */
rcore_inspect_type rcore_inspect_exception, rcore_inspect_old_set, rcore_inspect_range;
rcore_inspect_type rcore_inspect_pathname, rcore_inspect_status;

/* For a type of T_DATA (inspect_types.h); `data` is its struct. */
typedef struct rcore_error *rcore_inspect_wrapped(struct rcore_inspect *inspect, uint64_t value,
						  uint64_t data);

/* For a Ruby::Box; *ret is false for other modules. */
struct rcore_error *rcore_inspect_box(struct rcore_inspect *inspect, uint64_t module,
				      bool *ret);

/* Writes `total` bytes of the target as a String with these flags. */
struct rcore_error *rcore_inspect_bytes(struct rcore_inspect *inspect, uint64_t address,
					uint64_t total, uint64_t flags);

/* Writes them unquoted, with the same limit. */
struct rcore_error *rcore_inspect_raw_bytes(struct rcore_inspect *inspect, uint64_t address,
					    uint64_t total);

/* Writes the bytes of a String unquoted. */
struct rcore_error *rcore_inspect_raw(struct rcore_inspect *inspect, uint64_t string);

void rcore_inspect_double(struct rcore_inspect *inspect, double number);

/* Reads an Integer. *fits is false if it is larger, or `value` is none. */
struct rcore_error *rcore_integer(struct rcore_ruby *ruby, uint64_t value, __int128 *ret,
				  bool *fits);

/* A Symbol, static or dynamic. */
struct rcore_error *rcore_inspect_symbol_value(struct rcore_inspect *inspect, uint64_t symbol);
/* A static Symbol's ID. */
struct rcore_error *rcore_inspect_id(struct rcore_inspect *inspect, uint64_t id);

/*
 * Writes a Hash's key as 3.4 prints Symbols, "name: ". For other keys, *ret is
 * false and nothing is written.
 */
struct rcore_error *rcore_inspect_symbol_key(struct rcore_inspect *inspect, uint64_t key,
					     bool *ret);

/*
 * Writes the name of a Struct's member: a Symbol, unquoted if it could be a
 * local variable.
 */
struct rcore_error *rcore_inspect_member(struct rcore_inspect *inspect, uint64_t symbol);

/*
 * Writes bytes like String#inspect; `encoding` is an index. `total` is the
 * number of all bytes.
 */
void rcore_inspect_quoted(struct rcore_inspect *inspect, const char *bytes, size_t length,
			  uint64_t total, unsigned encoding);

/*
 * The parts of an object that is neither a list nor a leaf: texts, which must
 * outlive the printing, and values between them.
 */
struct rcore_inspect_items {
	struct rcore_inspect_item *items;
	size_t count, capacity;
};

/* Errors: LIMIT, NO_MEMORY. */
struct rcore_error *rcore_inspect_add_text(struct rcore_inspect_items *items, const char *text);
struct rcore_error *rcore_inspect_add_value(struct rcore_inspect_items *items, uint64_t value);
/* Adds the bytes of a String, unquoted. */
struct rcore_error *rcore_inspect_add_string(struct rcore_inspect_items *items,
					     uint64_t string);

/* Opens a frame for them. If `err` is set, frees them and returns it. */
struct rcore_error *rcore_inspect_open_items(struct rcore_inspect *inspect, uint64_t value,
					     struct rcore_inspect_items *items,
					     struct rcore_error *err);

/* Returns "a, b=..., *c" like Method#inspect, in the arena. */
struct rcore_error *rcore_inspect_parameters(struct rcore_ruby *ruby,
					     const struct rcore_iseq_info *iseq,
					     const char **ret);

#endif
