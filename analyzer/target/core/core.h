/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_H
#define RCORE_TARGET_CORE_H

/*
 * target/core/ reads core files: ELF notes, segments, compressed cores and
 * those that systemd keeps. With target/pack/ it is the only folder of target/
 * that sees elfutils. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * An ELF core file: of the kernel, gcore or gdb. The file is mapped, not read:
 * opening costs the headers and notes alone, however large the core. PT_LOADs
 * may come in any order and overlap (saved bytes win over none, then the
 * first), there may be more than 65,534 (PN_XNUM), and the file may end
 * anywhere.
 */
struct rcore_core;

/*
 * `path` may be a compressed core (target/core/spool.h), or "-": the standard
 * input. Errors: OS (missing, not readable, a directory), FORMAT (empty, not
 * ELF, not a core, headers cut off), UNSUPPORTED (32-bit, big-endian, another
 * machine). A core cut off after its headers opens, with process->note saying
 * so.
 */
struct rcore_error *rcore_core_open(const char *path, struct rcore_core **ret);
void rcore_core_close(struct rcore_core *core); /* NULL-safe */

/* Both belong to the core and live as long. */
struct rcore_memory *rcore_core_memory(struct rcore_core *core);
const struct rcore_process *rcore_core_process(const struct rcore_core *core);

/* The segments of process->segments one by one. Returns false past the last. */
bool rcore_core_segment(const struct rcore_core *core, size_t index, struct rcore_segment *ret);

/*
 * The file behind it, to be copied (target/core/core_copy.h); belongs to the
 * core.
 */
struct rcore_core_file;
const struct rcore_core_file *rcore_core_file(const struct rcore_core *core);

/*
 * What process->note says of a core that ends early; of `arena`, NULL when
 * memory is short.
 */
const char *rcore_core_cut_off(struct rcore_arena *arena, uint64_t lost, uint64_t saved);

#endif
