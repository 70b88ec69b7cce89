/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_PROCESSES_H
#define RCORE_REPORT_PROFILE_PROCESSES_H

#include "report/profile/profile_report.h"
#include "triage/process_role.h"

/* A process, and what the totals have of it. */
struct rcore_process_row {
	uint32_t process; /* 0: unknown */
	struct rcore_process_total sides[RCORE_SIDES];
};

/* The processes that have samples, those with the most first. */
struct rcore_process_rows {
	struct rcore_process_row *items;
	size_t count;
	/*
	 * The measure that orders them: that of the report, but CPU time
	 * instead of wall time, which mostly shows how many threads they have.
	 */
	enum rcore_measure measure;
	uint64_t whole[RCORE_SIDES]; /* of all, by `measure` */
	bool has_gvl;                /* threads that wait were recorded */
};

/* Free `ret` with rcore_process_rows_deinit(). Error: NO_MEMORY. */
struct rcore_error *rcore_process_rows_init(const struct rcore_profile_report *report,
					    struct rcore_process_rows *ret);
void rcore_process_rows_deinit(struct rcore_process_rows *rows);

/* Returns its title, printable; "": unknown. */
const char *rcore_process_title_of(const struct rcore_profile *profile, uint32_t process);

/* Writes its role in a server, such as "Puma worker 2"; "": it has none. */
enum { RCORE_PROCESS_ROLE_SIZE = 64 };
const char *rcore_process_role_of(const struct rcore_profile *profile, uint32_t process,
				  char ret[RCORE_PROCESS_ROLE_SIZE]);

/* text_processes.c: writes the table, unless there is only one process. */
struct rcore_error *rcore_profile_text_processes(const struct rcore_profile_report *report,
						 FILE *out);

#endif
