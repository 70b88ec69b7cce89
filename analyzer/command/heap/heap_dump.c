/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "base/text.h"
#include "command/list.h"
#include "session/heap/heap.h"
#include "session/heap/heap_export.h"
#include "session/inputs.h"
#include "target/output/output.h"

enum format {
	LINES, /* of ObjectSpace.dump_all */
	SNAPSHOT,
	PPROF,
};

static const char *const formats[] = {
	[LINES] = "json",
	[SNAPSHOT] = "heapsnapshot",
	[PPROF] = "pprof",
	NULL,
};

/*
 * The suffix of the output's name selects the format; any other name gets
 * dump_all's.
 */
static const struct {
	const char *end;
	enum format format;
} endings[] = {
	{".heapsnapshot", SNAPSHOT},
	{".pb.gz", PPROF},
};

struct arguments {
	const char *output;
	int format; /* -1: not given */
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct arguments defaults = {.format = -1};

static const struct rcore_option options[] = {
	{
		.name = "output",
		.letter = 'o',
		.kind = RCORE_OPTION_TEXT,
		.offset = MEMBER(output),
		.writes = true,
		.value = "FILE",
		.help = "Write to FILE instead of standard output. Its suffix selects the "
			"format: .heapsnapshot, .pb.gz (pprof), or json for any other",
		.completion = RCORE_COMPLETE_FILE,
	},
	{"format", 0, RCORE_OPTION_CHOICE, MEMBER(format), "FORMAT",
	 "json (a line for each object, as ObjectSpace.dump_all), heapsnapshot (Chrome "
	 "DevTools) or pprof",
	 .choices = formats},
	{0},
};

struct writing {
	struct rcore_view *view;
	enum format format;
};

static enum format find_format(const struct arguments *arguments)
{
	if (arguments->format >= 0)
		return (enum format)arguments->format;
	for (size_t i = 0; i < RCORE_COUNT(endings) && arguments->output; i++)
		if (rcore_ends_with(arguments->output, endings[i].end))
			return endings[i].format;
	return LINES;
}

static struct rcore_error *write_dump(FILE *out, const void *context)
{
	const struct writing *writing = context;
	struct rcore_heap_dumped dumped;
	if (writing->format == SNAPSHOT)
		return rcore_heap_export_snapshot(writing->view->session, out,
						  &writing->view->is_partial);
	if (writing->format == PPROF)
		return rcore_heap_export_pprof(writing->view->session,
					       writing->view->write_pprof, out,
					       &writing->view->is_partial);
	struct rcore_error *err = rcore_heap_dump(writing->view->session, out, &dumped);
	writing->view->is_partial = dumped.partial || dumped.absent_pages;
	return err;
}

static struct rcore_error *write_file(struct rcore_session *session, const char *path,
				      const struct writing *writing)
{
	const struct rcore_inputs *inputs;
	struct rcore_error *err = rcore_session_inputs(session, &inputs);
	if (!err)
		err = rcore_session_check_output(session, path);
	return err ? err
		   : rcore_output_write(path, RCORE_OUTPUT_PRIVATE, inputs, write_dump,
					writing);
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct writing writing = {view, find_format(arguments)};
	struct rcore_error *err;
	if (writing.format == PPROF && !view->write_pprof)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "a debugger cannot write the format of pprof; use "
					  "`rcore heap dump` in a shell");
	rcore_view_print(view);
	if (arguments->output)
		err = write_file(view->session, arguments->output, &writing);
	else
		err = write_dump(out, &writing);
	return err;
}

/* `rcore heap dump`. */
const struct rcore_command rcore_command_heap_dump = {
	.name = "dump",
	.summary = "write all objects for other tools: as dump_all does, for Chrome, or for "
		   "pprof",
	.doc = "Write each object of the heap as a line of JSON, in the format of Ruby's "
	       "ObjectSpace.dump_all, for heapy, sheap, heap-profiler and the like. Objects of "
	       "most extensions have no memsize, because only the extension's code knows it. "
	       "Their "
	       "references are words of their struct that look like references; "
	       "\"conservative\":true marks such objects. \"partial\":true marks an object "
	       "whose references could not all be read.\n\nA heapsnapshot has the reachable "
	       "objects with their references and sizes. Chrome DevTools opens it in its "
	       "Memory panel; `rcore heap refs TARGET @ID` accepts the ids that it shows. "
	       "pprof shows objects and bytes by the shortest path from a root. Neither "
	       "contains Strings.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_FIBERS | RCORE_WITHOUT_NO_STOP,
	.defaults = &defaults,
	.examples =
		(const char *const[]){"-o heap.json", "-o x.heapsnapshot", "-o x.pb.gz", NULL},
	.exit_status =
		"Exit status: 0 written; 1 not all objects or references could be read, or "
		"some paths of pprof are cut, as its comment says; 2 nothing could be read; 3 "
		"not a Ruby process; 64 wrong usage.",
	.run = run,
};
