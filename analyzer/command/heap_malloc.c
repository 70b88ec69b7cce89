/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "command/list.h"
#include "report/heap_malloc.h"
#include "session/heap.h"
#include "session/malloc.h"
#include "session/session.h"

struct arguments {
	bool json;
};

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, offsetof(struct arguments, json),
	 .help = "Print JSON"},
	{0},
};

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	const struct rcore_report_options report = {.color = view->color};
	struct rcore_malloc heap;
	struct rcore_error *err = rcore_heap_refuse_live(view->session);
	if (!err)
		err = rcore_session_malloc(&view->session->target, &heap);
	if (err)
		return err;
	rcore_view_print(view);
	view->is_partial = heap.problem[0];
	err = arguments->json ? rcore_report_malloc_json(&heap, out)
			      : rcore_report_malloc_text(&heap, &report, out);
	rcore_malloc_deinit(&heap);
	return err;
}

const struct rcore_command rcore_command_heap_malloc = {
	.name = "malloc",
	.summary = "C memory: what malloc() has in use, and what it keeps",
	.doc = "Print how much memory glibc's malloc() has in use, and how much of what it got "
	       "from the kernel is free: in bins, in caches of threads, or at the end of an "
	       "arena. Sizes are those of chunks, with their headers. If the program uses "
	       "another allocator, say which.",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"", "--json", NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 parts are missing, or the allocator "
		"is unknown; 2 nothing could be read; 64 wrong usage.",
	.run = run,
};
