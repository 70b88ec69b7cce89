/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_PACK_H
#define RCORE_TARGET_CORE_PACK_H

#include <elf.h>

#include "target/core/core.h"
#include "target/core/process_notes.h"
#include "target/output/output.h"
#include "target/pack/pack_notes.h"
#include "target/pack/recorder.h"

/*
 * The note of a pack: owner RCORE_PACK_OWNER, this type, and a JSON text. No
 * debugger knows it.
 */
#define RCORE_PACK_OWNER "rcore"
enum { RCORE_PACK_NOTE = 0x72636f70 };

/* What a pack takes from its target besides the bytes of memory. */
struct rcore_pack_source {
	Elf64_Ehdr header;    /* its offsets and counts are not used */
	const uint8_t *notes; /* the contents of a PT_NOTE */
	uint64_t notes_size;
	size_t notes_alignment; /* 4 or 8 */
	/* Sorted by start. */
	const struct rcore_segment *segments;
	size_t segment_count;
};

/* Takes all of it from a core. *ret points into the core. */
void rcore_pack_source_core(const struct rcore_core *core, struct rcore_pack_source *ret);

/*
 * Takes it from a process that was read while it ran: `notes`
 * (target/core/process_notes.h) and `segments`, to which *ret points.
 */
void rcore_pack_source_process(const struct rcore_process *process,
			       const struct rcore_note_bytes *notes,
			       const struct rcore_segment *segments, size_t segment_count,
			       struct rcore_pack_source *ret);

/*
 * Writes a core to `output`: the notes of `source`, then `note`, the note of
 * target/pack/pack_known.h, all segments, and the bytes of them that were
 * recorded, as `memory` returns them (including bytes of files). If only some
 * bytes of a page were recorded, the others are zero, and rcore reads them back
 * as "not saved"; pages without recorded bytes are left out. All of the
 * recorder's ranges are written, a part at a time; blocks of zeroes in them
 * become holes of the file. Writes stars for what the recorder marks as
 * RCORE_RECORDED_HIDDEN, and hides parts of the notes with `hiding` (may be
 * NULL). *ret_size is the size in bytes, with holes. Errors: OS, NO_MEMORY,
 * FAULT (a range cannot be read).
 */
struct rcore_error *rcore_pack_write(const struct rcore_pack_source *source,
				     struct rcore_memory *memory,
				     struct rcore_recorder *recorder, const char *note,
				     size_t note_size, const struct rcore_pack_hiding *hiding,
				     const struct rcore_output *output, uint64_t *ret_size);

#endif
