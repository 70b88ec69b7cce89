/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROOF_FIELD_CHECK_H
#define RCORE_PROOF_FIELD_CHECK_H

#include "layout/schema.h"
#include "proof/samples.h"

/*
 * Checks single fields on sample objects: a pointer that points back, a VALUE
 * of a possible type, a closed list. A check returns RCORE_HOLDS if the sample
 * shows that the field is right, RCORE_FAILS if it shows that it is wrong or
 * cannot be read, and RCORE_SILENT if it shows little: for a NULL, or for a
 * small number.
 */
enum rcore_verdict { RCORE_SILENT, RCORE_HOLDS, RCORE_FAILS };

/*
 * Checks the field of one sample object, at `base`. `field` is where the layout
 * has it.
 */
typedef enum rcore_verdict rcore_check(const struct rcore_samples *samples, uint64_t base,
				       const struct rcore_field *field);

/* How a field is checked: a row of fields.def. */
enum { RCORE_CHECK_LISTS = 2, RCORE_NO_SAMPLES = 0 };
struct rcore_check_row {
	const char *group, *id; /* as in fields.def */
	size_t field;           /* offset in struct rcore_layout */
	/*
	 * Offsets of lists in struct rcore_samples, or RCORE_NO_SAMPLES. The
	 * field is wrong if the check fails on either list.
	 */
	size_t samples[RCORE_CHECK_LISTS];
	rcore_check *check; /* NULL: none */
	const char *reason; /* why there is no check; otherwise NULL */
};
extern const struct rcore_check_row rcore_check_rows[];
extern const size_t rcore_check_row_count;

/*
 * Returns the row of the field at this offset in struct rcore_layout. Every
 * field has one.
 */
const struct rcore_check_row *rcore_check_row(size_t field);

/*
 * Checks the field of `row` on all samples. Silent if it has no check, or if
 * the layout of `samples` does not have it.
 */
enum rcore_verdict rcore_check_field(const struct rcore_samples *samples,
				     const struct rcore_check_row *row);

/*
 * Checks the field at this offset in struct rcore_layout on one sample object.
 */
enum rcore_verdict rcore_check_sample(const struct rcore_samples *samples, size_t field,
				      uint64_t base);

#endif
