/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_WORDS_H
#define RCORE_REPORT_WORDS_H

#include <stdio.h>

#include "model/snapshot.h"

/*
 * What the snapshot's numbers are called. The `_name` words are for JSON and
 * stay as they are; the others are for people. Values out of range give
 * "unknown". All strings are constants.
 */
const char *rcore_frame_kind_name(enum rcore_frame_kind kind);
const char *rcore_fiber_status_name(enum rcore_fiber_status status);
/* As Thread#inspect. */
const char *rcore_thread_status_name(const struct rcore_thread *thread);
const char *rcore_gvl_name(enum rcore_gvl gvl);
/* As Method#parameters; NULL: none. */
const char *rcore_parameter_name(enum rcore_parameter parameter);
const char *rcore_trust_name(enum rcore_trust trust);
const char *rcore_vm_rung_name(enum rcore_vm_rung rung);

const char *rcore_fiber_status_words(enum rcore_fiber_status status);
/* "sleeping" ... */
const char *rcore_thread_words(const struct rcore_thread *thread);
const char *rcore_vm_rung_words(enum rcore_vm_rung rung);

/* "symbol", "code", "stacks"; NULL: not asked, or nothing told it. */
const char *rcore_activation_source_name(enum rcore_activation_source source);

/* A line for each struct of the layout that was moved to fit. */
void rcore_write_shifts(const struct rcore_snapshot *snapshot, FILE *out);

/* A count with commas, "12,345", in `buffer`. */
enum { RCORE_COUNT_SIZE = 32 };
const char *rcore_count_words(uint64_t count, char buffer[RCORE_COUNT_SIZE]);

/*
 * An index that the snapshot has; a snapshot of rcore_examine() has a cause and
 * no threads.
 */
static inline bool rcore_index_valid(int index, size_t count)
{
	return index >= 0 && (size_t)index < count;
}

#endif
