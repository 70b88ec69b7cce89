/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/list.h"
#include "cli/start.h"
#include "cli/target.h"
#include "cli/profile_screen.h"
#include "cli/record_summary.h"
#include "profile/format.h"
#include "profile/recording_writer.h"
#include "sampler/kernel_symbols.h"
#include "sampler/sampling.h"
#include "sampler/system_calls.h"
#include "target/output/output.h"

/* In the order of ebpf_names. */
enum ebpf { EBPF_NO, EBPF_AUTO, EBPF_REQUIRE };

static const char *const ebpf_names[] = {"no", "auto", "require", NULL};

struct arguments {
	int pid, ebpf;
	bool children, native, kernel, off_cpu;
	struct rcore_strings events;
	size_t rate, fiber_rate, seconds;
	struct rcore_strings labels, command;
	const char *recognizers;
	struct rcore_profile_arguments profile;
};

static const struct arguments defaults = {
	.fiber_rate = RCORE_SAMPLER_FIBER_RATE,
};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME", "Sample a running process",
	 .completion = RCORE_COMPLETE_NOTHING},
	RCORE_PROFILE_OPTIONS(struct arguments, profile),
	{"duration", 'd', RCORE_OPTION_AMOUNT, MEMBER(seconds), "SECONDS",
	 "Stop after SECONDS; by default, when the program ends or at Ctrl-C",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"rate", 'r', RCORE_OPTION_AMOUNT, MEMBER(rate), "HZ",
	 "Samples per second of each thread (99; with --native and without --ebpf 10)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"fiber-rate", 0, RCORE_OPTION_AMOUNT, MEMBER(fiber_rate), "HZ",
	 "Samples per second of each fiber that no thread runs (10)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"children", 0, RCORE_OPTION_FLAG, MEMBER(children),
	 .help = "Also sample its descendants"},
	{"native", 0, RCORE_OPTION_FLAG, MEMBER(native),
	 .help = "Add native frames: stops the program briefly for each sample, but not with "
		 "--ebpf, --off-cpu or --event"},
	{"ebpf", 0, RCORE_OPTION_CHOICE, MEMBER(ebpf), "WHEN",
	 "Copy stacks in the kernel, and only of threads that run on a processor. auto (if "
	 "WHEN is left out): if this is impossible, say why and sample without BPF; require: "
	 "fail instead; no: the default",
	 ebpf_names, .completion = RCORE_COMPLETE_NOTHING, .implied = "auto"},
	{"kernel", 0, RCORE_OPTION_FLAG, MEMBER(kernel),
	 .help = "Add the kernel's frames; with --ebpf or --off-cpu"},
	{"off-cpu", 0, RCORE_OPTION_FLAG, MEMBER(off_cpu),
	 .help = "Instead of sampling, record each time that a thread leaves its processor: "
		 "where, and for how long. Needs BPF, like --ebpf"},
	{"event", 'e', RCORE_OPTION_LIST, MEMBER(events), "syscalls:NAME,...",
	 "Instead of sampling, record each of these system calls when it returns: where, and "
	 "how many bytes it moved. Can be repeated. Needs BPF, like --ebpf",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"label", 0, RCORE_OPTION_LIST, MEMBER(labels), "KEY",
	 "Keep only labels named KEY: a key of a fiber's context, or a field of what it works "
	 "on, such as request_id. Can be repeated",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"recognizers", 0, RCORE_OPTION_TEXT, MEMBER(recognizers), "FILE",
	 "Also find what fibers work on with the entries of FILE (see docs/recognizers.md)",
	 .completion = RCORE_COMPLETE_FILE},
	{0},
};

/* Returns whether each event is recorded, so that there is no rate. */
static bool is_of_events(const struct arguments *asked)
{
	return asked->off_cpu || asked->events.count;
}

/* Without BPF, native frames need a stop, which takes a millisecond or more. */
static size_t rate_of(const struct arguments *asked, bool has_bpf)
{
	if (asked->rate)
		return asked->rate;
	return asked->native && !has_bpf ? RCORE_SAMPLER_NATIVE_RATE : RCORE_SAMPLER_RATE;
}

/* The output to which samples are written while they are taken. */
struct record {
	const struct arguments *asked;
	/* The path of the recording, or NULL if it is not kept. */
	const char *path;
	struct rcore_strings outputs; /* the other outputs */
	struct rcore_profile *profile;
	struct rcore_output output;
	int fd;
	struct rcore_recording_writer *writer;
	struct rcore_bpf_options how;
	struct rcore_bpf *bpf;               /* NULL: not used */
	struct rcore_kernel_symbols *kernel; /* NULL: not used */
	bool shows_progress, has_facts, is_kept, has_warned;
	bool is_copied;     /* `bpf` was opened */
	const char *engine; /* the fact as last written; NULL: not yet */
	struct rcore_sampling_summary summary;
};

static struct rcore_error *state_facts(struct record *record, struct rcore_sampling *sampling)
{
	char text[64];
	struct rcore_sampler *first = rcore_sampling_at(sampling, 0);
	struct rcore_error *err = NULL;
	if (record->has_facts || !first)
		return NULL;
	record->has_facts = true;
	snprintf(text, sizeof(text), "%d", rcore_sampler_pid(first));
	err = rcore_recording_writer_fact(record->writer, "pid", text);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "ruby",
						  rcore_sampler_ruby(first));
	return err;
}

/*
 * Writes how the samples were taken, if that has changed: a process may have
 * started that cannot be sampled with BPF.
 */
static struct rcore_error *state_engine(struct record *record)
{
	const struct rcore_sampling_summary *summary = &record->summary;
	const char *engine = "process_vm_readv, without stopping";
	if (!summary->processes)
		return NULL;
	if (record->asked->off_cpu)
		engine = "BPF, in the kernel, at each switch of threads";
	else if (record->asked->events.count)
		engine = "BPF, in the kernel, at the end of each system call";
	else if (summary->copied && summary->copied == summary->processes)
		engine = "BPF, in the kernel, running threads only";
	else if (summary->copied)
		engine = record->asked->native
				 ? "BPF, in the kernel, running threads only; for some "
				   "processes ptrace, stopped at each sample"
				 : "BPF, in the kernel, running threads only; for some "
				   "processes process_vm_readv, without stopping";
	else if (record->asked->native)
		engine = "ptrace, stopped at each sample";
	if (engine == record->engine)
		return NULL;
	record->engine = engine;
	return rcore_recording_writer_fact(record->writer, "engine", engine);
}

/* "syscalls:read,write" */
static struct rcore_error *state_calls(struct record *record)
{
	const struct rcore_strings *events = &record->asked->events;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return rcore_error_no_memory();
	for (size_t i = 0; i < events->count; i++)
		fprintf(out, "%s%s", i ? "," : RCORE_EVENT_CALLS,
			events->items[i] + strlen(RCORE_EVENT_CALLS));
	struct rcore_error *err =
		fclose(out) ? rcore_error_no_memory()
			    : rcore_recording_writer_fact(record->writer, "event", text);
	free(text);
	return err;
}

static struct rcore_error *state_start(struct record *record)
{
	char text[64];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(text, sizeof(text), "%lld.%09ld", (long long)now.tv_sec, now.tv_nsec);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "started", text);
	if (!err && record->asked->off_cpu)
		return rcore_recording_writer_fact(record->writer, "event",
						   RCORE_EVENT_OFF_CPU);
	if (!err && record->asked->events.count)
		return state_calls(record);
	snprintf(text, sizeof(text), "%zu", rate_of(record->asked, record->is_copied));
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "rate", text);
	return err;
}

static struct rcore_error *state_end(struct record *record)
{
	char text[64];
	const struct rcore_sampling_summary *summary = &record->summary;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)summary->total.samples);
	struct rcore_error *err = rcore_recording_writer_fact(record->writer, "samples", text);
	if (is_of_events(record->asked))
		return err;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)summary->total.rejected);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "rejected", text);
	snprintf(text, sizeof(text), "%.1f", summary->achieved);
	if (!err)
		err = rcore_recording_writer_fact(record->writer, "achieved", text);
	return err;
}

/* If no event happened, that is a result, too. */
static bool has_result(const struct record *record)
{
	return record->summary.total.samples ||
	       (is_of_events(record->asked) && record->summary.processes);
}

/* Replaces nothing until there is something to replace it with. */
static struct rcore_error *keep(struct record *record)
{
	if (!record->path || record->is_kept || !has_result(record))
		return NULL;
	record->is_kept = true;
	return rcore_output_keep(&record->output);
}

/* Warns once if labels were asked for that the BPF program does not find. */
static void warn_of_missing_labels(struct record *record)
{
	if (record->has_warned || !record->summary.lacks_work)
		return;
	record->has_warned = true;
	fputs("rcore: with --ebpf, labels come only from contexts; to label what threads work "
	      "on (docs/recognizers.md), record without --ebpf\n",
	      stderr);
}

static struct rcore_record_summary shown_of(const struct record *record)
{
	return (struct rcore_record_summary){.summary = &record->summary,
					     .rate = rate_of(record->asked, record->is_copied),
					     .is_terminal = record->shows_progress,
					     .is_off_cpu = record->asked->off_cpu,
					     .is_calls = record->asked->events.count,
					     .is_native = record->asked->native};
}

static struct rcore_error *each_second(struct rcore_sampling *sampling, bool is_last,
				       void *context)
{
	struct record *record = context;
	const struct rcore_record_summary shown = shown_of(record);
	rcore_sampling_summary(sampling, &record->summary);
	warn_of_missing_labels(record);
	struct rcore_error *err = state_facts(record, sampling);
	if (!err)
		err = state_engine(record);
	if (!err && is_last)
		err = state_end(record);
	if (!err)
		err = is_last ? rcore_recording_writer_end(record->writer, record->profile)
			      : rcore_recording_writer_flush(record->writer, record->profile);
	if (!err)
		err = keep(record);
	if (record->shows_progress && !is_last)
		rcore_record_progress(&shown);
	return err;
}

/* Opens a file that is written as long as samples are taken. */
static struct rcore_error *open_named(struct record *record)
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

static struct rcore_error *open_recording(struct record *record)
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
	return err ? err : rcore_recording_writer_new(record->fd, &record->writer);
}

static bool is_recording(const char *path)
{
	static const char ending[] = ".rec";
	size_t length = strlen(path);
	return length >= strlen(ending) && !strcmp(path + length - strlen(ending), ending);
}

/* Finds which output is the recording, and which are made from it. */
static struct rcore_error *sort_outputs(struct record *record)
{
	const struct rcore_strings *outputs = &record->asked->profile.outputs;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < outputs->count; i++) {
		if (!is_recording(outputs->items[i]))
			err = rcore_strings_add(&record->outputs, outputs->items[i]);
		else if (!record->path)
			record->path = outputs->items[i];
		else
			err = rcore_error_create(RCORE_ERROR_USAGE,
						 "only one output can be a recording (.rec)");
	}
	return err;
}

/* Adds the numbers of the system calls of an --event. */
static struct rcore_error *add_calls(const char *event, struct rcore_bpf_options *how)
{
	char name[64], escaped[128];
	const char *at = event;
	if (strncmp(at, RCORE_EVENT_CALLS, strlen(RCORE_EVENT_CALLS)) != 0)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"option '--event' does not accept '%s': " RCORE_EVENT_CALLS
			"NAME, with the name of a system call",
			rcore_escape(escaped, sizeof(escaped), event));
	at += strlen(RCORE_EVENT_CALLS) - 1;
	do {
		size_t length = strcspn(++at, ",");
		snprintf(name, sizeof(name), "%.*s", (int)length, at);
		int number = rcore_system_call_number(name);
		if (number < 0 || number >= RCORE_BPF_CALLS)
			return rcore_error_create(RCORE_ERROR_USAGE,
						  "option '--event': no system call '%s'",
						  rcore_escape(escaped, sizeof(escaped), name));
		how->calls[number / 8] |= (uint8_t)(1 << number % 8);
		if (rcore_system_call_returns_twice(number))
			how->starters[number / 8] |= (uint8_t)(1 << number % 8);
		at += length;
	} while (*at);
	return NULL;
}

/* Options of sampling cannot be used with events. */
static struct rcore_error *check_events(const struct arguments *asked)
{
	const char *name = asked->off_cpu ? "off-cpu" : "event";
	struct rcore_bpf_options how = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < asked->events.count && !err; i++)
		err = add_calls(asked->events.items[i], &how);
	if (err)
		return err;
	const char *other = asked->off_cpu && asked->events.count      ? "event"
			    : asked->rate                              ? "rate"
			    : asked->fiber_rate != defaults.fiber_rate ? "fiber-rate"
								       : NULL;
	if (!is_of_events(asked))
		return asked->profile.mode == RCORE_MODE_BYTES
			       ? rcore_error_create(RCORE_ERROR_USAGE,
						    "'--mode bytes' needs '--event'")
			       : NULL;
	if (other)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "options '--%s' and '--%s' exclude each other", name,
					  other);
	if (asked->profile.mode == RCORE_MODE_CPU)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--%s' records no time on a processor: leave out "
					  "'--mode cpu'",
					  name);
	if (asked->profile.mode == RCORE_MODE_BYTES && asked->off_cpu)
		return rcore_error_create(RCORE_ERROR_USAGE, "'--mode bytes' needs '--event'");
	return NULL;
}

static struct rcore_error *check_kernel(const struct arguments *asked)
{
	if (asked->kernel && asked->events.count)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"options '--event' and '--kernel' exclude each other: when a system "
			"call returns, the kernel's functions that it called have returned");
	if (asked->kernel && !asked->ebpf && !asked->off_cpu)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "'--kernel' needs '--ebpf' or '--off-cpu'");
	return NULL;
}

static struct rcore_error *check(const struct arguments *asked)
{
	struct rcore_error *err;
	if (!asked->pid == !asked->command.count)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "name a process with -p PID or a command after --%s",
					  asked->pid ? ", not both" : "");
	err = check_events(asked);
	if (!err)
		err = check_kernel(asked);
	if (err)
		return err;
	if (asked->rate > RCORE_SAMPLER_RATE_MAX || asked->fiber_rate > RCORE_SAMPLER_RATE_MAX)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "a rate can be at most %d samples per second",
					  RCORE_SAMPLER_RATE_MAX);
	return NULL;
}

/* Writes the outputs that are made from the samples. */
static struct rcore_error *report(struct record *record, bool only_check,
				  const struct rcore_cli_target *target, bool *ret_partial)
{
	struct rcore_profile_arguments arguments = record->asked->profile;
	char temporary[64];
	snprintf(temporary, sizeof(temporary), "/proc/self/fd/%d", record->fd);
	arguments.outputs = record->outputs;
	const struct rcore_profile_request request = {
		.arguments = &arguments,
		.path = record->path ? record->path : temporary,
		.name = record->path ? NULL : "the samples",
		.redact = target->options.redact,
		.color = target->color,
	};
	if (only_check)
		return rcore_profile_check(&request, NULL);
	if (record->path && !record->outputs.count)
		return NULL;
	return rcore_profile_show(&request, NULL, ret_partial);
}

static void say_that_bpf_fails(const struct rcore_error *why)
{
	fprintf(stderr, "rcore: sampling without BPF: %s\n", why->message);
}

static void say_refused(int pid, const struct rcore_error *why, void *context)
{
	fprintf(stderr, "rcore: sampling process %d without BPF: %s\n", pid, why->message);
}

static struct rcore_error *open_bpf(struct record *record)
{
	enum ebpf asked = record->asked->ebpf;
	bool is_events = is_of_events(record->asked);
	struct rcore_error *err = NULL;
	record->how.event = record->asked->off_cpu        ? RCORE_BPF_EVENT_OFF_CPU
			    : record->asked->events.count ? RCORE_BPF_EVENT_CALLS
							  : RCORE_BPF_EVENT_CPU;
	record->how.rate = (double)rate_of(record->asked, true);
	record->how.native = record->asked->native;
	record->how.kernel = record->asked->kernel;
	if (asked == EBPF_NO && !is_events)
		return NULL;
	for (size_t i = 0; i < record->asked->events.count && !err; i++)
		err = add_calls(record->asked->events.items[i], &record->how);
	if (!err)
		err = rcore_bpf_engine.open(&record->how, &record->bpf);
	record->is_copied = !err;
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (is_events)
		return rcore_error_wrap(err, "--%s needs BPF",
					record->asked->off_cpu ? "off-cpu" : "event");
	if (asked == EBPF_REQUIRE)
		return rcore_error_wrap(err, "cannot sample with BPF");
	say_that_bpf_fails(err);
	rcore_error_free(err);
	return NULL;
}

/* Reads the names of the kernel's functions, if its frames will be copied. */
static struct rcore_error *read_kernel(struct record *record)
{
	if (!record->asked->kernel)
		return NULL;
	if (!record->bpf) {
		fputs("rcore: without BPF, frames of the kernel are missing\n", stderr);
		return NULL;
	}
	struct rcore_error *err = rcore_kernel_symbols_read("/proc/kallsyms", &record->kernel);
	if (!err && rcore_kernel_symbols_are_hidden(record->kernel))
		fputs("rcore: frames of the kernel have no names, because it hides its "
		      "addresses; "
		      "run rcore with CAP_SYSLOG, and `sysctl kernel.kptr_restrict=1` if that "
		      "is 2\n",
		      stderr);
	return err;
}

static struct rcore_error *sample(struct rcore_cli_target *target, struct record *record,
				  int pid, bool is_new)
{
	const struct arguments *asked = record->asked;
	struct rcore_options open = target->options;
	open.recognizer_file = asked->recognizers;
	const struct rcore_sampling_options sampling = {
		.pid = pid,
		.is_new = is_new,
		.children = asked->children,
		.rate = (double)rate_of(asked, record->is_copied),
		.stopped_rate = (double)rate_of(asked, false),
		.seconds = (double)asked->seconds,
		.open = &open,
		.sampler =
			{
				.fiber_rate = (double)asked->fiber_rate,
				.labels = asked->labels.items,
				.label_count = asked->labels.count,
				.where = asked->profile.where.items,
				.where_count = asked->profile.where.count,
				.by_label = rcore_profile_by_label(asked->profile.by),
				.redact = target->options.redact,
				.native = asked->native,
				.off_cpu = asked->off_cpu,
				.kernel = record->kernel,
				.is_single = getenv("RCORE_TEST_SINGLE_READ") != NULL,
			},
		.stop = rcore_start_interrupted(),
		.engine = &rcore_bpf_engine,
		.bpf = record->bpf,
		.refused =
			asked->ebpf == EBPF_REQUIRE || is_of_events(asked) ? NULL : say_refused,
		.each_second = each_second,
		.context = record,
	};
	struct rcore_error *err = open_recording(record);
	if (!err)
		err = state_start(record);
	return err ? err : rcore_sampling_run(&sampling, record->profile);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct arguments *asked = given;
	struct record record = {.asked = asked,
				.output = {.fd = -1, .through = -1},
				.fd = -1,
				.shows_progress = isatty(STDERR_FILENO)};
	struct rcore_started started = {0};
	bool is_partial = false;
	struct rcore_error *err = check(asked);
	if (!err)
		err = sort_outputs(&record);
	if (!err)
		err = report(&record, true, target, &is_partial);
	if (!err && !(record.profile = rcore_profile_new()))
		err = rcore_error_no_memory();
	if (!err)
		err = open_bpf(&record);
	if (!err)
		err = read_kernel(&record);
	if (!err && asked->command.count)
		err = rcore_start(&asked->command, &started);
	rcore_start_watch();
	if (!err)
		err = sample(target, &record, asked->pid ? asked->pid : started.pid,
			     asked->command.count);
	/* Unloads the BPF program before the report, which may take long. */
	rcore_bpf_engine.close(record.bpf);
	record.bpf = NULL;
	if (!err && record.summary.copied && !record.summary.total.samples &&
	    !is_of_events(asked))
		err = rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					 "no samples: no thread was on a processor in %.1f s; "
					 "record without --ebpf to sample threads that wait",
					 record.summary.seconds);
	const struct rcore_record_summary shown = shown_of(&record);
	if (has_result(&record))
		rcore_record_end(&shown);
	/*
	 * If something fails, the samples taken until then are still written.
	 */
	struct rcore_error *failure =
		has_result(&record) ? report(&record, false, target, &is_partial) : NULL;
	if (err)
		rcore_error_free(failure);
	else
		err = failure;
	if (started.pid)
		rcore_start_leave(&started);
	rcore_recording_writer_free(record.writer);
	rcore_output_close(&record.output);
	if (record.fd >= 0)
		close(record.fd);
	rcore_profile_free(record.profile);
	rcore_kernel_symbols_free(record.kernel);
	free(record.outputs.items);
	*ret_status = is_partial;
	return err;
}

const struct rcore_command rcore_cli_record = {
	.name = "record",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_FILES,
	.summary = "sample the stacks of a running program",
	.doc = "Read the stack of each thread and fiber many times a second, and what each "
	       "waits "
	       "for, without stopping the program. A FILE that ends in .rec keeps all samples "
	       "for "
	       "rcore report; without -o, print the methods with the most time of their own.",
	.options = options,
	.size = sizeof(struct arguments),
	.defaults = &defaults,
	.rest = "COMMAND",
	.rest_offset = MEMBER(command),
	.shell_examples =
		(const char *const[]){
			"rcore record -p 4242 -o slow.folded",
			"rcore record --ebpf -p 4242 -o busy.svg",
			"rcore record --ebpf --native -p 4242 -o busy.svg",
			"rcore record --off-cpu -p 4242 -o blocked.svg",
			"rcore record --off-cpu --native --kernel -p 4242 -o blocked.svg",
			"rcore record -e syscalls:write -p 4242 --by label:request_id",
			"rcore record --children -o load.rec -- bundle exec puma",
			"rcore record -p puma -d 10 --by label:path", NULL},
	.exit_status = "Exit status: 0 the samples were written; 2 they were not; 3 not a Ruby "
		       "process; 64 wrong usage.",
	.run_in_shell = run_in_shell,
};
