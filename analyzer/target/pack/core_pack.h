/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_PACK_H
#define RCORE_TARGET_CORE_PACK_H

#include "target/core/core.h"
#include "target/output/inputs.h"
#include "target/pack/pack_notes.h"
#include "target/pack/recorder.h"

/*
 * The note of a pack: owner RCORE_PACK_OWNER, this type, a JSON text. No
 * debugger has a meaning for it.
 */
#define RCORE_PACK_OWNER "rcore"
enum { RCORE_PACK_NOTE = 0x72636f70 };

/*
 * Writes a core to `path` that has the notes of `core`, two more with `note`
 * and target/pack/pack_known.h's, all its segments, and of their bytes those
 * that were recorded, as `memory` gives them (with files filled in). The other
 * bytes of a page that has some are zero (read back, they are "not saved");
 * pages that have none are not in it ("not saved"). What the recorder has as
 * RCORE_RECORDED_HIDDEN is filled, and of the notes what `hiding` says (NULL:
 * nothing).
 *
 * The file appears as target/output/output.h says. Errors: OS, NO_MEMORY,
 * USAGE. *ret_size: its size in bytes.
 */
struct rcore_error *rcore_core_pack(const struct rcore_core *core, struct rcore_memory *memory,
				    struct rcore_recorder *recorder, const char *note,
				    size_t note_size, const struct rcore_pack_hiding *hiding,
				    const char *path, const struct rcore_inputs *inputs,
				    uint64_t *ret_size);

#endif
