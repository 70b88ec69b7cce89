/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_OPEN_H
#define RCORE_SESSION_OPEN_H

/*
 * The first step: opens a core, a pack, a running process, or memory that a
 * debugger reads. Each becomes memory, threads and mapped files.
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
	struct rcore_memory *memory; /* takes missing pages from files */
	struct rcore_modules *modules;
	struct rcore_core *core;         /* NULL: not a core file */
	struct rcore_live *live;         /* NULL: not a running process */
	struct rcore_pack_facts *pack;   /* NULL: not a pack */
	struct rcore_recorder *recorder; /* NULL: nothing will be packed */
	/*
	 * Set by running_ahead.c; otherwise NULL. Fibers that need not be
	 * decoded unless they have changed (rcore_ruby.earlier_fibers), and the
	 * addresses of all fibers, so that the heap need not be searched.
	 */
	struct rcore_earlier_fibers *earlier_fibers;
	const uint64_t *known_fibers;
	size_t known_fiber_count;
	/* why a pack is read as a plain core, or NULL */
	const char *pack_problem;

	/* Private. */
	struct rcore_code *code; /* NULL: nothing was unwound yet */
	/* NULL: somebody else owns `process` */
	struct rcore_process *own_process;
	/* of `pack`, and of what replaces `process` */
	struct rcore_arena arena;
};

/*
 * Opens `process` and `memory`, which the caller still owns. Ignores
 * options->size. Call rcore_target_close() in any case. Errors: those of
 * rcore_modules_open().
 */
struct rcore_error *rcore_target_open(struct rcore_target *target,
				      const struct rcore_process *process,
				      struct rcore_memory *memory,
				      const struct rcore_options *options);
void rcore_target_close(struct rcore_target *target);

/* Whether it is a running process, or the pack of one. */
bool rcore_target_was_alive(const struct rcore_target *target);

/*
 * Returns the cache of what is known about the target's code; unwinding adds to
 * it. It belongs to the target. Errors: those of rcore_code_open().
 */
struct rcore_error *rcore_target_code(struct rcore_target *target, struct rcore_code **ret);

/*
 * If memory was short for something that was found in the modules, forgets that
 * and what is missing, so that it is searched for again.
 */
void rcore_target_retry(struct rcore_target *target);

/*
 * Fails with OS if a mapped file became shorter since it was opened; the error
 * names the file. Does not notice a file that is truncated later, during a
 * read.
 */
struct rcore_error *rcore_target_check_files(const struct rcore_target *target);

/*
 * Returns `err`, the result of a read, or an error that says that a mapped file
 * became shorter meanwhile: `err` is then only a consequence. If the core was
 * truncated before, adds what to do about it. Takes ownership of `err`, which
 * may be NULL.
 */
struct rcore_error *rcore_target_judge(const struct rcore_target *target,
				       struct rcore_error *err);

#endif
