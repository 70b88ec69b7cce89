/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_H
#define RCORE_TARGET_CORE_H

/*
 * target/core/ reads core files: ELF notes, segments, compressed cores and
 * those that systemd keeps. Besides target/pack/, it is the only folder of
 * target/ that includes elfutils. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * An ELF core file, written by the kernel, gcore or gdb. Opening it reads only
 * the headers and notes, however large the core is. Memory is read when it is
 * used, by pages (core_pages.h). PT_LOADs may come in any order and overlap
 * (one with saved bytes takes precedence, then the first). There may be more
 * than 65,534 (PN_XNUM), and the file may be truncated anywhere. Together, they
 * have at most 16 times as many bytes as the file (core_room.h): the rest is
 * left out, and process->note says so.
 */
struct rcore_core;

/*
 * `path` may be a compressed core (target/core/spool.h), or "-" for standard
 * input. Errors: OS (missing, not readable, a directory), FORMAT (empty, not
 * ELF, not a core, truncated headers), UNSUPPORTED (32-bit, big-endian, another
 * machine). A core that is truncated after its headers can be opened;
 * process->note says so.
 */
struct rcore_error *rcore_core_open(const char *path, struct rcore_core **ret);
void rcore_core_close(struct rcore_core *core); /* NULL-safe */

/* Both belong to the core. */
struct rcore_memory *rcore_core_memory(struct rcore_core *core);
const struct rcore_process *rcore_core_process(const struct rcore_core *core);

/*
 * Returns the segments of process->segments one by one. Returns false after the
 * last one.
 */
bool rcore_core_segment(const struct rcore_core *core, size_t index, struct rcore_segment *ret);

/*
 * Finds the first range at `address` or after it whose bytes the core has; of a
 * pack, without what is only filling. Sets *ret_is_zero for the zeroes that
 * segments of a pack share, which need not be read. Returns false if there is
 * none.
 */
bool rcore_core_saved(const struct rcore_core *core, uint64_t address, uint64_t *ret_start,
		      uint64_t *ret_end, bool *ret_is_zero);

/*
 * Returns the first address after `address` at which bytes that the core has
 * may begin or end; UINT64_MAX: none.
 */
uint64_t rcore_core_edge(const struct rcore_core *core, uint64_t address);

/*
 * rcore_core_keep() notes that [start, end) will be read soon. Unless the core
 * is in memory, rcore_core_fetch() starts to read all noted ranges from the
 * disk in the background (read_ahead.h). If rcore_core_is_read_ahead() returns
 * false, neither has an effect. All are NULL-safe.
 */
bool rcore_core_is_read_ahead(const struct rcore_core *core);
void rcore_core_keep(struct rcore_core *core, uint64_t start, uint64_t end);
void rcore_core_fetch(struct rcore_core *core);

/*
 * Returns to the kernel the pages of the core that have been read. They stay in
 * the page cache, and no longer count as memory of this process. NULL-safe.
 */
void rcore_core_release_pages(struct rcore_core *core);

/*
 * Reads the mapping of the file from now on, instead of single pages of the
 * file (core_pages.h). Call it before a walk along references through more
 * pages than those can keep. NULL-safe.
 */
void rcore_core_read_mapping(struct rcore_core *core);

/* When and where the core was written, from its file and attributes. */
struct rcore_core_origin {
	uint64_t time;           /* seconds since 1970; 0: unknown */
	const char *time_source; /* as in model/deployment.h */
	const char *host;        /* NULL: unknown */
};
const struct rcore_core_origin *rcore_core_origin(const struct rcore_core *core);

/*
 * The core's file, for copying (target/core/core_copy.h); belongs to the core.
 */
struct rcore_core_file;
const struct rcore_core_file *rcore_core_file(const struct rcore_core *core);

/* Returns false for NULL. */
bool rcore_core_is_truncated(const struct rcore_core *core);

/* What the user of a truncated core can do. */
#define RCORE_CORE_ADVICE "raise `ulimit -c`, make room on the disk, or copy the core again"

/*
 * Returns the process->note for a truncated core, in `arena`; NULL if memory is
 * short.
 */
const char *rcore_core_cut_off(struct rcore_arena *arena, uint64_t lost, uint64_t saved);

#endif
