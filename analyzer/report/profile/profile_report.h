/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PROFILE_REPORT_H
#define RCORE_REPORT_PROFILE_REPORT_H

#include <stdio.h>

#include "profile/recording.h"
#include "profile/tree.h"

/*
 * report/profile/ writes the totals of a profile in the formats of other
 * programs, and in two of rcore's own. The texts of totals are printable UTF-8;
 * a writer escapes what its format needs beyond that. It includes profile/,
 * report/ and model/. Start here.
 *
 * To add a format, add a file with its writer, and a line in the table below;
 * CONTRIBUTING.md lists the page and the test that must know it. A writer
 * prints both sides if is_diff is set. Most print a struct rcore_tree, in the
 * unit that rcore_measure_words names: recordings of system calls have calls or
 * bytes in place of times. folded.c is the shortest.
 */
struct rcore_profile_report {
	const struct rcore_totals *totals;
	enum rcore_measure measure; /* for most formats; some contain both */
	bool is_diff;               /* the totals have two sides */
	/* Of each side, printable; those of OLD are empty unless is_diff. */
	const struct rcore_recording_facts *facts[RCORE_SIDES];
	/*
	 * What a reader should know, one line each: "the recording was cut off
	 * ...".
	 */
	const char *const *notes;
	size_t note_count;
	bool color;
	size_t rows; /* of the text; 0: all */
};

/*
 * What a format prints of samples, besides their stacks. Samples that differ
 * only in what no output needs are added up, and struct rcore_total_key has 0
 * in its place. The names without RCORE_NEEDS_ are for the table below.
 */
enum {
	RCORE_NEEDS_THREADS = 1, /* with states */
	RCORE_NEEDS_LABELS = 2,  /* with fibers */
	RCORE_NEEDS_LINES = 4,   /* of frames */
	RCORE_NEEDS_TIMES = 8,
	RCORE_NEEDS_NOTHING = 0,
	RCORE_NEEDS_ALL = RCORE_NEEDS_THREADS | RCORE_NEEDS_LABELS | RCORE_NEEDS_LINES,
	RCORE_NEEDS_PAGE = RCORE_NEEDS_THREADS | RCORE_NEEDS_LABELS | RCORE_NEEDS_TIMES,
	RCORE_NEEDS_AXIS = 16, /* of time: without times, there is no output */
	RCORE_NEEDS_TRACKS =
		RCORE_NEEDS_AXIS | RCORE_NEEDS_THREADS | RCORE_NEEDS_LINES | RCORE_NEEDS_TIMES,
};

/* FORMAT(ending, writer, what it needs, what --help says) */
#define RCORE_PROFILE_FORMATS(FORMAT)                                               \
	FORMAT(".svg", rcore_profile_flame, NOTHING, "a flame graph")               \
	FORMAT(".html", rcore_profile_html, PAGE, "a page for browsers")            \
	FORMAT(".pb.gz", rcore_profile_pprof, ALL, "pprof")                         \
	FORMAT(".speedscope.json", rcore_profile_speedscope, NOTHING, "speedscope") \
	FORMAT(".firefox.json", rcore_profile_firefox, TRACKS, "Firefox Profiler")  \
	FORMAT(".callgrind", rcore_profile_callgrind, LINES, "KCachegrind")         \
	FORMAT(".folded", rcore_profile_folded, NOTHING, "one line per stack")      \
	FORMAT(".txt", rcore_profile_text_report, NOTHING, "a table of methods")    \
	FORMAT(".json", rcore_profile_json, ALL, "all of it: docs/profile.md")

struct rcore_profile_format {
	const char *ending;
	struct rcore_error *(*write)(const struct rcore_profile_report *report, FILE *out);
	unsigned needs;
};

/* Ends with {0}. */
extern const struct rcore_profile_format rcore_profile_formats[];

/* For help: each format's suffix and description. */
extern const char rcore_profile_format_help[];

/* Finds the format of a path by its suffix. Error: USAGE, with a list. */
struct rcore_error *rcore_profile_format_of(const char *path,
					    const struct rcore_profile_format **ret);

/* Writers. Errors: OS (it could not be written completely), NO_MEMORY. */
#define RCORE_PROFILE_WRITER(ending, writer, needs, help) \
	struct rcore_error *writer(const struct rcore_profile_report *report, FILE *out);
RCORE_PROFILE_FORMATS(RCORE_PROFILE_WRITER)

#endif
