/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/core_paths.h"
#include "cli/deployment.h"
#include "cli/jobs.h"
#include "cli/list.h"
#include "cli/screen.h"
#include "cli/target.h"
#include "report/result.h"
#include "session/heap/heap.h"
#include "target/output/output.h"

enum { STATUS_POLICY = 4, STATUS_LIMIT = 124 };
/* A line must remain short enough for next_line(). */
enum { MOST_CLASSES = 100 };

struct arguments {
	struct rcore_strings cores;
	const char *baseline, *output;
	bool json, all;
	int fail_on;
	size_t seconds, megabytes, at_once, classes;
	struct rcore_cli_deployment deployment;
};

struct results {
	struct rcore_result *items;
	size_t count, capacity;
};

struct triage {
	const struct arguments *asked;
	const struct rcore_cli_target *target;
	struct rcore_core_paths cores;
	struct rcore_arena arena;
	struct results results, baseline;
	struct rcore_inputs inputs;
	size_t done;
};

enum { FAIL_ON_NOTHING, FAIL_ON_NEW };
static const char *const failures[] = {
	[FAIL_ON_NOTHING] = "nothing", [FAIL_ON_NEW] = "new", NULL};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"baseline", 0, RCORE_OPTION_TEXT, MEMBER(baseline), "FILE",
	 "Compare with FILE, the results of an earlier run (from --json or -o): crashes that "
	 "are not in FILE are new, crashes that are only in FILE are gone",
	 .completion = RCORE_COMPLETE_FILE},
	{"fail-on", 0, RCORE_OPTION_CHOICE, MEMBER(fail_on), "WHAT",
	 "new: exit with status 4 if there is a new crash; nothing: the default", failures,
	 .completion = RCORE_COMPLETE_NOTHING},
	{"json", 'j', RCORE_OPTION_FLAG, MEMBER(json),
	 .help = "Print one JSON object per core, one per line"},
	{"output", 'o', RCORE_OPTION_TEXT, MEMBER(output), "FILE",
	 "Also write these lines to FILE, for the next --baseline",
	 .completion = RCORE_COMPLETE_FILE},
	{"all", 'a', RCORE_OPTION_FLAG, MEMBER(all), .help = "List every core of each group"},
	RCORE_OPTIONS_OF_DEPLOYMENT(MEMBER(deployment)),
	{"heap", 0, RCORE_OPTION_AMOUNT, MEMBER(classes), "N",
	 "Also count the objects of each core's heap, and add their number, their bytes and "
	 "the N largest classes to its line. Takes about 0.2 s for every million objects",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"jobs", 'J', RCORE_OPTION_AMOUNT, MEMBER(at_once), "N",
	 "Analyze N cores at a time (the number of processors)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"time-limit", 0, RCORE_OPTION_TIME, MEMBER(seconds), "TIME",
	 "Give up on a core after TIME: seconds, or 90s, 5m or 1h (120)",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"memory-limit", 0, RCORE_OPTION_AMOUNT, MEMBER(megabytes), "MIB",
	 "Limit rcore's own memory for each core (2048), not counting the core itself",
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static const char out_of_memory[] = "out of memory; allow more with --memory-limit";

static int status_of(const struct rcore_error *err)
{
	return err->code == RCORE_ERROR_NOT_RUBY    ? 3
	       : err->code == RCORE_ERROR_NO_MEMORY ? STATUS_LIMIT
						    : 2;
}

/* If the objects cannot be read, sets result->heap.problem to why. */
static struct rcore_error *add_heap(const struct triage *triage, struct rcore_session *session,
				    struct rcore_arena *arena, struct rcore_result *result)
{
	struct rcore_heap_census *census;
	struct rcore_error *err = rcore_heap_census(session, &census);
	if (!err)
		return rcore_result_add_heap(census, triage->asked->classes, arena, result);
	if (err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	result->heap.problem = rcore_arena_strdup(arena, err->message);
	rcore_error_free(err);
	return result->heap.problem ? NULL : rcore_error_no_memory();
}

static int analyze(size_t index, int fd, void *context)
{
	const struct triage *triage = context;
	struct rcore_cli_target target = *triage->target;
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *failure = NULL;
	struct rcore_arena arena = {0};
	struct rcore_result result;
	FILE *out = fdopen(fd, "w");
	target.core = triage->cores.items[index];
	struct rcore_error *err = rcore_cli_target_open(&target, &session);
	if (!err)
		err = rcore_load_partial(session, &snapshot, &failure);
	if (!err)
		err = failure;
	int status = err                      ? status_of(err)
		     : snapshot->lacks_memory ? STATUS_LIMIT
		     : snapshot->incomplete   ? 1
					      : 0;
	const char *message = err                      ? err->message
			      : snapshot->lacks_memory ? out_of_memory
						       : NULL;
	struct rcore_error *other =
		rcore_result_make(target.core, status, snapshot, message, &arena, &result);
	if (!other && !err && triage->asked->classes)
		other = add_heap(triage, session, &arena, &result);
	if (other)
		result = (struct rcore_result){.core = target.core,
					       .status = status_of(other),
					       .error = other->message};
	if (!out)
		return STATUS_LIMIT;
	struct rcore_error *unwritten = rcore_result_write(&result, out);
	if (unwritten)
		return status_of(unwritten);
	return fclose(out) ? 2 : status;
}

/* Returns the result for a child that could not report one. */
static struct rcore_result failed(const struct triage *triage, size_t index, int status,
				  struct rcore_arena *arena)
{
	struct rcore_result result = {.core = triage->cores.items[index], .status = 2};
	char name[RCORE_SIGNAL_SIZE];
	if (status == -SIGXCPU) {
		result.status = STATUS_LIMIT;
		result.error = rcore_arena_printf(
			arena, "not finished after %zu second%s; allow more with --time-limit",
			triage->asked->seconds, rcore_plural(triage->asked->seconds));
	} else if (status == STATUS_LIMIT) {
		result.status = STATUS_LIMIT;
		result.error = out_of_memory;
	} else if (status < 0) {
		result.error = rcore_arena_printf(
			arena, "%s ended rcore while it read this core; please report this bug",
			rcore_signal_name(-status, name));
	} else {
		result.error = "the analysis ended without a result";
	}
	return result;
}

/*
 * Shows "rcore: [#####-----] 34 of 100 cores", and removes it once all are
 * done.
 */
static void show_progress(const struct triage *triage)
{
	static const char full[] = "##############################";
	static const char empty[] = "------------------------------";
	int width = sizeof(full) - 1,
	    done = (int)(triage->done * (size_t)width / triage->cores.count);
	if (!isatty(STDERR_FILENO))
		return;
	fputs("\r\033[K", stderr);
	if (triage->done < triage->cores.count)
		fprintf(stderr, "rcore: [%.*s%.*s] %zu of %zu core%s", done, full, width - done,
			empty, triage->done, triage->cores.count,
			rcore_plural(triage->cores.count));
}

static void take(size_t index, char *text, int status, void *context)
{
	struct triage *triage = context;
	struct rcore_result *result = &triage->results.items[index];
	struct rcore_error *err = text ? rcore_result_parse(text, &triage->arena, result)
				       : rcore_error_no_memory();
	if (err)
		*result = failed(triage, index, status, &triage->arena);
	/*
	 * The parent does this, because a child that failed may have no memory
	 * for it.
	 */
	if (result->error)
		rcore_result_date(&triage->arena, result);
	rcore_cli_deployment_apply(&triage->asked->deployment, result);
	rcore_error_free(err);
	free(text);
	triage->done++;
	show_progress(triage);
}

static struct rcore_error *analyze_all(struct triage *triage)
{
	const struct rcore_jobs jobs = {
		.count = triage->cores.count,
		.at_once = triage->asked->at_once,
		.seconds = (unsigned)triage->asked->seconds,
		.megabytes = triage->asked->megabytes,
		.run = analyze,
		.done = take,
		.context = triage,
	};
	triage->results.items = rcore_calloc(jobs.count, sizeof(struct rcore_result));
	if (!triage->results.items)
		return rcore_error_no_memory();
	triage->results.count = jobs.count;
	return rcore_jobs_run(&jobs);
}

/*
 * Reads the next line of a baseline. Returns false at its end. Error: rcore did
 * not write the line.
 */
static bool next_line(FILE *in, char *line, size_t size, struct rcore_error **err)
{
	if (!fgets(line, (int)size, in)) {
		if (ferror(in))
			*err = rcore_error_os(errno, "cannot read it");
		return false;
	}
	size_t length = strlen(line);
	if (length && (line[length - 1] == '\n' || feof(in)))
		return true;
	*err = rcore_error_create(RCORE_ERROR_FORMAT,
				  "the line is longer than %zu bytes, or contains a NUL byte; "
				  "name a file that rcore triage -o wrote",
				  size - 2);
	return false;
}

/*
 * A pipe that a shell passes as /dev/fd/N has a writer, but rcore would wait
 * for that of a FIFO.
 */
static struct rcore_error *open_baseline(const char *path, FILE **ret)
{
	struct rcore_error *err = NULL;
	struct stat status;
	struct statfs system;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) || fstatfs(fd, &system))
		err = rcore_error_os(errno, "cannot open it");
	else if (S_ISFIFO(status.st_mode) && system.f_type != PIPEFS_MAGIC)
		err = rcore_error_create(
			RCORE_ERROR_USAGE,
			"it is a FIFO; name a file that rcore triage -o wrote");
	else if (fcntl(fd, F_SETFL, 0) || !(*ret = fdopen(fd, "r")))
		err = rcore_error_os(errno, "cannot open it");
	if (err && fd >= 0)
		close(fd);
	return err;
}

static struct rcore_error *read_baseline(struct triage *triage)
{
	enum { LINE = 1 << 20 };
	char escaped[128], *line = malloc(LINE);
	size_t number = 1;
	struct rcore_error *err = line ? NULL : rcore_error_no_memory();
	rcore_escape(escaped, sizeof(escaped), triage->asked->baseline);
	FILE *in = NULL;
	if (!err)
		err = open_baseline(triage->asked->baseline, &in);
	for (; !err && next_line(in, line, LINE, &err); number++) {
		if (!line[strspn(line, " \t\r\n")])
			continue;
		struct rcore_result *result = rcore_push(&triage->baseline);
		err = result ? rcore_result_parse(line, &triage->arena, result)
			     : rcore_error_no_memory();
		if (err)
			break;
	}
	free(line);
	if (in)
		fclose(in);
	return rcore_error_wrap(err, "the baseline %s, line %zu", escaped, number);
}

static struct rcore_error *write_lines(FILE *out, const void *context)
{
	const struct triage *triage = context;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < triage->results.count && !err; i++)
		err = rcore_result_write(&triage->results.items[i], out);
	return err;
}

static struct rcore_error *find_inputs(struct triage *triage)
{
	struct rcore_inputs *inputs = &triage->inputs;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < triage->cores.count && !err; i++)
		err = rcore_inputs_add(inputs, triage->cores.items[i], "one of the cores");
	if (!err)
		err = rcore_inputs_add(inputs, triage->asked->baseline, "the baseline");
	if (!err)
		err = rcore_inputs_add(inputs, triage->target->options.layout_file,
				       "the layout table");
	return err;
}

/* Checks the output before any work is done. */
static struct rcore_error *check_output(struct triage *triage)
{
	struct rcore_destination place;
	struct rcore_error *err = find_inputs(triage);
	return !err && triage->asked->output
		       ? rcore_destination_find(triage->asked->output, &triage->inputs, &place)
		       : err;
}

static int overall(const struct triage *triage, const struct rcore_clusters *clusters)
{
	size_t undecoded = 0;
	int status = 0;
	for (size_t i = 0; triage->asked->fail_on == FAIL_ON_NEW && i < clusters->count; i++)
		if (clusters->items[i].novelty == RCORE_NOVELTY_NEW)
			return STATUS_POLICY;
	for (size_t i = 0; i < triage->results.count; i++) {
		int one = triage->results.items[i].status;
		undecoded += one > 1;
		if (one == STATUS_LIMIT || (one && !status))
			status = one == STATUS_LIMIT ? one : 1;
	}
	return undecoded == triage->results.count && status != STATUS_LIMIT ? 2 : status;
}

/* Prints to the screen or the pager, as other commands do. */
static struct rcore_error *show(const struct rcore_clusters *clusters,
				const struct rcore_report_options *report)
{
	const struct rcore_screen_style style = {.is_text = true, .keep_paths = report->all};
	struct rcore_screen screen;
	rcore_screen_begin(&screen);
	struct rcore_error *err = rcore_report_clusters(clusters, report, screen.out);
	struct rcore_error *other = rcore_screen_end(&screen, &style);
	if (!err)
		return other;
	rcore_error_free(other);
	return err;
}

static struct rcore_error *run(struct triage *triage, int *ret_status)
{
	/* an empty baseline is valid */
	static const struct rcore_result nothing;
	const struct rcore_result *baseline = NULL;
	struct rcore_clusters clusters;
	struct rcore_error *err =
		rcore_core_paths_expand(&triage->asked->cores, &triage->cores);
	if (!err)
		err = check_output(triage);
	if (!err && triage->asked->baseline)
		err = read_baseline(triage);
	if (triage->asked->baseline)
		baseline = triage->baseline.count ? triage->baseline.items : &nothing;
	if (!err)
		err = analyze_all(triage);
	if (!err)
		err = rcore_cluster_make(triage->results.items, triage->results.count, baseline,
					 triage->baseline.count, &triage->arena, &clusters);
	if (!err && triage->asked->output)
		err = rcore_output_write(triage->asked->output, RCORE_OUTPUT_REPORT,
					 &triage->inputs, write_lines, triage);
	if (err)
		return err;
	const struct rcore_report_options report = {.all = triage->asked->all,
						    .color = triage->target->color};
	*ret_status = overall(triage, &clusters);
	const char *output = triage->asked->output;
	bool is_stdout = output && rcore_destination_is_stdout(output);
	if (triage->asked->json)
		return is_stdout ? NULL : write_lines(stdout, triage);
	return is_stdout ? rcore_report_clusters(&clusters, &report, stderr)
			 : show(&clusters, &report);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	struct triage triage = {.asked = given, .target = target};
	if (!triage.asked->cores.count)
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"missing CORE; name core files, or a folder of core files");
	struct rcore_error *err = NULL;
	if (triage.asked->classes > MOST_CLASSES)
		err = rcore_error_create(RCORE_ERROR_USAGE,
					 "option '--heap' accepts at most %d classes",
					 MOST_CLASSES);
	if (!err)
		err = run(&triage, ret_status);
	for (size_t i = 0; i < triage.cores.count; i++)
		free(triage.cores.items[i]);
	free(triage.cores.items);
	free(triage.results.items);
	free(triage.baseline.items);
	rcore_inputs_deinit(&triage.inputs);
	rcore_arena_deinit(&triage.arena);
	return err;
}

static const struct arguments defaults = {.seconds = 120, .megabytes = 2048};

const struct rcore_command rcore_cli_triage = {
	.name = "triage",
	.topic = RCORE_TOPIC_CORES,
	.input = RCORE_INPUT_FILES,
	.summary = "group many cores by crash and report which crashes are new",
	.doc = "Analyze many cores and group them by the signature of their crash. For each "
	       "group, print the cause, the frame to blame and whether the crash is new.",
	.options = options,
	.size = sizeof(struct arguments),
	.defaults = &defaults,
	.words = "DIR|CORE...",
	.operands_offset = MEMBER(cores),
	.completion = RCORE_COMPLETE_FILE,
	.shell_examples =
		(const char *const[]){
			"rcore triage /var/crash",
			"rcore triage cores/ -o today.jsonl --baseline yesterday.jsonl "
			"--fail-on new",
			"rcore triage --json --service shop --release 1.4.2 core.* >> "
			"crashes.jsonl",
			"rcore triage --json --heap 20 core.1234 | jq .heap_classes",
			"rcore triage --json core.* | jq -r .loose | sort | uniq -c", NULL},
	.exit_status = "Exit status: 0 every core was decoded; 1 some were not decoded "
		       "completely; 2 none was decoded; 4 --fail-on found a new crash; 64 "
		       "wrong usage; 124 a core exceeded its limit of time or memory.",
	.run_in_shell = run_in_shell,
};
