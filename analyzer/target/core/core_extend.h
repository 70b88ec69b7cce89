/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_EXTEND_H
#define RCORE_TARGET_CORE_EXTEND_H

#include "target/core/core_copy.h"
#include "target/core/core_file.h"
#include "target/core/note_bytes.h"

/*
 * A note with this owner and type precedes those that rcore_core_copy() added:
 * what follows are not kernel threads. No debugger knows the type; gdb's reader
 * only looks at the type.
 */
#define RCORE_NOTE_OWNER "rcore"
enum { RCORE_NOTE_ADDED = 0x72636f72 };

/*
 * Copies the notes of the PT_NOTE `header` up to the last complete one, and
 * adds those of `threads`. The caller frees ret->items. Errors: NO_MEMORY,
 * FORMAT (the notes are not in the file).
 */
struct rcore_error *rcore_core_extend_notes(const struct rcore_core_file *file,
					    const Elf64_Phdr *header,
					    const struct rcore_added_thread *threads,
					    size_t count, struct rcore_note_bytes *ret);

#endif
