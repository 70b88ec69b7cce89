/* SPDX-License-Identifier: MIT */
#include "report/heap_verify.h"
#include "command/list.h"
#include "session/heap/heap_verify.h"

enum { SHOWN_DEFECTS = 25 };

struct arguments {
	bool json;
	struct rcore_index limit;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_INDEX, MEMBER(limit), "N",
	 "Print N defects; 0 prints all. 25 by default", .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_heap_verified *verified;
	size_t limit = arguments->limit.is_given ? arguments->limit.number : SHOWN_DEFECTS;
	struct rcore_error *err =
		rcore_heap_verify(view->session, limit ? limit : SIZE_MAX, &verified);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = rcore_heap_is_partial(&verified->gaps) || verified->unchecked;
	for (int kind = 0; kind < RCORE_DEFECT_KINDS; kind++)
		view->is_partial |= verified->counts[kind] > 0;
	err = arguments->json ? rcore_report_heap_verify_json(verified, out)
			      : rcore_report_heap_verify_text(verified, &report, out);
	rcore_heap_verified_free(verified);
	return err;
}

const struct rcore_command rcore_command_heap_verify = {
	.name = "verify",
	.summary = "find references to freed objects, missing write barriers, broken flags",
	.doc = "Check the heap after a crash that looks like memory corruption. Find "
	       "references to slots that are free or that the collector is about to free; old "
	       "objects that refer to young ones without the collector knowing, because a "
	       "write barrier is missing; slots whose flags have a type that no object has; "
	       "and objects whose class is no class. Only references that the collector finds "
	       "by type are checked, so a defect in the C memory of an extension does not "
	       "show.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.examples = (const char *const[]){"", "--limit 0", NULL},
	.shell_examples =
		(const char *const[]){"rcore heap verify --json core.1234 | jq '.defects[0]'",
				      NULL},
	.exit_status = "Exit status: 0 no defects; 1 there are defects, or something was not "
		       "checked; 2 nothing could be read; 3 not a Ruby process; 64 wrong "
		       "usage.",
	.run = run,
};
