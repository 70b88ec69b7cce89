/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/list.h"
#include "cli/start.h"
#include "cli/target.h"
#include "cli/profile/profile_screen.h"
#include "cli/profile/record_private.h"

/* Names the output. Replaces an older file only if there is a recording. */
static struct rcore_error *keep(struct rcore_record *record)
{
	if (!record->path || record->is_kept || !rcore_record_has_result(record))
		return NULL;
	record->is_kept = true;
	return rcore_output_keep(&record->output);
}

static struct rcore_record_summary shown_of(const struct rcore_record *record)
{
	const struct rcore_started *started = &record->started;
	return (struct rcore_record_summary){
		.summary = &record->summary,
		.rate = rcore_record_rate(record->asked, record->is_copied),
		.is_terminal = record->shows_progress,
		.is_off_cpu = record->asked->off_cpu,
		.is_calls = record->asked->events.count,
		.is_functions = record->how.function_count,
		.is_native = record->asked->native,
		.has_table = !record->path && !record->outputs.count,
		.started = started->pid ? started : NULL};
}

/* Adds the file's name to an error of the writer, which does not know it. */
static struct rcore_error *name_output(const struct rcore_record *record,
				       struct rcore_error *err)
{
	char escaped[256];
	const char *path = record->path ? record->path : rcore_temporary_folder();
	return rcore_error_wrap(err, "%s", rcore_escape(escaped, sizeof(escaped), path));
}

static struct rcore_error *write_block(struct rcore_record *record, bool is_last)
{
	return name_output(
		record,
		is_last ? rcore_recording_writer_end(record->writer, record->profile)
			: rcore_recording_writer_flush(record->writer, record->profile));
}

static struct rcore_error *each_second(struct rcore_sampling *sampling, bool is_last,
				       void *context)
{
	struct rcore_record *record = context;
	const struct rcore_record_summary shown = shown_of(record);
	rcore_sampling_summary(sampling, &record->summary);
	struct rcore_error *err = record->asked->system
					  ? rcore_record_state_system(record, sampling)
					  : rcore_record_state_process(record, sampling);
	if (!err)
		err = rcore_record_state_engine(record);
	if (!err && is_last)
		err = rcore_record_state_end(record);
	if (!err)
		err = write_block(record, is_last);
	record->is_written |= !err && rcore_record_has_result(record);
	if (!err)
		err = keep(record);
	if (record->shows_progress && !is_last)
		rcore_record_progress(&shown);
	return err;
}

/* Opens a file that is written as long as samples are taken. */
static struct rcore_error *open_named(struct rcore_record *record)
{
	char escaped[256];
	rcore_escape(escaped, sizeof(escaped), record->path);
	struct rcore_error *err =
		rcore_output_open(record->path, RCORE_OUTPUT_PRIVATE, NULL, &record->output);
	if (err)
		return err;
	if (record->output.through >= 0)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "%s: is not a plain file, as a recording must be; "
					  "name another one with -o",
					  escaped);
	/* rcore_output_keep() closes its own descriptor. */
	record->fd = fcntl(record->output.fd, F_DUPFD_CLOEXEC, 0);
	return record->fd < 0 ? rcore_error_os(errno, "cannot write %s", escaped) : NULL;
}

static struct rcore_error *open_recording(struct rcore_record *record)
{
	struct rcore_error *err = NULL;
	if (record->path) {
		err = open_named(record);
	} else {
		record->fd = rcore_temporary_open();
		if (record->fd < 0)
			err = rcore_error_os(errno, "cannot write the samples to %s",
					     rcore_temporary_folder());
	}
	return err ? err
		   : name_output(record,
				 rcore_recording_writer_new(record->fd, &record->writer));
}

/* With --system, one line is enough; the last line counts such processes. */
static void say_refused(int pid, const struct rcore_error *why, void *context)
{
	struct rcore_record *record = context;
	if (!record->refused++ || !record->asked->system)
		fprintf(stderr, "rcore: sampling process %d without BPF: %s\n", pid,
			why->message);
}

static void note_left_out(int pid, const char *title, const struct rcore_error *why,
			  void *context)
{
	struct rcore_record *record = context;
	/* A title may hold arguments. */
	rcore_left_out_add(&record->left_out, pid, record->is_redacted ? NULL : title,
			   why->message);
}

/*
 * Whether processes that the BPF program cannot sample are left out. With
 * --native, each sample without BPF stops its process.
 */
static bool must_copy(const struct rcore_record_arguments *asked)
{
	return rcore_record_ebpf(asked) == RCORE_EBPF_REQUIRE ||
	       rcore_record_is_of_events(asked) || (asked->system && asked->native);
}

/*
 * Each process that is sampled needs some files. What rcore starts keeps its
 * own limit.
 */
static void raise_file_limit(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static struct rcore_error *sample(struct rcore_cli_target *target, struct rcore_record *record,
				  int pid, uint64_t began)
{
	const struct rcore_record_arguments *asked = record->asked;
	struct rcore_options open = target->options;
	open.recognizer_file = asked->recognizers;
	const struct rcore_sampling_options sampling = {
		.pid = pid,
		.began = began,
		.children = asked->children,
		.system = asked->system,
		.rate = (double)rcore_record_rate(asked, record->is_copied),
		.stopped_rate = (double)rcore_record_rate(asked, false),
		.seconds = (double)asked->seconds,
		.open = &open,
		.sampler =
			{
				.fiber_rate = asked->fiber_rate ? (double)asked->fiber_rate
								: RCORE_SAMPLER_FIBER_RATE,
				.fiber_share =
					asked->fiber_rate ? 0 : RCORE_SAMPLER_FIBER_SHARE,
				.labels = asked->labels.items,
				.label_count = asked->labels.count,
				.where = asked->profile.where.items,
				.where_count = asked->profile.where.count,
				.by_label = rcore_profile_by_label(asked->profile.by),
				.redact = target->options.redact,
				.native = asked->native,
				.off_cpu = asked->off_cpu,
				.only_running = asked->system && record->bpf,
				.kernel = record->kernel,
				.functions = record->how.functions,
				.function_count = record->how.function_count,
				.is_single = getenv("RCORE_TEST_SINGLE_READ") != NULL,
			},
		.stop = rcore_start_interrupted(),
		.engine = &rcore_bpf_engine,
		.bpf = record->bpf,
		.refused = must_copy(asked) ? NULL : say_refused,
		.left_out = asked->system ? note_left_out : NULL,
		.each_second = each_second,
		.context = record,
	};
	record->is_redacted = target->options.redact != RCORE_REDACT_NONE;
	raise_file_limit();
	struct rcore_error *err = open_recording(record);
	if (!err)
		err = rcore_record_state_start(record);
	return err ? err : rcore_sampling_run(&sampling, record->profile);
}

/* Returns the error of a recording that has ended without samples. */
static struct rcore_error *why_nothing(const struct rcore_record *record)
{
	const struct rcore_sampling_summary *summary = &record->summary;
	if (summary->copied)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "no samples: no thread was on a processor in %.1f s; "
					  "record %s to sample threads that wait",
					  summary->seconds,
					  record->asked->system ? "with --ebpf=no"
								: "without --ebpf");
	return rcore_error_create(RCORE_ERROR_OS, "no samples: %s before the first one",
				  summary->has_ended           ? "the process ended"
				  : *rcore_start_interrupted() ? "rcore was interrupted"
							       : "the time was over");
}

/*
 * Waits for the exit status, which the summary prints. Ctrl-C goes to the
 * program, too, which may need a moment to end.
 */
static void wait_for_program(struct rcore_record *record)
{
	enum { IF_INTERRUPTED = 300, IF_ENDED = 2000 }; /* ms */
	unsigned milliseconds = record->summary.has_ended    ? IF_ENDED
				: *rcore_start_interrupted() ? IF_INTERRUPTED
							     : 0;
	rcore_start_wait(&record->started, milliseconds);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct rcore_record_arguments *asked = given;
	struct rcore_record record = {.asked = asked,
				      .output = {.fd = -1, .through = -1},
				      .fd = -1,
				      .shows_progress = isatty(STDERR_FILENO)};
	struct rcore_error *err = rcore_record_events(asked, &record.names, &record.how);
	if (!err)
		err = rcore_record_check(asked, &record.how);
	if (!err)
		err = rcore_record_sort_outputs(&record);
	if (!err)
		err = rcore_record_check_outputs(&record, target);
	if (!err && !(record.profile = rcore_profile_new()))
		err = rcore_error_no_memory();
	if (!err)
		err = rcore_record_open_bpf(&record);
	if (!err)
		err = rcore_record_read_kernel(&record);
	if (!err && asked->command.count)
		err = rcore_start(&asked->command, -1, &record.started);
	rcore_start_watch();
	if (!err && asked->pid)
		rcore_cli_note_stopped(asked->pid);
	if (!err)
		err = sample(target, &record, asked->pid ? asked->pid : record.started.pid,
			     record.started.began);
	/* Unloads the BPF program before the report, which may take long. */
	rcore_bpf_engine.close(record.bpf);
	record.bpf = NULL;
	if (!err && !rcore_record_has_result(&record))
		err = why_nothing(&record);
	wait_for_program(&record);
	const struct rcore_record_summary shown = shown_of(&record);
	if (rcore_record_has_result(&record))
		rcore_record_end(&shown);
	rcore_left_out_print(&record.left_out);
	err = rcore_record_finish(&record, target, err, ret_status);
	rcore_recording_writer_free(record.writer);
	rcore_output_close(&record.output);
	if (record.fd >= 0)
		close(record.fd);
	rcore_profile_free(record.profile);
	rcore_kernel_symbols_free(record.kernel);
	rcore_arena_deinit(&record.names);
	free(record.outputs.items);
	return err;
}

const struct rcore_command rcore_cli_record = {
	.name = "record",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_FILES,
	.summary = "sample the stacks of a running program",
	.doc = "Read the stack of each thread and fiber many times a second, and what each "
	       "waits for, without stopping the program. A FILE that ends in .rec keeps all "
	       "samples for rcore report; without -o, print for which methods of the "
	       "application the time was spent, and the methods with the most time of their "
	       "own.",
	.options = rcore_record_options,
	.size = sizeof(struct rcore_record_arguments),
	.defaults = &rcore_record_defaults,
	.rest = "COMMAND",
	.rest_offset = offsetof(struct rcore_record_arguments, command),
	.shell_examples =
		(const char *const[]){
			"rcore record -p 4242 -o slow.folded",
			"rcore record --ebpf -p 4242 -o busy.svg",
			"rcore record --ebpf --native -p 4242 -o busy.svg",
			"rcore record --off-cpu -p 4242 -o blocked.svg",
			"rcore record --off-cpu --native --kernel -p 4242 -o blocked.svg",
			"rcore record -e syscalls:write -p 4242 --by label:request_id",
			"rcore record -e uprobe:libssl.so.3:SSL_write -p 4242 -o tls.svg",
			"rcore record --children -o load.rec -- bundle exec puma",
			"rcore record --system -d 60 -o machine.pb.gz",
			"rcore record -p puma -d 10 --by label:path", NULL},
	.exit_status =
		"Exit status: 0 all outputs were written; 2 an output was not written, "
		"and a line says where the samples are; 3 not a Ruby process; 64 wrong usage.",
	.run_in_shell = run_in_shell,
};
