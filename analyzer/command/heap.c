/* SPDX-License-Identifier: MIT */
#include "command/list.h"
#include "report/heap.h"
#include "session/heap.h"

enum { SHOWN_CLASSES = 25 };

struct arguments {
	bool json;
	struct rcore_index limit;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_INDEX, MEMBER(limit), "N",
	 "Print the N largest classes; 0 prints all. 25 by default",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	const size_t limit =
		arguments->limit.is_given ? arguments->limit.number : SHOWN_CLASSES;
	struct rcore_heap_census *census;
	struct rcore_error *err = rcore_heap_census(view->session, &census);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = census->absent_pages > 0;
	err = arguments->json ? rcore_report_census_json(census, limit, out)
			      : rcore_report_census_text(census, limit, &report, out);
	rcore_heap_census_free(census);
	return err;
}

const struct rcore_command rcore_command_heap = {
	.name = "heap",
	.topic = RCORE_TOPIC_CORES,
	.verb = "heap",
	.summary = "what is in the heap: classes by count and bytes, pages, free slots",
	.doc = "Count the objects in the heap of a core by class. Bytes are those of the slots "
	       "and of the C memory that ObjectSpace.memsize_of() counts; only an extension "
	       "knows the C memory of its own objects, which is not counted. A page is sparse "
	       "if at most a quarter of its slots are in use.",
	.options = options,
	.size = sizeof(struct arguments),
	.subcommands = (const struct rcore_command *const[]){&rcore_command_heap_dump,
							     &rcore_command_heap_refs,
							     &rcore_command_heap_retained,
							     &rcore_command_heap_diff,
							     &rcore_command_heap_malloc, NULL},
	.examples = (const char *const[]){"", "--limit 0", NULL},
	.shell_examples =
		(const char *const[]){"rcore heap core.1234",
				      "rcore heap --json core.1234 | jq '.classes[0]'",
				      "rcore heap dump core.1234 -o heap.json", NULL},
	.exit_status =
		"Exit status: 0 counted; 1 some pages are not in the core; 2 nothing could "
		"be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
