/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_EXTEND_H
#define RCORE_TARGET_CORE_EXTEND_H

#include "target/core/core_copy.h"
#include "target/core/core_file.h"

/*
 * Notes with this owner and type stand before those that rcore_core_copy()
 * added: what follows is no kernel thread. The type is one that no debugger has
 * a meaning for: gdb's reader goes by the type alone.
 */
#define RCORE_NOTE_OWNER "rcore"
enum { RCORE_NOTE_ADDED = 0x72636f72 };

struct rcore_note_bytes {
	uint8_t *items;
	size_t count, capacity;
};

/*
 * The notes of the PT_NOTE `header` as they are, up to the last whole one, and
 * then those of `threads`. Errors: NO_MEMORY, FORMAT (the notes are not in the
 * file). The caller frees ret->items.
 */
struct rcore_error *rcore_core_extend_notes(const struct rcore_core_file *file,
					    const Elf64_Phdr *header,
					    const struct rcore_added_thread *threads,
					    size_t count, struct rcore_note_bytes *ret);

#endif
