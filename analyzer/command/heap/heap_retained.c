/* SPDX-License-Identifier: MIT */
#include "command/limits.h"
#include "command/list.h"
#include "report/heap_object.h"
#include "session/heap/heap_graph.h"

enum { SHOWN_ROWS = 15 };

struct arguments {
	bool json;
	size_t limit;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_AMOUNT, MEMBER(limit), "N",
	 "Print the N largest of each list (15)", .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_heap_retained *retained;
	size_t limit = arguments->limit;
	struct rcore_error *err = rcore_limit_rows(&limit, SHOWN_ROWS);
	if (!err)
		err = rcore_heap_retained(view->session, limit, &retained);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = rcore_heap_is_partial(&retained->gaps);
	err = arguments->json ? rcore_report_retained_json(retained, out)
			      : rcore_report_retained_text(retained, &report, out);
	rcore_heap_retained_free(retained);
	return err;
}

const struct rcore_command rcore_command_heap_retained = {
	.name = "retained",
	.summary = "what would be freed with an object, a class or a root",
	.doc = "Print which objects, classes and roots keep the most memory alive. An object "
	       "retains everything that is reachable only through it, and that would be freed "
	       "with it. A class retains what is reachable only through its instances. "
	       "Ractors, threads, classes and modules, which have the whole program below "
	       "them, are listed by themselves at the end. Bytes are as in `rcore heap`.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.examples = (const char *const[]){"", "--limit 50", NULL},
	.shell_examples =
		(const char *const[]){"rcore heap retained --json core.1234 | jq '.classes[0]'",
				      NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 some objects could not be read; 2 "
		"nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
