/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PROCESS_H
#define RCORE_TARGET_PROCESS_H

#include "model/process.h"

/*
 * Returns how many registers a thread has, and the indices of pc and sp in
 * rcore_native_thread.registers.
 */
int rcore_register_count(unsigned machine);
int rcore_register_pc(unsigned machine);
int rcore_register_sp(unsigned machine);

/* How many bytes rcore_siginfo_parse() reads of a siginfo_t, which has 128. */
enum { RCORE_SIGINFO_SIZE = 24 };

/*
 * Parses a siginfo_t, which is the same on both machines. Sets `present` to
 * true.
 */
void rcore_siginfo_parse(const void *bytes, struct rcore_siginfo *ret);

/*
 * Finds the value of an auxiliary vector entry (AT_PHDR ...). Returns false if
 * it does not exist.
 */
bool rcore_process_auxv(const struct rcore_process *process, uint64_t type, uint64_t *ret);

/* Returns the mapping that contains `address`, or NULL. */
const struct rcore_mapping *rcore_process_mapping(const struct rcore_process *process,
						  uint64_t address);

/*
 * For code that fills a process: sorts the mappings and drops each that
 * overlaps an earlier one. Returns false if it dropped any.
 */
bool rcore_process_order_mappings(struct rcore_process *process);

/*
 * A debugger stops a process with signals of its own, which are in the core
 * that it writes (`by_debugger`): these did not kill it. Any other signal hit
 * the first thread, unless crashed_tid is already set.
 */
void rcore_process_settle_signal(struct rcore_process *process, bool by_debugger);

/*
 * Whether the signal of another process ended it (kill(2) by a watchdog, a CI
 * system). The thread that got it did nothing wrong.
 */
bool rcore_process_was_killed(const struct rcore_process *process);

/* Returns whether a process other than `pid` sent this signal. */
bool rcore_siginfo_is_of_other(const struct rcore_siginfo *info, int pid);

#endif
