/* SPDX-License-Identifier: MIT */
#include "command/limits.h"
#include "command/list.h"
#include "report/heap_malloc.h"
#include "session/heap/c_memory.h"
#include "session/heap/heap.h"
#include "session/heap/malloc.h"
#include "session/live/running.h"
#include "session/session.h"

enum { SHOWN_OWNERS = 15 };

struct arguments {
	bool json;
	size_t limit;
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json), .help = "Print JSON"},
	{"limit", 0, RCORE_OPTION_AMOUNT, MEMBER(limit), "N",
	 "Print the N owners and objects with the most memory (15)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

/*
 * Without the heap there are no owners. The chunks are still printed, because
 * some Rubies have no measured heap fields.
 */
static struct rcore_error *print(struct rcore_view *view, const struct arguments *arguments,
				 const struct rcore_malloc *heap, size_t limit, FILE *out)
{
	const struct rcore_report_options style = {.color = view->color};
	struct rcore_c_memory *owners = NULL;
	struct rcore_error *unknown = NULL, *err;
	if (heap->is_known)
		unknown = rcore_c_memory(view->session, heap, limit, &owners);
	if (unknown && unknown->code == RCORE_ERROR_NO_MEMORY)
		return unknown;
	const struct rcore_malloc_report report = {
		.heap = heap,
		.owners = owners,
		.problem = unknown ? unknown->message : NULL,
	};
	rcore_view_print(view);
	view->is_partial =
		heap->problem[0] || unknown || (owners && rcore_heap_is_partial(&owners->gaps));
	err = arguments->json ? rcore_report_malloc_json(&report, out)
			      : rcore_report_malloc_text(&report, &style, out);
	rcore_c_memory_free(owners);
	rcore_error_free(unknown);
	return err;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	size_t limit = arguments->limit;
	struct rcore_malloc heap;
	struct rcore_error *err = rcore_limit_rows(&limit, SHOWN_OWNERS);
	if (!err)
		err = rcore_running_copy(view->session);
	if (!err)
		err = rcore_session_malloc(&view->session->target, &heap);
	if (err)
		return err;
	err = print(view, arguments, &heap, limit, out);
	rcore_malloc_deinit(&heap);
	return err;
}

const struct rcore_command rcore_command_heap_malloc = {
	.name = "malloc",
	.summary = "C memory: how much malloc() has in use, and what owns it",
	.doc = "Print how much memory malloc() has in use, and how much of what it got from "
	       "the kernel is free: in bins, in caches of threads, or at the end of an arena. "
	       "rcore can read glibc's allocator, whose sizes include the header of a chunk, "
	       "and jemalloc. For any other allocator, print only its name. Then print what "
	       "owns the memory in use: objects by class, such as the streams of zlib, and the "
	       "static data of libraries. Each chunk belongs to the owner with the shortest "
	       "chain of pointers to it. A chunk that several owners share counts for only one "
	       "of them.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.examples = (const char *const[]){"", "--limit 50", "--json", NULL},
	.exit_status =
		"Exit status: 0 everything was read; 1 parts are missing, or the allocator "
		"is unknown; 2 nothing could be read; 64 wrong usage.",
	.run = run,
};
