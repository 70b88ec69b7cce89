/* SPDX-License-Identifier: MIT */
#include "command/output.h"

#include <stdlib.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/formats.h"
#include "target/output/output.h"

struct report {
	const struct rcore_format *format;
	const struct rcore_snapshot *snapshot;
	const struct rcore_report_options *options;
};

static struct rcore_error *same_file(const char *path)
{
	char escaped[256];
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"%s: two -o options name this file; name a different file for each",
		rcore_escape(escaped, sizeof(escaped), path));
}

static struct rcore_error *check_one(const char *path, const struct rcore_inputs *inputs,
				     struct rcore_destination *places, size_t before)
{
	struct rcore_error *err = rcore_destination_find(path, inputs, &places[before]);
	for (size_t i = 0; i < before && !err; i++)
		if (rcore_destination_is_same(&places[before], &places[i]))
			err = same_file(path);
	return err;
}

struct rcore_error *rcore_output_paths_check(const char *const *paths, size_t count,
					     const struct rcore_inputs *inputs)
{
	struct rcore_error *err = NULL;
	struct rcore_destination *places = rcore_calloc(count, sizeof(*places));
	if (!places)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++)
		err = check_one(paths[i], inputs, places, i);
	free(places);
	return err;
}

struct rcore_error *rcore_outputs_check(const struct rcore_strings *outputs,
					const struct rcore_inputs *inputs)
{
	struct rcore_error *err = NULL;
	const char **paths = rcore_calloc(outputs->count, sizeof(*paths));
	if (!paths)
		return rcore_error_no_memory();
	for (size_t i = 0; i < outputs->count && !err; i++) {
		const struct rcore_format *format;
		err = rcore_format_of_output(outputs->items[i], &format, &paths[i]);
	}
	if (!err)
		err = rcore_output_paths_check(paths, outputs->count, inputs);
	free(paths);
	return err;
}

static struct rcore_error *write_report(FILE *out, const void *context)
{
	const struct report *report = context;
	return report->format->write(report->snapshot, report->options, out);
}

static struct rcore_error *write_one(const char *output, const struct rcore_inputs *inputs,
				     const struct rcore_snapshot *snapshot,
				     const struct rcore_report_options *options)
{
	struct report report = {.snapshot = snapshot, .options = options};
	const char *path;
	struct rcore_error *err = rcore_format_of_output(output, &report.format, &path);
	return err ? err
		   : rcore_output_write(path, RCORE_OUTPUT_REPORT, inputs, write_report,
					&report);
}

struct rcore_error *rcore_outputs_write(const struct rcore_strings *outputs,
					const struct rcore_inputs *inputs,
					const struct rcore_snapshot *snapshot,
					const struct rcore_report_options *options)
{
	struct rcore_report_options plain = *options;
	struct rcore_error *first = NULL;
	plain.color = false;
	for (size_t i = 0; i < outputs->count; i++) {
		struct rcore_error *err =
			write_one(outputs->items[i], inputs, snapshot, &plain);
		if (first)
			rcore_error_free(err);
		else
			first = err;
	}
	return first;
}
