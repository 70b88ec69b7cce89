/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>

#include "command/list.h"

struct arguments {
	bool json;
	size_t depth, max_string, max_items;
	struct rcore_words values;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json),
	 .help = "As JSON, with what each value holds"},
	{"depth", 0, RCORE_OPTION_NUMBER, MEMBER(depth), "N",
	 .help = "Show containers within containers N deep (4)"},
	{"max-string", 0, RCORE_OPTION_NUMBER, MEMBER(max_string), "N",
	 .help = "Show N bytes of a String (256)"},
	{"max-items", 0, RCORE_OPTION_NUMBER, MEMBER(max_items), "N",
	 .help = "Show N elements, pairs or instance variables of a value (100)"},
	{0},
};

static struct rcore_error *parse_value(const char *word, uint64_t *ret)
{
	char *end;
	errno = 0;
	*ret = strtoull(word, &end, 0);
	if (errno || *end || end == word || *word == '-')
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"'%s' is no VALUE: give its address, as 0x7f12a5c3e8b0, "
			"or an immediate's number",
			word);
	return NULL;
}

/* Zero is the library's default; what nobody can hold is as good as no limit. */
static unsigned limit(size_t given)
{
	return given > UINT32_MAX ? UINT32_MAX : (unsigned)given;
}

static bool is_partial(const struct rcore_print *print)
{
	for (size_t i = 0; i < print->count; i++)
		if (print->items[i].value.problem || print->items[i].problem)
			return true;
	return false;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_inspect_options inspect = {limit(arguments->depth),
						      limit(arguments->max_string),
						      limit(arguments->max_items)};
	const struct rcore_report_options report = {.color = view->color};
	uint64_t values[RCORE_MAX_WORDS];
	struct rcore_print *print;
	struct rcore_error *err = NULL;
	if (!arguments->values.count)
		return rcore_error_create(RCORE_ERROR_USAGE, "which VALUE? Give its address");
	for (size_t i = 0; i < arguments->values.count && !err; i++)
		err = parse_value(arguments->values.items[i], &values[i]);
	if (!err)
		err = rcore_print(view->session, values, arguments->values.count, &inspect,
				  &print);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = is_partial(print);
	err = arguments->json ? rcore_report_print_json(print, out)
			      : rcore_report_print(print, &report, out);
	rcore_print_free(print);
	return err;
}

const struct rcore_command rcore_command_print = {
	.name = "print",
	.verb = "print",
	.summary = "a value, as its inspect shows it",
	.doc = "Print Ruby values by their VALUE (an address, or an immediate's number, in hex "
	       "or "
	       "decimal) as this Ruby's own inspect does, each on a line. What a class's own "
	       "inspect, written in Ruby, would print is not known: such an object is shown "
	       "with "
	       "its instance variables. What is left out is said: \"... (3 more)\".",
	.options = options,
	.size = sizeof(struct arguments),
	.words = "VALUE...",
	.words_offset = MEMBER(values),
	.examples = (const char *const[]){"0x7f12a5c3e8b0", "--depth 1 0x7f12a5c3e8b0",
					  "--max-items 1000 --max-string 100000 0x7f12a5c3e8b0",
					  NULL},
	.shell_examples = (const char *const[]){"rcore print --json core.1234 0x7f12a5c3e8b0 | "
						"jq '.values[].items'",
						"rcore print -p 1234 0x7f12a5c3e8b0", NULL},
	.exit_status =
		"Exit status: 0 printed whole; 1 something of a value could not be read; 2 "
		"nothing could be; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
