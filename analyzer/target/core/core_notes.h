/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_NOTES_H
#define RCORE_TARGET_CORE_NOTES_H

#include "base/arena.h"
#include "target/core/core_file.h"
#include "target/process.h"

/*
 * Fills `process` (threads, mappings, auxv, siginfo, names, machine, producer)
 * from the core's notes. If a note is damaged or missing, its part stays empty.
 * All memory belongs to `arena` or to the file. `damaged` counts the notes that
 * are implausible. Error: NO_MEMORY.
 */
struct rcore_error *rcore_core_notes_read(const struct rcore_core_file *file,
					  struct rcore_arena *arena,
					  struct rcore_process *process, size_t *damaged);

#endif
