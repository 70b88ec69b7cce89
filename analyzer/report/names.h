/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_NAMES_H
#define RCORE_REPORT_NAMES_H

#include <stdio.h>

#include "model/snapshot.h"

/*
 * Names of the snapshot's enums. Functions with `_name` return the words that
 * JSON uses, which never change; those with `_text` return words for people.
 * For a value that is out of range they return "unknown". All strings are
 * constants.
 */
const char *rcore_frame_kind_name(enum rcore_frame_kind kind);
const char *rcore_fiber_status_name(enum rcore_fiber_status status);
/* Like Thread#inspect. */
const char *rcore_thread_status_name(const struct rcore_thread *thread);
const char *rcore_gvl_name(enum rcore_gvl gvl);
/* Like Method#parameters; NULL if it is not a parameter. */
const char *rcore_parameter_name(enum rcore_parameter parameter);
const char *rcore_trust_name(enum rcore_trust trust);
const char *rcore_vm_method_name(enum rcore_vm_method method);

const char *rcore_fiber_status_text(enum rcore_fiber_status status);
/* "sleeping" ... */
const char *rcore_thread_text(const struct rcore_thread *thread);
const char *rcore_vm_method_text(enum rcore_vm_method method);

/* Returns "symbol", "code" or "stacks"; NULL: not asked, or not found. */
const char *rcore_activation_source_name(enum rcore_activation_source source);

/* Writes a line for each struct of the layout whose fields were shifted. */
void rcore_write_shifts(const struct rcore_snapshot *snapshot, FILE *out);

/* Returns a count with commas, "12,345", in `buffer`. */
enum { RCORE_COUNT_SIZE = 32 };
const char *rcore_count_text(uint64_t count, char buffer[RCORE_COUNT_SIZE]);

/*
 * Returns whether the snapshot has this index. A snapshot of rcore_examine()
 * has a cause, but no threads.
 */
static inline bool rcore_index_valid(int index, size_t count)
{
	return index >= 0 && (size_t)index < count;
}

#endif
