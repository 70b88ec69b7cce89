/* SPDX-License-Identifier: MIT */
#include "report/formats.h"

#include <string.h>

#include "base/text.h"

const struct rcore_format rcore_formats[] = {
	{"text", ".txt", rcore_report_text},        {"json", ".json", rcore_report_json},
	{"markdown", ".md", rcore_report_markdown}, {"github", NULL, rcore_report_github},
	{"sarif", ".sarif", rcore_report_sarif},    {"junit", ".xml", rcore_report_junit},
	{"gitlab", NULL, rcore_report_gitlab},      {0},
};

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), size = strlen(ending);
	return length > size && strcmp(text + length - size, ending) == 0;
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
		if (format->ending && ends_with(output, format->ending)) {
			*ret = format;
			*ret_path = output;
			return NULL;
		}
	}
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"the ending of '%s' tells no format: name one before it, as in "
		"-o gitlab:quality.json (formats: text, json, markdown, github, "
		"sarif, junit, gitlab)",
		rcore_escape(escaped, sizeof(escaped), output));
}
