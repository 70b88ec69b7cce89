/* SPDX-License-Identifier: MIT */
#include "report/html/packed.h"

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

static void encode(void *context, const unsigned char *bytes, size_t size)
{
	struct rcore_packed *packed = context;
	for (; size; bytes++, size--) {
		packed->rest[packed->rest_size++] = *bytes;
		if (packed->rest_size < GROUP)
			continue;
		write_group(packed->out, packed->rest, GROUP);
		packed->rest_size = 0;
	}
}

static ssize_t receive(void *cookie, const char *bytes, size_t size)
{
	struct rcore_packed *packed = cookie;
	rcore_gzip_put(&packed->gzip, bytes, size);
	return (ssize_t)size;
}

struct rcore_error *rcore_packed_begin(struct rcore_packed *packed, FILE *out)
{
	*packed =
		(struct rcore_packed){.gzip = {.write = encode, .context = packed}, .out = out};
	/* Stacks repeat so much that the fastest level compresses 25 times. */
	struct rcore_error *err = rcore_gzip_begin(&packed->gzip, Z_BEST_SPEED);
	if (err)
		return err;
	packed->in = fopencookie(packed, "w", (cookie_io_functions_t){.write = receive});
	if (!packed->in) {
		rcore_gzip_end(&packed->gzip);
		return rcore_error_no_memory();
	}
	setvbuf(packed->in, NULL, _IOFBF, BUFFER);
	return NULL;
}

struct rcore_error *rcore_packed_end(struct rcore_packed *packed)
{
	bool failed = fclose(packed->in) != 0;
	rcore_gzip_end(&packed->gzip);
	if (packed->rest_size)
		write_group(packed->out, packed->rest, packed->rest_size);
	return failed ? rcore_error_no_memory() : NULL;
}
