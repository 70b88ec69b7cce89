/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REPORT_GZIP_H
#define RCORE_REPORT_GZIP_H

#include <stddef.h>
#include <zlib.h>

#include "base/error.h"

/* Compresses bytes with gzip, piece by piece. */
struct rcore_gzip {
	/* Gets what was compressed, in blocks of any size. */
	void (*write)(void *context, const unsigned char *bytes, size_t size);
	void *context;

	/* Private. */
	z_stream deflate;
};

/*
 * Begins a file. `level` is zlib's, such as Z_BEST_SPEED. Error: NO_MEMORY;
 * then rcore_gzip_end() must not be called.
 */
struct rcore_error *rcore_gzip_begin(struct rcore_gzip *gzip, int level);

/* Compresses `size` bytes, fewer than 4 GiB. */
void rcore_gzip_put(struct rcore_gzip *gzip, const void *bytes, size_t size);

/* Writes what is left of the file, and frees what zlib allocated. */
void rcore_gzip_end(struct rcore_gzip *gzip);

#endif
