/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PACK_NOTE_H
#define RCORE_IMAGE_PACK_NOTE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/native_frame.h"
#include "target/process.h"

/*
 * The machine stack of a kernel thread or a parked fiber, as it was unwound and
 * named where the files were.
 */
struct rcore_packed_stack {
	uint64_t fiber; /* rb_fiber_t; 0: `tid` */
	int tid;
	const struct rcore_native_frame *frames; /* innermost first */
	size_t frame_count;
	const char *problem; /* why it ended early; NULL: it did not */
};

enum { RCORE_PACK_REDACTED = 16 };

/*
 * What a pack holds beside memory: what came out of files, which need not be
 * there where it is opened. Call frame information is not packed: frames are,
 * for what somebody else wrote must not be able to drive libdw.
 */
struct rcore_pack_facts {
	/* The text of the layout table; NULL: none. */
	const char *layout;
	const char *layout_source; /* "exact", "approximate", "dwarf" */
	const char *rubyopt;       /* NULL: not set */
	const uint64_t *fibers;    /* rb_fiber_t of each */
	size_t fiber_count;
	/*
	 * What was mapped: a pack's own segments begin and end where bytes of
	 * it are.
	 */
	const struct rcore_segment *segments;
	size_t segment_count;
	/*
	 * The function that runs the interpreter, and by what it was known
	 * (model/snapshot.h); 0: neither was.
	 */
	uint64_t activation, activation_source;
	struct rcore_packed_stack *stacks;
	size_t stack_count;
	/*
	 * What was taken out of it: the mode, and how many pieces of each kind;
	 * see model/redaction.h.
	 */
	uint64_t redact, redacted[RCORE_PACK_REDACTED];
};

/* As a JSON text, malloc'ed; NULL: memory is short. */
char *rcore_pack_note_write(const struct rcore_pack_facts *facts, size_t *ret_size);

/* Strings and arrays are the arena's. FORMAT: it is no such text; NO_MEMORY. */
struct rcore_error *rcore_pack_note_read(const char *text, size_t size,
					 struct rcore_arena *arena,
					 struct rcore_pack_facts *ret);

#endif
