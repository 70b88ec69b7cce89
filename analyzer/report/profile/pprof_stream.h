/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_PPROF_STREAM_H
#define RCORE_REPORT_PPROF_STREAM_H

#include <stdio.h>

#include "base/error.h"
#include "profile/varint.h"
#include "report/gzip.h"
#include "report/profile/pprof.pb-c.h"

/*
 * Writes the format of pprof: a protocol buffer, compressed with gzip. The
 * concatenation of parts of a message is the message, so functions, locations
 * and samples are packed and compressed one by one, and memory does not grow
 * with their number.
 */
struct rcore_pprof_stream {
	/* Private. */
	struct rcore_gzip gzip;
	FILE *out;
	struct rcore_bytes packed;
	bool no_memory;
};

/* Error: NO_MEMORY. */
struct rcore_error *rcore_pprof_begin(struct rcore_pprof_stream *stream, FILE *out);

/* Writes a profile that only has some fields. */
void rcore_pprof_put(struct rcore_pprof_stream *stream, const Rcore__Pprof__Profile *part);

/* Writes the next string. The first one must be "". */
void rcore_pprof_put_text(struct rcore_pprof_stream *stream, const char *text);

/*
 * Ends the file. Errors: NO_MEMORY if it was short before, also for the caller;
 * OS.
 */
struct rcore_error *rcore_pprof_end(struct rcore_pprof_stream *stream, bool no_memory);

#endif
