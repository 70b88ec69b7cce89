/* SPDX-License-Identifier: MIT */
#include "report/profile/pprof_stream.h"

#include "report/text/style.h"

static void write_block(void *context, const unsigned char *bytes, size_t size)
{
	fwrite(bytes, 1, size, context);
}

struct rcore_error *rcore_pprof_begin(struct rcore_pprof_stream *stream, FILE *out)
{
	*stream = (struct rcore_pprof_stream){.gzip = {.write = write_block, .context = out},
					      .out = out};
	return rcore_gzip_begin(&stream->gzip, Z_DEFAULT_COMPRESSION);
}

void rcore_pprof_put(struct rcore_pprof_stream *stream, const Rcore__Pprof__Profile *part)
{
	size_t size = rcore__pprof__profile__get_packed_size(part);
	unsigned char *bytes = rcore_bytes_reserve(&stream->packed, size + 1);
	if (bytes)
		rcore_gzip_put(&stream->gzip, bytes, rcore__pprof__profile__pack(part, bytes));
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
	rcore_gzip_end(&stream->gzip);
	rcore_bytes_deinit(&stream->packed);
	return no_memory || stream->no_memory ? rcore_error_no_memory()
					      : rcore_pen_error(stream->out);
}
