/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "report/profile/profile_report.h"

#define ROW(ending, writer, needs, help)  {ending, writer, RCORE_NEEDS_##needs},
#define LIST(ending, writer, needs, help) " " ending
#define HELP(ending, writer, needs, help) " " ending " (" help ")"

const struct rcore_profile_format rcore_profile_formats[] = {RCORE_PROFILE_FORMATS(ROW){0}};

const char rcore_profile_format_help[] =
	"Write to FILE in the format of its suffix:" RCORE_PROFILE_FORMATS(HELP);

/* The longest suffix counts: .speedscope.json is not .json. */
struct rcore_error *rcore_profile_format_of(const char *path,
					    const struct rcore_profile_format **ret)
{
	char escaped[128];
	const struct rcore_profile_format *best = NULL;
	for (const struct rcore_profile_format *format = rcore_profile_formats; format->ending;
	     format++)
		if (rcore_ends_with(path, format->ending) &&
		    (!best || strlen(format->ending) > strlen(best->ending)))
			best = format;
	*ret = best;
	return best ? NULL
		    : rcore_error_create(RCORE_ERROR_USAGE,
					 "the suffix of '%s' names no format; the suffixes "
					 "are" RCORE_PROFILE_FORMATS(LIST),
					 rcore_escape(escaped, sizeof(escaped), path));
}
