/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_FINDING_H
#define RCORE_REPORT_FINDING_H

/*
 * report/ci/ writes what CI systems read: Markdown, GitHub, GitLab, SARIF and
 * JUnit. It includes report/ and model/. Start here.
 */

#include "base/arena.h"
#include "base/error.h"
#include "model/snapshot.h"

/* A line of the application that is on the stack of the crash. */
struct rcore_finding_place {
	const char *label; /* escaped, or NULL */
	/*
	 * Relative to the source folder, without a '/' at its start; raw bytes.
	 */
	const char *path;
	const char *shown_path; /* escaped */
	int line;
};

/*
 * What all formats for CI systems say about a crash or, if the process lives,
 * about a deadlock or threads that are blocked. Texts are one line, escaped by
 * base/text.h, so that every format can contain them.
 */
struct rcore_finding {
	bool present; /* false: the process neither died nor is blocked */
	bool is_crash;
	/* "SIGSEGV", "deadlock", "blocked": reports are grouped by it. */
	const char *kind;
	const char *level; /* "error", or "warning": it may pass */
	/* What the kind means: "A Ruby process was killed ...". */
	const char *about;
	const char *event; /* whose stack has the places: "the crash" */
	const char *title; /* "SIGSEGV in Foo#bar" */
	/* Cause, blame, signature and summary, in one line. */
	const char *message;
	const char *fingerprint; /* the same for the same finding */
	/*
	 * Innermost first, only lines in the source folder. If the frame to
	 * blame belongs to the application, it is the first.
	 */
	struct rcore_finding_place *places;
	size_t place_count;
};

enum { RCORE_MAX_PLACES = 32 };

/*
 * `root` is the source folder. If it is NULL, that is the current folder, and
 * relative paths are in it. All memory belongs to the arena. Error: NO_MEMORY.
 */
struct rcore_error *rcore_finding_make(const struct rcore_snapshot *snapshot, const char *root,
				       struct rcore_arena *arena, struct rcore_finding *ret);

#endif
