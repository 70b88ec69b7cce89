/* SPDX-License-Identifier: MIT */
#include "report/heap_strings.h"
#include "command/limits.h"
#include "command/list.h"
#include "session/heap/heap_strings.h"

enum { SHOWN_GROUPS = 15 };

struct arguments {
	bool json;
	size_t limit;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_AMOUNT, MEMBER(limit), "N",
	 "Print the N contents that waste the most memory (15)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_heap_strings *strings;
	size_t limit = arguments->limit;
	struct rcore_error *err = rcore_limit_rows(&limit, SHOWN_GROUPS);
	if (!err)
		err = rcore_heap_strings(view->session, limit, &strings);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = rcore_heap_is_partial(&strings->gaps) || strings->unread;
	err = arguments->json ? rcore_report_heap_strings_json(strings, out)
			      : rcore_report_heap_strings_text(strings, &report, out);
	rcore_heap_strings_free(strings);
	return err;
}

const struct rcore_command rcore_command_heap_strings = {
	.name = "strings",
	.summary = "Strings and Arrays that exist several times, and what holds them",
	.doc = "Find reachable Strings with the same bytes and encoding, and Arrays with the "
	       "same elements (equal Strings count as the same). For each, print how many "
	       "bytes are wasted, what holds the copies, and a path to the first one. If the "
	       "program does not change them, one object is enough: `# frozen_string_literal: "
	       "true`, -\"text\", or a constant.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.examples = (const char *const[]){"", "--limit 50", NULL},
	.shell_examples =
		(const char *const[]){
			"rcore heap strings --json core.1234 | jq '.strings.wasted'", NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 some objects could not be read; 2 "
		"nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
