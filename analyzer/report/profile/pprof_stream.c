/* SPDX-License-Identifier: MIT */
#include "report/profile/pprof_stream.h"

#include "report/text/style.h"

static void compress_bytes(struct rcore_pprof_stream *stream, const void *bytes, size_t size,
			   int flush)
{
	unsigned char block[16 << 10];
	z_stream *deflating = &stream->deflate;
	deflating->next_in = (unsigned char *)bytes;
	deflating->avail_in = (uInt)size;
	do {
		deflating->next_out = block;
		deflating->avail_out = sizeof(block);
		deflate(deflating, flush);
		fwrite(block, 1, sizeof(block) - deflating->avail_out, stream->out);
	} while (!deflating->avail_out);
}

struct rcore_error *rcore_pprof_begin(struct rcore_pprof_stream *stream, FILE *out)
{
	/* + 16 adds a gzip header. */
	enum { WINDOW = MAX_WBITS + 16, MEMORY = 8 };
	*stream = (struct rcore_pprof_stream){.out = out};
	return deflateInit2(&stream->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW, MEMORY,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? NULL
		       : rcore_error_no_memory();
}

void rcore_pprof_put(struct rcore_pprof_stream *stream, const Rcore__Pprof__Profile *part)
{
	size_t size = rcore__pprof__profile__get_packed_size(part);
	unsigned char *bytes = rcore_bytes_reserve(&stream->packed, size + 1);
	if (bytes)
		compress_bytes(stream, bytes, rcore__pprof__profile__pack(part, bytes),
			       Z_NO_FLUSH);
	else
		stream->no_memory = true;
}

void rcore_pprof_put_text(struct rcore_pprof_stream *stream, const char *text)
{
	Rcore__Pprof__Profile part = RCORE__PPROF__PROFILE__INIT;
	char *texts[] = {(char *)text};
	part.n_string_table = 1;
	part.string_table = texts;
	rcore_pprof_put(stream, &part);
}

struct rcore_error *rcore_pprof_end(struct rcore_pprof_stream *stream, bool no_memory)
{
	compress_bytes(stream, NULL, 0, Z_FINISH);
	deflateEnd(&stream->deflate);
	rcore_bytes_deinit(&stream->packed);
	return no_memory || stream->no_memory ? rcore_error_no_memory()
					      : rcore_pen_error(stream->out);
}
