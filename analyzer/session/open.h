/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_OPEN_H
#define RCORE_SESSION_OPEN_H

/*
 * The first step: a core, a pack, a running process, or memory that a debugger
 * reads, as something that has memory, threads and mapped files.
 */

#include "base/arena.h"
#include "image/elf/modules.h"
#include "image/pack_note.h"
#include "image/unwind/unwind.h"
#include "rcore.h"
#include "target/core/core.h"
#include "target/live/live.h"
#include "target/pack/recorder.h"

/* An opened target: what every later step reads. */
struct rcore_target {
	const struct rcore_process *process;
	struct rcore_memory *memory; /* pages that are missing come from files */
	struct rcore_modules *modules;
	struct rcore_core *core;         /* NULL: the target is not a core file */
	struct rcore_live *live;         /* NULL: it is not a running process */
	struct rcore_pack_facts *pack;   /* NULL: it is not a pack */
	struct rcore_recorder *recorder; /* NULL: nothing will be packed */
	const char *pack_problem;        /* why a pack is read as a plain core; NULL: nothing */

	/* Private. */
	struct rcore_code *code;           /* NULL: nothing was unwound yet */
	struct rcore_process *own_process; /* NULL: somebody else owns `process` */
	struct rcore_arena arena;          /* of `pack` and what replaces `process` */
};

/*
 * Opens `process` and `memory`, which stay the caller's. Does not look at
 * options->size. Call rcore_target_close() in any case. Errors: as
 * rcore_modules_open().
 */
struct rcore_error *rcore_target_open(struct rcore_target *target,
				      const struct rcore_process *process,
				      struct rcore_memory *memory,
				      const struct rcore_options *options);
void rcore_target_close(struct rcore_target *target);

/*
 * Returns what is known of the target's code, which unwinding adds to. It
 * belongs to the target. Errors: as rcore_code_open().
 */
struct rcore_error *rcore_target_code(struct rcore_target *target, struct rcore_code **ret);

/*
 * Fails with OS if a mapped file became shorter since it was opened; the error
 * names the file. A file that is truncated later, during a read, is not
 * noticed.
 */
struct rcore_error *rcore_target_check_files(const struct rcore_target *target);

#endif
