/* SPDX-License-Identifier: MIT */
#include "report/text/process/text_values.h"

#include "base/text.h"

enum { INDENT = 12 };

/*
 * Writes a value as its inspect prints it, escaped, and what could not be read,
 * without a newline.
 */
static void print_value(const struct rcore_pen *pen, const struct rcore_value *value)
{
	if (value->text)
		rcore_escape_write(pen->out, value->text);
	else
		fputs("?", pen->out);
	rcore_style_problem(pen, value->problem);
}

static const char *sigil(enum rcore_parameter parameter)
{
	switch (parameter) {
	case RCORE_PARAMETER_REST:
		return "*";
	case RCORE_PARAMETER_KEYREST:
		return "**";
	case RCORE_PARAMETER_BLOCK:
		return "&";
	default:
		return "";
	}
}

static void print_word(const struct rcore_pen *pen, const struct rcore_local *local)
{
	const char *word = local->is_hidden                           ? "hidden"
			   : local->level                             ? "outer"
			   : local->parameter == RCORE_PARAMETER_NONE ? "local"
								      : "arg";
	rcore_styled(pen, RCORE_STYLE_QUIET, "%*s%-6s ", INDENT, "", word);
}

static void print_local(const struct rcore_pen *pen, const struct rcore_local *local)
{
	const char *name = local->variable.name, *mark = sigil(local->parameter);
	print_word(pen, local);
	/* An anonymous parameter is named by its mark only. */
	if (!rcore_same_text(name, mark))
		fputs(mark, pen->out);
	rcore_escape_write(pen->out, name ? name : "(no name)");
	fputs(" = ", pen->out);
	print_value(pen, &local->variable.value);
	rcore_style_problem(pen, local->variable.problem);
	putc('\n', pen->out);
}

void rcore_text_frame_values(const struct rcore_pen *pen,
			     const struct rcore_frame_values *values, bool with_hidden)
{
	if (!values)
		return;
	if (values->has_self) {
		rcore_styled(pen, RCORE_STYLE_QUIET, "%*s%-6s ", INDENT, "", "self");
		print_value(pen, &values->self);
		putc('\n', pen->out);
	}
	for (size_t i = 0; i < values->local_count; i++)
		if (with_hidden || !values->locals[i].is_hidden)
			print_local(pen, &values->locals[i]);
	if (values->problem) {
		fprintf(pen->out, "%*s", INDENT - 2, "");
		rcore_style_problem(pen, values->problem);
		putc('\n', pen->out);
	}
}

void rcore_text_variables(const struct rcore_pen *pen, const char *word,
			  const struct rcore_variables *variables)
{
	for (size_t i = 0; i < variables->count; i++) {
		const struct rcore_variable *variable = &variables->items[i];
		rcore_styled(pen, RCORE_STYLE_QUIET, "    %s ", word);
		rcore_escape_write(pen->out, variable->name ? variable->name : "(no name)");
		fputs(" = ", pen->out);
		print_value(pen, &variable->value);
		rcore_style_problem(pen, variable->problem);
		putc('\n', pen->out);
	}
	if (variables->problem) {
		fprintf(pen->out, "    %s", word);
		rcore_style_problem(pen, variables->problem);
		putc('\n', pen->out);
	}
}
