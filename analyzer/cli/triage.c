/* SPDX-License-Identifier: MIT */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/target.h"
#include "report/result.h"
#include "target/spool.h"

enum {
	KEY_BASELINE = 0x500,
	KEY_FAIL_ON,
	KEY_TIME_LIMIT,
	KEY_MEMORY_LIMIT,
	STATUS_POLICY = 4,
	STATUS_LIMIT = 124,
};

struct paths {
	char **items;
	size_t count, capacity;
};

struct results {
	struct rcore_result *items;
	size_t count, capacity;
};

struct triage {
	struct rcore_cli_target target;
	struct paths cores;
	const char *baseline_file, *output;
	bool json, all, fail_on_new;
	unsigned seconds;
	size_t megabytes, at_once;
	struct rcore_arena arena;
	struct results results, baseline;
	size_t done;
};

static const struct argp_option options[] = {
	{"baseline", KEY_BASELINE, "FILE", 0,
	 "Results of an earlier run (of --json or -o): what is not in them is new, what is "
	 "only in "
	 "them is gone",
	 0},
	{"fail-on", KEY_FAIL_ON, "WHAT", 0, "new: exit status 4 if there is a new crash", 0},
	{"json", 'j', NULL, 0, "One JSON object for each core, a line each", 0},
	{"output", 'o', "FILE", 0, "Write these lines to FILE too: the next baseline", 0},
	{"all", 'a', NULL, 0, "List each core of each group", 0},
	{"jobs", 'J', "N", 0, "Cores analyzed at once (the number of processors)", 0},
	{"time-limit", KEY_TIME_LIMIT, "SECONDS", 0, "For each core (120)", 0},
	{"memory-limit", KEY_MEMORY_LIMIT, "MIB", 0,
	 "Of rcore's own memory, for each core (2048); the core itself is not counted", 0},
	{0},
};

static size_t parse_number(const struct argp_state *state, const char *name, const char *text)
{
	char *end;
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);
	if (!number || *end || errno || text[0] == '-' || number > 1 << 30)
		argp_error(state, "--%s takes a number, not '%s'", name, text);
	return number;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct triage *triage = state->input;
	char **path;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &triage->target;
		return 0;
	case KEY_BASELINE:
		triage->baseline_file = argument;
		return 0;
	case KEY_FAIL_ON:
		if (strcmp(argument, "new") != 0)
			argp_error(state, "--fail-on is new, not '%s'", argument);
		triage->fail_on_new = true;
		return 0;
	case 'j':
		triage->json = true;
		return 0;
	case 'o':
		triage->output = argument;
		return 0;
	case 'a':
		triage->all = true;
		return 0;
	case 'J':
		triage->at_once = parse_number(state, "jobs", argument);
		return 0;
	case KEY_TIME_LIMIT:
		triage->seconds = (unsigned)parse_number(state, "time-limit", argument);
		return 0;
	case KEY_MEMORY_LIMIT:
		triage->megabytes = parse_number(state, "memory-limit", argument);
		return 0;
	case ARGP_KEY_ARG:
		path = rcore_push(&triage->cores);
		if (!path || !(*path = strdup(argument)))
			argp_failure(state, 2, 0, "out of memory");
		return 0;
	case ARGP_KEY_END:
		if (!triage->cores.count)
			argp_error(state, "which cores? (or a folder of them)");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{&rcore_cli_files_argp, 0, "Where the files of the cores are, and looks:", 0},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "DIR|CORE...",
	.doc = "Analyze many cores at once, and group them by the signature of their crash: "
	       "one "
	       "line of cause and blame for each different crash, and whether it is new.\v"
	       "Examples:\n\n"
	       "  rcore triage /var/crash\n"
	       "  rcore triage cores/ -o today.jsonl --baseline yesterday.jsonl --fail-on new\n"
	       "  rcore triage --json core.* | jq -r .loose | sort | uniq -c\n\n"
	       "Exit status: 0 every core was decoded; 1 some not, or not whole; 2 none was; 4 "
	       "--fail-on found something; 64 wrong usage; 124 a core was given up at its "
	       "limit of "
	       "time or memory.",
	.children = children,
};

/* By its first bytes a core file, or a compressed file with the name of one. */
static bool may_be_core(const char *path)
{
	unsigned char head[sizeof(Elf64_Ehdr)];
	struct stat status;
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof(head));
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	const char *name = strrchr(path, '/');
	return (rcore_compression_of(head, (size_t)got) && strstr(name, "core")) ||
	       ((size_t)got == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
		head[offsetof(Elf64_Ehdr, e_type)] == ET_CORE);
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static struct rcore_error *add_folder(const char *folder, struct paths *cores)
{
	struct dirent **entries;
	char escaped[128];
	rcore_escape(escaped, sizeof(escaped), folder);
	int count = scandir(folder, &entries, is_visible, alphasort);
	if (count < 0)
		return rcore_error_os(errno, "%s", escaped);
	struct rcore_error *err = NULL;
	size_t before = cores->count;
	for (int i = 0; i < count; i++) {
		char *path = NULL, **slot;
		if (!err && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			err = rcore_error_no_memory();
		if (!err && may_be_core(path)) {
			slot = rcore_push(cores);
			if (slot) {
				*slot = path;
				path = NULL;
			} else {
				err = rcore_error_no_memory();
			}
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!err && cores->count == before)
		err = rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: holds no core files; name the folder that has them", escaped);
	return err;
}

/* Folders become the cores in them. */
static struct rcore_error *expand(struct paths *paths)
{
	struct paths cores = {0};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < paths->count; i++) {
		struct stat status;
		char *path = paths->items[i], **slot;
		if (!err && !stat(path, &status) && S_ISDIR(status.st_mode)) {
			err = add_folder(path, &cores);
			free(path);
		} else if (!err && (slot = rcore_push(&cores))) {
			*slot = path;
		} else {
			err = err ? err : rcore_error_no_memory();
			free(path);
		}
	}
	free(paths->items);
	*paths = cores;
	return err;
}

static int status_of(const struct rcore_error *err)
{
	return err->code == RCORE_ERROR_NOT_RUBY    ? 3
	       : err->code == RCORE_ERROR_NO_MEMORY ? STATUS_LIMIT
						    : 2;
}

static int analyze(size_t index, int fd, void *context)
{
	const struct triage *triage = context;
	struct rcore_cli_target target = triage->target;
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *failure = NULL;
	FILE *out = fdopen(fd, "w");
	target.core = triage->cores.items[index];
	struct rcore_error *err = rcore_cli_target_open(&target, &session);
	if (!err)
		err = rcore_load_partial(session, &snapshot, &failure);
	if (!err)
		err = failure;
	int status = err ? status_of(err) : snapshot->incomplete ? 1 : 0;
	const struct rcore_result result =
		rcore_result_of(target.core, status, snapshot, err ? err->message : NULL);
	return out && !rcore_result_write(&result, out) && !fclose(out) ? status : 2;
}

/* What a child could not say itself. */
static struct rcore_result failed(const struct triage *triage, size_t index, int status,
				  struct rcore_arena *arena)
{
	struct rcore_result result = {.core = triage->cores.items[index], .status = 2};
	char name[RCORE_SIGNAL_SIZE];
	if (status == -SIGXCPU) {
		result.status = STATUS_LIMIT;
		result.error = rcore_arena_printf(
			arena, "given up after %u seconds (see --time-limit)", triage->seconds);
	} else if (status < 0) {
		result.error = rcore_arena_printf(
			arena, "rcore itself was ended by %s on this core: please report it",
			rcore_signal_name(-status, name));
	} else {
		result.error = "the analysis said nothing";
	}
	return result;
}

/* "rcore: [#####-----] 34 of 100 cores", and nothing of it once all are done. */
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
		fprintf(stderr, "rcore: [%.*s%.*s] %zu of %zu cores", done, full, width - done,
			empty, triage->done, triage->cores.count);
}

static void take(size_t index, char *text, int status, void *context)
{
	struct triage *triage = context;
	struct rcore_result *result = &triage->results.items[index];
	struct rcore_error *err = text ? rcore_result_parse(text, &triage->arena, result)
				       : rcore_error_no_memory();
	if (err)
		*result = failed(triage, index, status, &triage->arena);
	rcore_error_free(err);
	free(text);
	triage->done++;
	show_progress(triage);
}

static struct rcore_error *analyze_all(struct triage *triage)
{
	const struct rcore_jobs jobs = {
		.count = triage->cores.count,
		.at_once = triage->at_once,
		.seconds = triage->seconds,
		.megabytes = triage->megabytes,
		.run = analyze,
		.done = take,
		.context = triage,
	};
	triage->results.items = calloc(jobs.count + 1, sizeof(struct rcore_result));
	if (!triage->results.items)
		return rcore_error_no_memory();
	triage->results.count = jobs.count;
	return rcore_jobs_run(&jobs);
}

static struct rcore_error *read_baseline(struct triage *triage)
{
	char escaped[128], *line = NULL;
	size_t room = 0, number = 0;
	struct rcore_error *err = NULL;
	rcore_escape(escaped, sizeof(escaped), triage->baseline_file);
	FILE *in = fopen(triage->baseline_file, "re");
	if (!in)
		return rcore_error_os(errno, "the baseline %s", escaped);
	while (!err && getline(&line, &room, in) > 0) {
		number++;
		if (!line[strspn(line, " \t\r\n")])
			continue;
		struct rcore_result *result = rcore_push(&triage->baseline);
		err = result ? rcore_result_parse(line, &triage->arena, result)
			     : rcore_error_no_memory();
		err = rcore_error_wrap(err, "the baseline %s, line %zu", escaped, number);
	}
	free(line);
	fclose(in);
	return err;
}

static struct rcore_error *write_lines(const struct triage *triage, FILE *out)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < triage->results.count && !err; i++)
		err = rcore_result_write(&triage->results.items[i], out);
	return err;
}

static struct rcore_error *write_file(const struct triage *triage)
{
	char escaped[128];
	rcore_escape(escaped, sizeof(escaped), triage->output);
	FILE *out = fopen(triage->output, "we");
	if (!out)
		return rcore_error_os(errno, "cannot write %s", escaped);
	struct rcore_error *err = write_lines(triage, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write %s", escaped);
	return err;
}

static int overall(const struct triage *triage, const struct rcore_clusters *clusters)
{
	size_t undecoded = 0;
	int status = 0;
	for (size_t i = 0; triage->fail_on_new && i < clusters->count; i++)
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

static struct rcore_error *run(struct triage *triage, int *ret_status)
{
	static const struct rcore_result nothing; /* an empty baseline is one */
	const struct rcore_result *baseline = NULL;
	struct rcore_clusters clusters;
	struct rcore_error *err = expand(&triage->cores);
	if (!err && triage->baseline_file)
		err = read_baseline(triage);
	if (triage->baseline_file)
		baseline = triage->baseline.count ? triage->baseline.items : &nothing;
	if (!err)
		err = analyze_all(triage);
	if (!err)
		err = rcore_cluster_make(triage->results.items, triage->results.count, baseline,
					 triage->baseline.count, &triage->arena, &clusters);
	if (!err && triage->output)
		err = write_file(triage);
	if (err)
		return err;
	const struct rcore_report_options report = {.all = triage->all,
						    .color = triage->target.color};
	*ret_status = overall(triage, &clusters);
	return triage->json ? write_lines(triage, stdout)
			    : rcore_report_clusters(&clusters, &report, stdout);
}

int rcore_cli_triage(int argc, char **argv)
{
	struct triage triage = {.seconds = 120, .megabytes = 2048};
	int status = 0;
	argp_parse(&argp, argc, argv, 0, NULL, &triage);
	struct rcore_error *err = run(&triage, &status);
	for (size_t i = 0; i < triage.cores.count; i++)
		free(triage.cores.items[i]);
	free(triage.cores.items);
	free(triage.results.items);
	free(triage.baseline.items);
	rcore_arena_deinit(&triage.arena);
	rcore_cli_target_deinit(&triage.target);
	return err ? rcore_cli_fail(err) : status;
}
