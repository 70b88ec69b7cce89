/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PROCESS_NOTES_H
#define RCORE_TARGET_PROCESS_NOTES_H

#include "target/core/note_bytes.h"
#include "target/process.h"

/*
 * Writes the notes that a core of this process would have: the status of each
 * thread, the process, the auxiliary vector and the mapped files. They have no
 * floating point registers. A thread without registers gets zeroes. All notes
 * are aligned to RCORE_PROCESS_NOTES_ALIGN. Returns false if memory is short;
 * the caller frees ret->items in either case.
 */
enum { RCORE_PROCESS_NOTES_ALIGN = 4 };
bool rcore_process_notes(const struct rcore_process *process, struct rcore_note_bytes *ret);

#endif
