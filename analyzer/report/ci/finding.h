/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FINDING_H
#define RCORE_REPORT_FINDING_H

/*
 * report/ci/ writes what CI systems read: Markdown, GitHub, GitLab, SARIF and
 * JUnit. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "model/snapshot.h"

/* A line of the application on the stack of the crash. */
struct rcore_finding_place {
	const char *label; /* escaped; NULL: none */
	/* Below the source folder, without a '/' at its start; raw bytes. */
	const char *path;
	const char *shown_path; /* escaped */
	int line;
};

/*
 * What the formats of CI systems say of a crash: the same in all of them. Texts
 * are one line, escaped as by base/text.h, so that no format meets a byte that
 * it has no way to write.
 */
struct rcore_finding {
	bool present; /* false: the process did not die */
	/* "SIGSEGV": of what crash reports a person groups by. */
	const char *kind;
	const char *title;   /* "SIGSEGV in Foo#bar" */
	const char *message; /* cause, blame and signature, in one line */
	/*
	 * Innermost first; the first is the one to blame where that is the
	 * application's. Only lines that lie in the source folder.
	 */
	struct rcore_finding_place *places;
	size_t place_count;
};

enum { RCORE_MAX_PLACES = 32 };

/*
 * `root` is the source folder (NULL: the current one, and relative paths are
 * below it). All memory is the arena's. Error: NO_MEMORY.
 */
struct rcore_error *rcore_finding_make(const struct rcore_snapshot *snapshot, const char *root,
				       struct rcore_arena *arena, struct rcore_finding *ret);

#endif
