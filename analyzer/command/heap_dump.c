/* SPDX-License-Identifier: MIT */
#include "command/list.h"
#include "session/heap.h"
#include "session/inputs.h"
#include "target/output/output.h"

struct arguments {
	const char *output;
};

static const struct rcore_option options[] = {
	{
		.name = "output",
		.letter = 'o',
		.kind = RCORE_OPTION_TEXT,
		.offset = offsetof(struct arguments, output),
		.writes = true,
		.value = "FILE",
		.help = "Write the dump to FILE instead of standard output",
		.completion = RCORE_COMPLETE_FILE,
	},
	{0},
};

struct writing {
	struct rcore_session *session;
	struct rcore_heap_dumped *dumped;
};

static struct rcore_error *write_dump(FILE *out, const void *context)
{
	const struct writing *writing = context;
	return rcore_heap_dump(writing->session, out, writing->dumped);
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
	struct rcore_heap_dumped dumped = {0};
	struct writing writing = {view->session, &dumped};
	struct rcore_error *err;
	rcore_view_print(view);
	if (arguments->output)
		err = write_file(view->session, arguments->output, &writing);
	else
		err = write_dump(out, &writing);
	view->is_partial = dumped.partial || dumped.absent_pages;
	return err;
}

/* `rcore heap dump`. */
const struct rcore_command rcore_command_heap_dump = {
	.name = "dump",
	.summary = "write each object as ObjectSpace.dump_all does",
	.doc = "Write each object of the heap as a line of JSON, in the format of Ruby's "
	       "ObjectSpace.dump_all, for heapy, sheap, heap-profiler and the like. The lines "
	       "have no memsize for objects of extensions, whose size only their own code "
	       "knows. Their references are words of their struct that look like references, "
	       "which \"conservative\":true says. \"partial\":true marks an object whose "
	       "references could not all be read.",
	.options = options,
	.size = sizeof(struct arguments),
	.examples = (const char *const[]){"-o heap.json", NULL},
	.exit_status =
		"Exit status: 0 written; 1 not all objects or references could be read; 2 "
		"nothing could be read; 3 not a Ruby process; 64 wrong usage.",
	.run = run,
};
