/* SPDX-License-Identifier: MIT */
#include "report/profile/processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "report/profile/facts.h"

static uint64_t amount(const struct rcore_process_row *row, enum rcore_measure measure)
{
	return rcore_measured(row->sides[RCORE_SIDE_NEW].amounts, measure) +
	       rcore_measured(row->sides[RCORE_SIDE_OLD].amounts, measure);
}

static uint64_t samples(const struct rcore_process_row *row)
{
	return amount(row, RCORE_MEASURE_CALLS);
}

static int compare(const void *x, const void *y, void *context)
{
	const struct rcore_process_row *a = x, *b = y;
	const struct rcore_process_rows *rows = context;
	uint64_t m = amount(a, rows->measure), n = amount(b, rows->measure);
	if (m == n) {
		m = samples(a);
		n = samples(b);
	}
	return m != n ? (m < n) - (m > n)
		      : (a->process > b->process) - (a->process < b->process);
}

/* Whether the new side has samples of threads that wait. */
static bool has_gvl(const struct rcore_profile_report *report)
{
	return report->measure != RCORE_MEASURE_CALLS &&
	       report->measure != RCORE_MEASURE_BYTES &&
	       rcore_facts_has_waits(report->facts[RCORE_SIDE_NEW]);
}

struct rcore_error *rcore_process_rows_init(const struct rcore_profile_report *report,
					    struct rcore_process_rows *ret)
{
	const struct rcore_totals *totals = report->totals;
	*ret = (struct rcore_process_rows){
		.items = rcore_calloc(totals->processes.count, sizeof(*ret->items)),
		.measure = report->measure == RCORE_MEASURE_WALL ? RCORE_MEASURE_CPU
								 : report->measure,
		.has_gvl = has_gvl(report),
	};
	if (!ret->items)
		return rcore_error_no_memory();
	for (uint32_t i = 0; i < totals->processes.count; i++) {
		struct rcore_process_row *row = &ret->items[ret->count];
		row->process = i;
		for (int side = 0; side < RCORE_SIDES; side++) {
			row->sides[side] = rcore_totals_process(totals, i, side);
			ret->whole[side] +=
				rcore_measured(row->sides[side].amounts, ret->measure);
		}
		ret->count += samples(row) > 0;
	}
	qsort_r(ret->items, ret->count, sizeof(*ret->items), compare, ret);
	return NULL;
}

void rcore_process_rows_deinit(struct rcore_process_rows *rows)
{
	free(rows->items);
	*rows = (struct rcore_process_rows){0};
}

const char *rcore_process_title_of(const struct rcore_profile *profile, uint32_t process)
{
	return rcore_profile_text(profile, rcore_profile_title(profile, process));
}

const char *rcore_process_role_of(const struct rcore_profile *profile, uint32_t process,
				  char ret[RCORE_PROCESS_ROLE_SIZE])
{
	struct rcore_process_role role;
	ret[0] = '\0';
	return rcore_process_role(rcore_process_title_of(profile, process), &role)
		       ? rcore_process_role_text(&role, ret, RCORE_PROCESS_ROLE_SIZE)
		       : ret;
}
