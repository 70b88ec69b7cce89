/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_context.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"

/* A key that could be mistaken for more than a key is quoted. */
static bool is_plain(const char *key)
{
	return *key && !key[strcspn(key, " =\"'\\\t\n\r\f\v")];
}

static void write_quoted(FILE *out, const char *key)
{
	char part[256];
	size_t size;
	putc('"', out);
	for (; *key; key += size) {
		size = strcspn(key, "\"\\");
		if (!size)
			putc('\\', out);
		size = !size ? 1 : size < sizeof(part) ? size : sizeof(part) - 1;
		memcpy(part, key, size);
		part[size] = 0;
		rcore_escape_write(out, part);
	}
	putc('"', out);
}

static void write_key(FILE *out, const char *key)
{
	if (is_plain(key))
		rcore_escape_write(out, key);
	else
		write_quoted(out, key);
}

static void write_value(FILE *out, const char *text)
{
	putc('=', out);
	rcore_escape_write(out, text ? text : "<unreadable>");
}

void rcore_text_pair(const struct rcore_pen *pen, const char *key, const char *text)
{
	write_key(pen->out, key);
	write_value(pen->out, text);
}

void rcore_text_context(const struct rcore_pen *pen, const char *before,
			const struct rcore_context *context)
{
	for (size_t i = 0; i < context->pair_count; i++) {
		const struct rcore_context_pair *pair = &context->pairs[i];
		fputs(i ? " " : before, pen->out);
		if (pair->variable.name)
			write_key(pen->out, pair->variable.name);
		else
			fprintf(pen->out, "<ID 0x%" PRIx64 ">", pair->key);
		write_value(pen->out, pair->variable.value.text);
	}
}

static void remark(const struct rcore_pen *pen, const char *indent, enum rcore_style style,
		   const char *text)
{
	if (!text)
		return;
	fprintf(pen->out, "%s", indent);
	rcore_style(pen, style);
	fputs(style == RCORE_STYLE_PROBLEM ? "! " : "- ", pen->out);
	rcore_escape_write(pen->out, text);
	rcore_style(pen, RCORE_STYLE_PLAIN);
	putc('\n', pen->out);
}

void rcore_text_context_remarks(const struct rcore_pen *pen, const char *indent,
				const struct rcore_context *context)
{
	remark(pen, indent, RCORE_STYLE_PROBLEM, context->problem);
	for (size_t i = 0; i < context->pair_count; i++) {
		const struct rcore_variable *variable = &context->pairs[i].variable;
		remark(pen, indent, RCORE_STYLE_PROBLEM, variable->problem);
		remark(pen, indent, RCORE_STYLE_PROBLEM, variable->value.problem);
	}
	remark(pen, indent, RCORE_STYLE_QUIET, context->difference);
}
