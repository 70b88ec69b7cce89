/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TRIAGE_SUMMARY_LINES_H
#define RCORE_TRIAGE_SUMMARY_LINES_H

#include "base/address_map.h"
#include "base/error.h"
#include "model/snapshot.h"

/*
 * The lines of the summary while they are being collected; private to
 * summary*.c.
 */
struct rcore_summary {
	struct rcore_snapshot *snapshot;
	/* The index of each fiber in snapshot->deadlocks, or -1. */
	int *deadlock_of;
	struct {
		struct rcore_summary_line *items;
		size_t count, capacity;
	} lines;
};

/*
 * A list of indices of fibers. All zeroes is an empty list; free(items)
 * releases it.
 */
struct rcore_fiber_list {
	int *items;
	size_t count, capacity;
};

/* Error: NO_MEMORY. */
struct rcore_error *rcore_fiber_list_add(struct rcore_fiber_list *list, int fiber);

/*
 * Fibers grouped by an address: those that wait for one queue, or that began in
 * one iseq. `working` is the part of `all` that works; for a queue it is empty.
 */
struct rcore_fibers_at {
	uint64_t address;
	struct rcore_fiber_list all, working;
};
struct rcore_fibers_by_address {
	struct rcore_address_map map;
	struct rcore_fibers_at *items;
	size_t count, capacity;
};

/* Adds a fiber under this address. Error: NO_MEMORY. */
struct rcore_error *rcore_fibers_by_address_add(struct rcore_fibers_by_address *fibers,
						uint64_t address, int fiber, bool is_working);
void rcore_fibers_by_address_deinit(struct rcore_fibers_by_address *fibers);

/*
 * Adds a line about `fibers`. Its text was written to `out`, a memory stream,
 * and is in `*text`; closes the stream and frees the text. `out` is NULL if
 * memory was short. Error: NO_MEMORY.
 */
struct rcore_error *rcore_summary_add(struct rcore_summary *summary,
				      const struct rcore_summary_line *line, FILE *out,
				      char **text);

/*
 * Adds a line for each blocked thread whose end others wait for, unless other
 * lines already lead to all of these. Error: NO_MEMORY.
 */
struct rcore_error *rcore_summary_joins(struct rcore_summary *summary);

/*
 * Adds a line about the parked fibers that wait in code of the application, if
 * there are two or more. Error: NO_MEMORY.
 */
struct rcore_error *rcore_summary_fibers(struct rcore_summary *summary);

/*
 * Adds a line for each place where two or more threads were started. Error:
 * NO_MEMORY.
 */
struct rcore_error *rcore_summary_pools(struct rcore_summary *summary);

#endif
