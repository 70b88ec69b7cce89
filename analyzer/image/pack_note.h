/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PACK_NOTE_H
#define RCORE_IMAGE_PACK_NOTE_H

/*
 * image/ reads what files know about a target: elf/ finds the mapped ELF files,
 * unwind/ unwinds native stacks, and symbolize/ names their frames. This header
 * stores the results in packs, which are opened without these files. It
 * includes base/, model/ and target/ only. Start with elf/modules.h.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/native_frame.h"
#include "model/snapshot.h"
#include "target/process.h"

/*
 * The machine stack of a kernel thread or a parked fiber, unwound and
 * symbolized on the machine that has the files.
 */
struct rcore_packed_stack {
	uint64_t fiber; /* rb_fiber_t; 0: `tid` */
	int tid;
	const struct rcore_native_frame *frames; /* innermost first */
	size_t frame_count;
	const char *problem; /* why it ended early, or NULL */
};

/* What a descriptor was open on: a path, "pipe:[123]". */
struct rcore_packed_fd {
	int fd;
	const char *link;
};

/*
 * What /proc said of a process that was running when it was packed. All zeroes
 * for the pack of a core.
 */
struct rcore_packed_live {
	struct rcore_live_facts facts;
	bool overdue;          /* it was resumed before everything was read */
	const char *arguments; /* NT_PRPSINFO has only 80 bytes of them */
	/* Threads that did not stop: they have no registers. */
	const int *unstopped;
	size_t unstopped_count;
	const struct rcore_packed_fd *fds; /* that fibers wait for */
	size_t fd_count;
};

enum { RCORE_PACK_REDACTED = 16 };

/*
 * Which values of each frame a pack contains. Packs of older versions have no
 * such record: then none of these is set.
 */
enum {
	RCORE_PACK_VALUES_KNOWN = 1,
	RCORE_PACK_SELF = 2,
	RCORE_PACK_ARGUMENTS = 4,
	RCORE_PACK_LOCALS = 8,
};

/*
 * What a pack contains besides memory: what came from files, which may be
 * missing where the pack is opened. It has frames instead of call frame
 * information, because a pack that somebody else wrote must not control libdw.
 */
struct rcore_pack_facts {
	/* The text of the layout table, or NULL. */
	const char *layout;
	const char *layout_source; /* "exact", "approximate", "dwarf" */
	const char *rubyopt;       /* NULL: not set */
	const uint64_t *fibers;    /* rb_fiber_t of each */
	size_t fiber_count;
	/*
	 * What was mapped. A pack's own segments begin and end where it has
	 * bytes.
	 */
	const struct rcore_segment *segments;
	size_t segment_count;
	/*
	 * The function that runs the interpreter, and how it was found
	 * (model/snapshot.h); both 0 if it is unknown.
	 */
	uint64_t activation, activation_source;
	struct rcore_packed_stack *stacks;
	size_t stack_count;
	uint64_t values; /* RCORE_PACK_SELF ... */
	bool has_heap;   /* all memory that the target has written */
	/*
	 * What was removed: the mode, and how many pieces of each kind; see
	 * model/redaction.h.
	 */
	uint64_t redact, redacted[RCORE_PACK_REDACTED];
	struct rcore_packed_live live;
	struct rcore_deployment deployment;
};

/* Returns them as JSON, malloc'ed; NULL if memory is short. */
char *rcore_pack_note_write(const struct rcore_pack_facts *facts, size_t *ret_size);

/*
 * Parses it; strings and arrays are in the arena. Errors: FORMAT if it is not
 * such a text; NO_MEMORY.
 */
struct rcore_error *rcore_pack_note_read(const char *text, size_t size,
					 struct rcore_arena *arena,
					 struct rcore_pack_facts *ret);

#endif
