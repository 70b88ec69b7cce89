/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/constant.h"
#include "command/limits.h"
#include "command/list.h"
#include "ruby/object/value.h"

struct arguments {
	bool json, id;
	struct rcore_limits limits;
	struct rcore_strings values;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json),
	 .help = "Print JSON, with the contents of each value"},
	{"id", 0, RCORE_OPTION_FLAG, MEMBER(id),
	 .help = "Treat the numbers as IDs, and print their Symbols"},
	RCORE_OPTIONS_OF_LIMITS(MEMBER(limits), "1 MiB"),
	{0},
};

static struct rcore_error *parse_subject(const char *word, bool is_id,
					 struct rcore_subject *ret)
{
	*ret = (struct rcore_subject){0};
	if (!is_id && rcore_is_constant(word)) {
		ret->constant = word;
		return NULL;
	}
	if (!is_id && word[0] == '$')
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"'%s' is a global variable; `rcore heap refs TARGET '%s'` finds its "
			"object, whose address can be printed",
			word, word);
	if (!rcore_parse_address(word, &ret->value))
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			is_id ? "'%s' is not an ID; use a number"
			      : "'%s' is not a VALUE; use an address such as 0x7f12a5c3e8b0, "
				"the number of an immediate, or the name of a constant",
			word);
	if (is_id)
		ret->value = rcore_static_symbol(ret->value);
	return NULL;
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
	const struct rcore_print_options print_options = {
		.size = sizeof(print_options),
		.inspect = rcore_limits_inspect(&arguments->limits),
	};
	const struct rcore_report_options report = {.color = view->color};
	const size_t count = arguments->values.count;
	struct rcore_print *print;
	struct rcore_error *err = NULL;
	if (!count)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "missing VALUE; name an address or a constant");
	struct rcore_subject *subjects = calloc(count, sizeof(*subjects));
	if (!subjects)
		return rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++)
		err = parse_subject(arguments->values.items[i], arguments->id, &subjects[i]);
	if (!err)
		err = rcore_print(view->session, subjects, count, &print_options, &print);
	free(subjects);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = is_partial(print);
	err = arguments->json ? rcore_report_print_json(print, out)
			      : rcore_report_print_text(print, &report, out);
	rcore_print_free(print);
	return err;
}

const struct rcore_command rcore_command_print = {
	.name = "print",
	.verb = "print",
	.summary = "a value, as its inspect prints it",
	.doc = "Print Ruby values as this Ruby's own inspect does, each on a line. Name a "
	       "value by its VALUE (an address or the number of an immediate, in hex or "
	       "decimal) or by a constant (Foo::BAR, also a private one). rcore does not run "
	       "an inspect that is written in Ruby; it prints such an object with its instance "
	       "variables. Omitted parts are marked: \"... (3 more)\".",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS,
	.words = "VALUE|CONSTANT...",
	.operands_offset = MEMBER(values),
	.completion = RCORE_COMPLETE_CONSTANT,
	.examples =
		(const char *const[]){"0x7f12a5c3e8b0", "Foo::BAR", "--depth 1 0x7f12a5c3e8b0",
				      "--max-items 1000 --max-string 100000 0x7f12a5c3e8b0",
				      NULL},
	.shell_examples =
		(const char *const[]){
			"rcore print --json core.1234 0x7f12a5c3e8b0 | jq '.values[].items'",
			"rcore print -p 1234 MyApp::CONFIG", NULL},
	.exit_status = "Exit status: 0 everything was printed; 1 part of a value could not be "
		       "read; 2 nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
