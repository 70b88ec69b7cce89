/* SPDX-License-Identifier: MIT */
#include "command/output.h"

#include <errno.h>

#include "base/text.h"
#include "report/formats.h"

struct rcore_error *rcore_outputs_check(const struct rcore_words *outputs)
{
	const struct rcore_format *format;
	const char *path;
	for (size_t i = 0; i < outputs->count; i++) {
		struct rcore_error *err =
			rcore_format_of_output(outputs->items[i], &format, &path);
		if (err)
			return err;
	}
	return NULL;
}

static struct rcore_error *write_one(const char *output, const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options)
{
	const struct rcore_format *format;
	const char *path;
	struct rcore_error *err = rcore_format_of_output(output, &format, &path);
	if (err)
		return err;
	char escaped[256];
	rcore_escape(escaped, sizeof(escaped), path);
	FILE *out = fopen(path, "we");
	if (!out)
		return rcore_error_os(errno, "cannot write %s", escaped);
	err = format->write(snapshot, options, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write all");
	return rcore_error_wrap(err, "%s", escaped);
}

struct rcore_error *rcore_outputs_write(const struct rcore_words *outputs,
					const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options)
{
	struct rcore_report_options plain = *options;
	struct rcore_error *first = NULL;
	plain.color = false;
	for (size_t i = 0; i < outputs->count; i++) {
		struct rcore_error *err = write_one(outputs->items[i], snapshot, &plain);
		if (first)
			rcore_error_free(err);
		else
			first = err;
	}
	return first;
}
