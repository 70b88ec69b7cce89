/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_HTML_PACKED_H
#define RCORE_REPORT_HTML_PACKED_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "report/gzip.h"

/*
 * report/html/ writes pages for browsers. page.c writes any page, html.c the
 * report. The script in it is made of .js files, in the order that the Makefile
 * lists: parts.js and packed.js are in every page. Start with page.c and
 * report.js.
 */

/*
 * A stream that compresses what is written to it with gzip, and writes the
 * result as Base64 (RFC 4648, 4) to another stream. The text is never in memory
 * as a whole.
 */
struct rcore_packed {
	/* Write here, between begin and end. */
	FILE *in;

	/* Private. */
	FILE *out;
	struct rcore_gzip gzip;
	unsigned char rest[3]; /* bytes that do not fill a group of three yet */
	size_t rest_size;
};

/*
 * Opens the stream. `out` must stay open until the end. Error: NO_MEMORY; then
 * rcore_packed_end() must not be called.
 */
struct rcore_error *rcore_packed_begin(struct rcore_packed *packed, FILE *out);

/*
 * Writes what is left, and closes packed->in but not `out`. Error: NO_MEMORY.
 * Errors of `out` are those of ferror(out).
 */
struct rcore_error *rcore_packed_end(struct rcore_packed *packed);

#endif
