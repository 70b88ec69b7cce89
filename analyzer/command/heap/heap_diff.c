/* SPDX-License-Identifier: MIT */
#include "report/heap_diff.h"
#include "command/limits.h"
#include "command/list.h"
#include "session/heap/heap_diff.h"
#include "session/session.h"

enum { SHOWN_PATHS = 15 };

struct arguments {
	bool json;
	size_t limit;
	struct rcore_strings cores;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_AMOUNT, MEMBER(limit), "N",
	 "Print the N paths and classes that grew most (15)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *open_all(const struct rcore_view *view,
				    const struct rcore_strings *cores,
				    struct rcore_session **sessions, size_t *count)
{
	/* A running process is newer than all cores. */
	const bool is_last = view->session->target.live;
	if (!cores->count || cores->count >= RCORE_DIFF_SIDES)
		return rcore_error_create(RCORE_ERROR_USAGE, "name %s, oldest first",
					  is_last ? "one or two older cores"
						  : "two or three cores");
	if (!is_last)
		sessions[(*count)++] = view->session;
	for (size_t i = 0; i < cores->count; i++) {
		struct rcore_error *err =
			rcore_open_core(cores->items[i], view->options, &sessions[*count]);
		if (err)
			return err;
		++*count;
	}
	if (is_last)
		sessions[(*count)++] = view->session;
	return NULL;
}

static struct rcore_error *print(struct rcore_view *view, const struct arguments *arguments,
				 const struct rcore_heap_diff *diff, FILE *out)
{
	const struct rcore_report_options report = {.color = view->color};
	rcore_view_print(view);
	view->is_partial |= diff->is_cut;
	for (size_t i = 0; i < diff->side_count; i++)
		view->is_partial |= rcore_heap_is_partial(&diff->sides[i].gaps);
	return arguments->json ? rcore_report_heap_diff_json(diff, out)
			       : rcore_report_heap_diff_text(diff, &report, out);
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_session *sessions[RCORE_DIFF_SIDES];
	struct rcore_heap_diff *diff = NULL;
	size_t count = 0, limit = arguments->limit;
	struct rcore_error *err = open_all(view, &arguments->cores, sessions, &count);
	if (!err)
		err = rcore_limit_rows(&limit, SHOWN_PATHS);
	if (!err)
		err = rcore_heap_diff(sessions, count, limit, &diff);
	if (!err)
		err = print(view, arguments, diff, out);
	rcore_heap_diff_free(diff);
	while (count--)
		if (sessions[count] != view->session)
			rcore_close(sessions[count]);
	return err;
}

const struct rcore_command rcore_command_heap_diff = {
	.name = "diff",
	.summary = "what grew between two or three cores, and along which path",
	.doc = "Compare the reachable objects of cores of the same program, the oldest "
	       "first; a running process (-p) is the newest. Addresses are not compared, so "
	       "the cores may be of different processes, and objects that GC.compact moved "
	       "are no growth. A line says if a core is older than the one before it, or of a "
	       "program with another name. Objects are counted by their path "
	       "from a root, without indices: \"constant ORDERS, an element: Order\". With a "
	       "third core, print only what grew both times.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.words = "CORE...",
	.words_are_targets = true,
	.operands_offset = MEMBER(cores),
	.completion = RCORE_COMPLETE_FILE,
	.shell_examples =
		(const char *const[]){"rcore heap diff monday.core friday.core",
				      "rcore heap diff monday.core friday.core sunday.core",
				      "rcore pack -p 4242 --heap -o monday.core",
				      "rcore heap diff -p 4242 monday.core",
				      "rcore heap diff --json a.core b.core | jq '.paths[0]'",
				      NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 some objects could not be read, or some "
		"paths are counted as shorter ones; 2 nothing could be read; 3 not a Ruby "
		"process; 64 wrong usage.",
	.run = run,
};
