/* SPDX-License-Identifier: MIT */
#include "report/formats.h"

#include <string.h>

#include "base/text.h"

#define ROW(name, ending, writer, is_document, note)      {name, ending, writer},
#define NAME(name, ending, writer, is_document, note)     name,
#define DOCUMENT(name, ending, writer, is_document, note) is_document,
#define HELP(name, ending, writer, is_document, note)     " " name note
#define LIST(name, ending, writer, is_document, note)     " " name
#define ENDING(name, ending, writer, is_document, note)   " " ending

const struct rcore_format rcore_formats[] = {RCORE_FORMATS(ROW){0}};

const char *const rcore_format_names[] = {RCORE_FORMATS(NAME) NULL};

const bool rcore_format_is_document[] = {RCORE_FORMATS(DOCUMENT)};

const char rcore_format_list[] = RCORE_FORMATS(LIST);

const char rcore_format_help[] = "The format to print:" RCORE_FORMATS(HELP);

const char rcore_format_output_help[] =
	"Write to FILE in the format of its suffix:" RCORE_FORMATS(
		ENDING) ". Or name the format, as in gitlab:FILE. Can be repeated. With -o, "
			"print nothing unless --format names a format other than text";

const struct rcore_format *rcore_format_named(const char *name)
{
	const struct rcore_format *format = rcore_formats;
	while (strcmp(format->name, name) != 0)
		format++;
	return format;
}

static bool begins_with_name(const char *output, const char *name)
{
	size_t size = strlen(name);
	return strncmp(output, name, size) == 0 && output[size] == ':' && output[size + 1];
}

struct rcore_error *rcore_format_of_output(const char *output, const struct rcore_format **ret,
					   const char **ret_path)
{
	char escaped[128];
	for (const struct rcore_format *format = rcore_formats; format->name; format++) {
		if (begins_with_name(output, format->name)) {
			*ret = format;
			*ret_path = output + strlen(format->name) + 1;
			return NULL;
		}
	}
	for (const struct rcore_format *format = rcore_formats; format->name; format++) {
		if (format->ending[0] && rcore_ends_with(output, format->ending)) {
			*ret = format;
			*ret_path = output;
			return NULL;
		}
	}
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"the suffix of '%s' is not that of a format; name the format, as in -o "
		"gitlab:quality.json (formats:" RCORE_FORMATS(LIST) ")",
		rcore_escape(escaped, sizeof(escaped), output));
}
