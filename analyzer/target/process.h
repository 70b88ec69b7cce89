/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PROCESS_H
#define RCORE_TARGET_PROCESS_H

#include "model/process.h"

/*
 * How many registers a thread has, and the numbers of those that hold pc and sp
 * in rcore_native_thread.registers.
 */
int rcore_register_count(unsigned machine);
int rcore_register_pc(unsigned machine);
int rcore_register_sp(unsigned machine);

/*
 * Room in bytes for what rcore_siginfo_parse() reads of a siginfo_t (which has
 * 128).
 */
enum { RCORE_SIGINFO_SIZE = 24 };

/*
 * siginfo_t as the kernel writes it, the same on both machines. `present`
 * becomes true.
 */
void rcore_siginfo_parse(const void *bytes, struct rcore_siginfo *ret);

/* The value of an auxiliary vector entry (AT_PHDR ...); false: not there. */
bool rcore_process_auxv(const struct rcore_process *process, uint64_t type, uint64_t *ret);

/* The mapping that holds `address`, or NULL. */
const struct rcore_mapping *rcore_process_mapping(const struct rcore_process *process,
						  uint64_t address);

/*
 * For those that fill a process. Puts the mappings in order and drops each that
 * overlaps an earlier one; false: some did.
 */
bool rcore_process_order_mappings(struct rcore_process *process);

/*
 * A debugger stops a process with signals of its own, and they stay in the core
 * it writes (`by_debugger`): these did not kill it. Any other signal hit the
 * first thread, unless crashed_tid says so already.
 */
void rcore_process_settle_signal(struct rcore_process *process, bool by_debugger);

/*
 * Whether another process's signal ended it (kill(2) by a watchdog, a CI
 * system): the thread that it hit did nothing wrong, it ran or waited as the
 * others do.
 */
bool rcore_process_was_killed(const struct rcore_process *process);

#endif
