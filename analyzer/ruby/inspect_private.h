/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_PRIVATE_H
#define RCORE_RUBY_INSPECT_PRIVATE_H

#include "ruby/inspect.h"
#include "ruby/value.h"

/* Of one text; the rest is left out. */
enum { RCORE_INSPECT_TEXT_LIMIT = 1 << 20 };

/*
 * How a value is printed without recursion: each type has a function that writes what it has of
 * its own and, where it holds other values, opens a frame. A frame's `next` writes the separator
 * and names the next value to print, or writes the end. rcore_inspect() works on the innermost frame.
 * To add a type: a function in the file of its family, and a line in the table of
 * inspect.c (by type) or inspect_data.c (by the name of a T_DATA).
 */
struct rcore_inspect;
struct rcore_inspect_frame;

/* Sets *child and gives true, or ends and gives false. An error ends the frame too. */
typedef struct rcore_error *rcore_inspect_next(struct rcore_inspect *inspect,
					       struct rcore_inspect_frame *frame, bool *more,
					       uint64_t *child);

struct rcore_inspect_frame {
	rcore_inspect_next *next;
	const char *close;     /* what ends it, also after an error; NULL: nothing */
	uint64_t value;        /* whose it is; the value is open as long as the frame is */
	uint64_t index;        /* of the next item */
	uint64_t count, limit; /* items there are, items to show */
	uint64_t data[3];      /* the type's own */
	void *state;           /* the type's own, malloc'ed; freed with the frame */
};

struct rcore_inspect {
	struct rcore_ruby *ruby;
	struct rcore_inspect_options options; /* none is zero */
	struct {
		char *items;
		size_t count, capacity;
	} text;
	struct {
		struct rcore_inspect_frame *items;
		size_t count, capacity;
	} frames;
	char *problem; /* the first, malloc'ed */
	size_t problem_count;
	bool out_of_memory, full;
};

/* A type's function; `flags` is RBasic.flags. */
typedef struct rcore_error *rcore_inspect_type(struct rcore_inspect *inspect, uint64_t value,
					       uint64_t flags);

/* Writing. What goes past the limit of a text is left out. */
void rcore_inspect_write(struct rcore_inspect *inspect, const char *bytes, size_t length);
void rcore_inspect_puts(struct rcore_inspect *inspect, const char *text);
void rcore_inspect_printf(struct rcore_inspect *inspect, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* "... (3 more)", with the separator where items were shown. */
void rcore_inspect_more(struct rcore_inspect *inspect, bool separate, uint64_t count);

/* Notes a problem and frees it. */
void rcore_inspect_problem(struct rcore_inspect *inspect, struct rcore_error *err);

/* Is this value being printed, so that here is a cycle? */
bool rcore_inspect_is_open(const struct rcore_inspect *inspect, uint64_t value);

/* Opens a frame for `count` items; `limit` is set to how many of them to show. Valid until the
 * next call; NULL: memory is short. */
struct rcore_inspect_frame *rcore_inspect_open(struct rcore_inspect *inspect, uint64_t value,
					       uint64_t count, rcore_inspect_next *next,
					       const char *close);

/* "#<Foo:0x00007f8a4c0d1e28", as rb_any_to_s has it, without the end. */
void rcore_inspect_address(struct rcore_inspect *inspect, uint64_t value);

rcore_inspect_type rcore_inspect_float, rcore_inspect_string, rcore_inspect_array,
	rcore_inspect_symbol;
void rcore_inspect_double(struct rcore_inspect *inspect, double number);
/* A static Symbol's ID. */
struct rcore_error *rcore_inspect_id(struct rcore_inspect *inspect, uint64_t id);

/* Bytes as String#inspect shows them; `encoding` is an index. `total` is how many there are. */
void rcore_inspect_quoted(struct rcore_inspect *inspect, const char *bytes, size_t length,
			  uint64_t total, unsigned encoding);

/* May Symbol#inspect leave out the quotes? */
bool rcore_symbol_is_simple(const char *name, size_t length, unsigned encoding);

/* ENCODING_SHIFT of include/ruby/internal/encoding/encoding.h: the index is in the flags. */
static inline unsigned rcore_encoding_index(uint64_t flags)
{
	return flags >> (RCORE_FL_USHIFT + 10) & 127;
}

/* Those that each Ruby has at the same place (encindex.h). */
enum rcore_encoding {
	RCORE_ENCODING_BINARY,
	RCORE_ENCODING_UTF_8,
	RCORE_ENCODING_US_ASCII,
	RCORE_ENCODING_UTF_16BE,
	RCORE_ENCODING_UTF_16LE,
	RCORE_ENCODING_UTF_32BE,
	RCORE_ENCODING_UTF_32LE,
	RCORE_ENCODING_UTF_16,
	RCORE_ENCODING_UTF_32,
	RCORE_ENCODING_UTF8_MAC,
	RCORE_ENCODING_EUC_JP,
	RCORE_ENCODING_WINDOWS_31J,
};

#endif
