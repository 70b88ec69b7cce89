/* SPDX-License-Identifier: MIT */
#include "report/html/packed.h"

#include <string.h>

enum {
	GROUP = 3, /* bytes that become four characters */
	BUFFER = 64 << 10,
};

static void write_group(FILE *out, const unsigned char *bytes, size_t size)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned value = (unsigned)bytes[0] << 16 | (size > 1 ? (unsigned)bytes[1] << 8 : 0) |
			 (size > 2 ? bytes[2] : 0);
	putc_unlocked(digits[value >> 18], out);
	putc_unlocked(digits[value >> 12 & 63], out);
	putc_unlocked(size > 1 ? digits[value >> 6 & 63] : '=', out);
	putc_unlocked(size > 2 ? digits[value & 63] : '=', out);
}

static void encode(struct rcore_packed *packed, const unsigned char *bytes, size_t size)
{
	for (; size; bytes++, size--) {
		packed->rest[packed->rest_size++] = *bytes;
		if (packed->rest_size < GROUP)
			continue;
		write_group(packed->out, packed->rest, GROUP);
		packed->rest_size = 0;
	}
}

static void compress_bytes(struct rcore_packed *packed, const char *bytes, size_t size,
			   int flush)
{
	unsigned char block[16 << 10];
	z_stream *deflating = &packed->deflate;
	deflating->next_in = (unsigned char *)bytes;
	deflating->avail_in = (uInt)size;
	do {
		deflating->next_out = block;
		deflating->avail_out = sizeof(block);
		deflate(deflating, flush);
		encode(packed, block, sizeof(block) - deflating->avail_out);
	} while (!deflating->avail_out);
}

static ssize_t receive(void *cookie, const char *bytes, size_t size)
{
	/* The stream's buffer is smaller than what zlib takes at a time. */
	compress_bytes(cookie, bytes, size, Z_NO_FLUSH);
	return (ssize_t)size;
}

struct rcore_error *rcore_packed_begin(struct rcore_packed *packed, FILE *out)
{
	/* + 16 adds a gzip header. */
	enum { WINDOW = MAX_WBITS + 16, MEMORY = 9 };
	*packed = (struct rcore_packed){.out = out};
	/* Stacks repeat so much that the fastest level compresses 25 times. */
	if (deflateInit2(&packed->deflate, Z_BEST_SPEED, Z_DEFLATED, WINDOW, MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return rcore_error_no_memory();
	packed->in = fopencookie(packed, "w", (cookie_io_functions_t){.write = receive});
	if (!packed->in) {
		deflateEnd(&packed->deflate);
		return rcore_error_no_memory();
	}
	setvbuf(packed->in, NULL, _IOFBF, BUFFER);
	return NULL;
}

struct rcore_error *rcore_packed_end(struct rcore_packed *packed)
{
	bool failed = fclose(packed->in) != 0;
	compress_bytes(packed, NULL, 0, Z_FINISH);
	if (packed->rest_size)
		write_group(packed->out, packed->rest, packed->rest_size);
	deflateEnd(&packed->deflate);
	return failed ? rcore_error_no_memory() : NULL;
}
