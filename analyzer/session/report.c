/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "rcore.h"
#include "report/formats.h"

/*
 * The public functions that write reports. They take the name of a format, and
 * options with a size.
 */

static struct rcore_error *no_format(const char *format, const char *known)
{
	char escaped[64];
	return rcore_error_create(RCORE_ERROR_USAGE, "no format is called '%s' (formats:%s)",
				  rcore_escape(escaped, sizeof(escaped), format), known);
}

struct rcore_error *rcore_report(const struct rcore_snapshot *snapshot, const char *name,
				 const struct rcore_report_options *given, FILE *out)
{
	struct rcore_report_options options = {0};
	const struct rcore_format *format = rcore_formats;
	struct rcore_error *err = rcore_sized_copy(&options, given);
	while (format->name && strcmp(format->name, name) != 0)
		format++;
	if (!err && !format->name)
		err = no_format(name, rcore_format_list);
	if (!err)
		err = format->write(snapshot, &options, out);
	/* An error contains no pointer to the options. */
	/* cppcheck-suppress returnDanglingLifetime */
	return err;
}

struct rcore_error *rcore_report_print(const struct rcore_print *print, const char *format,
				       const struct rcore_report_options *given, FILE *out)
{
	struct rcore_report_options options = {0};
	struct rcore_error *err = rcore_sized_copy(&options, given);
	if (err)
		return err;
	if (strcmp(format, "text") == 0)
		return rcore_report_print_text(print, &options, out);
	if (strcmp(format, "json") == 0)
		return rcore_report_print_json(print, out);
	return no_format(format, " text json");
}
