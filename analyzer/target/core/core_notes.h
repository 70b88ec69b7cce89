/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_NOTES_H
#define RCORE_TARGET_CORE_NOTES_H

#include "base/arena.h"
#include "target/core/core_file.h"
#include "target/process.h"

/*
 * Fills `process` (threads, mappings, auxv, siginfo, names, machine, producer)
 * from the core's notes; what a damaged or missing note would have said stays
 * absent. All memory is of `arena` or of the file. `damaged` counts the notes
 * that make no sense. Errors: NO_MEMORY alone.
 */
struct rcore_error *rcore_core_notes_read(const struct rcore_core_file *file,
					  struct rcore_arena *arena,
					  struct rcore_process *process, size_t *damaged);

#endif
