/* SPDX-License-Identifier: MIT */
#include <inttypes.h>

#include "base/text.h"
#include "command/list.h"
#include "session/inputs.h"

struct arguments {
	struct rcore_locals_options values;
	const char *output;
	bool heap;
};

static const struct rcore_option options[] = {
	{
		.name = "output",
		.letter = 'o',
		.kind = RCORE_OPTION_TEXT,
		.offset = offsetof(struct arguments, output),
		.writes = true,
		.value = "PACK",
		.help = "Write the pack to PACK; the target does not change",
		.completion = RCORE_COMPLETE_FILE,
	},
	{"heap", 0, RCORE_OPTION_FLAG, offsetof(struct arguments, heap),
	 .help = "Include all memory that the process has written, for rcore heap"},
	{"self", 0, RCORE_OPTION_FLAG, offsetof(struct arguments, values.self),
	 .help = "Include what rcore analyze --self prints"},
	{"args", 0, RCORE_OPTION_FLAG, offsetof(struct arguments, values.arguments),
	 .help = "Include what rcore analyze --args prints"},
	{"locals", 0, RCORE_OPTION_FLAG, offsetof(struct arguments, values.locals),
	 .help = "Include what rcore analyze --locals prints"},
	{0},
};

static void prepare(const void *given, struct rcore_options *open)
{
	const struct arguments *arguments = given;
	open->record = true;
	open->record_heap = arguments->heap;
	open->values = arguments->values;
}

static struct rcore_error *run(struct rcore_view *view, const void *given, FILE *out)
{
	const struct arguments *arguments = given;
	struct rcore_snapshot *snapshot;
	uint64_t size = 0;
	if (!arguments->output)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "missing output; name the pack with -o PACK");
	struct rcore_error *err = rcore_session_check_output(view->session, arguments->output);
	if (!err)
		err = rcore_load(view->session, &snapshot);
	if (err)
		return err;
	err = rcore_pack(view->session, snapshot, arguments->output, &size);
	rcore_view_print(view);
	if (!err) {
		rcore_view_note_gaps(view, snapshot);
		rcore_escape_write(out, arguments->output);
		fprintf(out, "  %" PRIu64 " bytes\n", size);
	}
	rcore_snapshot_free(snapshot);
	return err;
}

const struct rcore_command rcore_command_pack = {
	.name = "pack",
	.topic = RCORE_TOPIC_CORES,
	.summary = "write a small core with everything that a report needs",
	.doc = "Write a small core with the memory that the analysis read, and what it read "
	       "from the files of the executable and the libraries. On a machine that has "
	       "neither the core nor these files, rcore prints the same report for it, and "
	       "gdb opens it as a core. It contains nothing that the analysis did not read. A "
	       "running process is stopped for as long as rcore analyze stops it; its pack is "
	       "a core of that moment. With --heap, it also contains all memory that the "
	       "process has written, so that rcore heap can read it, and compare a later "
	       "moment with it. rcore then stops a running process as rcore heap does. Such a "
	       "pack cannot be redacted.",
	.options = options,
	.size = sizeof(struct arguments),
	.without = RCORE_WITHOUT_WATCH | RCORE_WITHOUT_EXACT,
	.examples = (const char *const[]){"-o crash.core", NULL},
	.shell_examples = (const char *const[]){"rcore pack -p 1234 -o hung.core",
						"rcore analyze crash.core",
						"rcore pack -p 1234 --heap -o before.core",
						"rcore heap diff -p 1234 before.core", NULL},
	.exit_status = "Exit status: 0 written; 1 written, but not everything could be "
		       "decoded; 2 nothing was written; 3 not a Ruby process; 64 wrong usage.",
	.prepare = prepare,
	.run = run,
};
