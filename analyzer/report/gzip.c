/* SPDX-License-Identifier: MIT */
#include "report/gzip.h"

static void compress_bytes(struct rcore_gzip *gzip, const void *bytes, size_t size, int flush)
{
	unsigned char block[16 << 10];
	z_stream *deflating = &gzip->deflate;
	deflating->next_in = (unsigned char *)bytes;
	deflating->avail_in = (uInt)size;
	do {
		deflating->next_out = block;
		deflating->avail_out = sizeof(block);
		deflate(deflating, flush);
		gzip->write(gzip->context, block, sizeof(block) - deflating->avail_out);
	} while (!deflating->avail_out);
}

struct rcore_error *rcore_gzip_begin(struct rcore_gzip *gzip, int level)
{
	/* + 16 adds a gzip header. */
	enum { WINDOW = MAX_WBITS + 16, MEMORY = 8 };
	gzip->deflate = (z_stream){0};
	return deflateInit2(&gzip->deflate, level, Z_DEFLATED, WINDOW, MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? NULL
		       : rcore_error_no_memory();
}

void rcore_gzip_put(struct rcore_gzip *gzip, const void *bytes, size_t size)
{
	compress_bytes(gzip, bytes, size, Z_NO_FLUSH);
}

void rcore_gzip_end(struct rcore_gzip *gzip)
{
	compress_bytes(gzip, NULL, 0, Z_FINISH);
	deflateEnd(&gzip->deflate);
}
