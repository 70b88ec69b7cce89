/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/list.h"
#include "cli/start.h"
#include "cli/profile/record_summary.h"
#include "cli/profile/top_screen.h"
#include "cli/target.h"
#include "sampler/sampling.h"
#include "target/output/output.h"

struct rcore_top_arguments {
	int pid;
	bool children;
	size_t rate;
	int mode; /* enum rcore_top_mode */
	struct rcore_strings command;
};

static const char *const modes[] = {[RCORE_TOP_CPU] = "cpu", [RCORE_TOP_WALL] = "wall", NULL};

#define MEMBER(name) offsetof(struct rcore_top_arguments, name)

static const struct rcore_option options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME", "Sample a running process",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"rate", 'r', RCORE_OPTION_AMOUNT, MEMBER(rate), "HZ",
	 "Samples per second of each thread (99)", .completion = RCORE_COMPLETE_NOTHING},
	{"children", 0, RCORE_OPTION_FLAG, MEMBER(children),
	 .help = "Also sample its descendants", .adds_descendants = true},
	{"mode", 0, RCORE_OPTION_CHOICE, MEMBER(mode), "MODE",
	 "cpu (the default): time on a processor; wall: all time, including waiting", modes,
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

static struct rcore_error *each_second(struct rcore_sampling *sampling, bool is_last,
				       void *context)
{
	struct rcore_top *top = context;
	rcore_sampling_summary(sampling, &top->summary);
	const struct rcore_sampler *first = rcore_sampling_at(sampling, 0);
	if (first) {
		top->pid = rcore_sampler_pid(first);
		snprintf(top->ruby, sizeof(top->ruby), "%s", rcore_sampler_ruby(first));
	}
	if (!rcore_top_add_samples(top))
		return rcore_error_no_memory();
	if (!is_last)
		rcore_top_draw(top);
	rcore_top_forget(top);
	return NULL;
}

static struct rcore_error *check(const struct rcore_top_arguments *asked)
{
	if (!asked->pid == !asked->command.count)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "name a process with -p PID or a command after --%s",
					  asked->pid ? ", not both" : "");
	if (asked->rate > RCORE_SAMPLER_RATE_MAX)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "a rate can be at most %d samples per second",
					  RCORE_SAMPLER_RATE_MAX);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "rcore top needs a terminal; rcore record prints a "
					  "table without one");
	return NULL;
}

static struct rcore_error *watch(struct rcore_cli_target *target, struct rcore_top *top,
				 int pid, uint64_t began)
{
	const struct rcore_top_arguments *asked = top->asked;
	const struct rcore_sampling_options sampling = {
		.pid = pid,
		.began = began,
		.children = asked->children,
		.rate = (double)asked->rate,
		.open = &target->options,
		.sampler = {.fiber_rate = RCORE_SAMPLER_FIBER_RATE,
			    .fiber_share = RCORE_SAMPLER_FIBER_SHARE,
			    .redact = target->options.redact},
		.stop = rcore_start_interrupted(),
		.each_second = each_second,
		.sleep = rcore_top_sleep,
		.context = top,
	};
	if (!rcore_top_open_screen(top))
		return rcore_error_os(errno, "cannot set the terminal");
	rcore_top_draw(top);
	struct rcore_error *err = rcore_sampling_run(&sampling, top->profile);
	rcore_top_close_screen(top);
	return err;
}

/*
 * What the program prints would garble the screen, so it goes to a file. Output
 * that the user has redirected is left alone.
 */
static struct rcore_error *start(struct rcore_top *top, struct rcore_started *started)
{
	int log = rcore_temporary_create("rcore-top", top->log);
	if (log < 0) {
		int errnum = errno;
		char escaped[256];
		top->log[0] = '\0';
		return rcore_error_os(
			errnum, "cannot write the output of the program to %s",
			rcore_escape(escaped, sizeof(escaped), rcore_temporary_folder()));
	}
	struct rcore_error *err = rcore_start(&top->asked->command, log, started);
	close(log);
	return err;
}

/* Ctrl-C also reaches the program, which may need a moment to end. */
static void wait_for_program(const struct rcore_top *top, struct rcore_started *started)
{
	enum { IF_INTERRUPTED = 300, IF_ENDED = 2000 }; /* ms */
	rcore_start_wait(started, top->summary.has_ended       ? IF_ENDED
				  : *rcore_start_interrupted() ? IF_INTERRUPTED
							       : 0);
}

/* Prints what became of the process or the program, if anything did. */
static void say_end(const struct rcore_top *top, const struct rcore_started *started)
{
	char *text = NULL;
	size_t size;
	FILE *out = rcore_open_text(&text, &size);
	const struct rcore_record_summary shown = {.summary = &top->summary,
						   .started = started->pid ? started : NULL};
	if (!out)
		return;
	rcore_record_write_end(&shown, out);
	if (started->has_ended && !fflush(out) && !size)
		fputs("; the program ended with exit status 0", out);
	if (!fclose(out) && size)
		fprintf(stderr, "rcore: %s\n", text + strlen("; "));
	free(text);
}

/* Names the file with the program's output, or removes it if it is empty. */
static void say_log(const struct rcore_top *top, const struct rcore_started *started)
{
	struct stat status;
	if (!top->log[0] || lstat(top->log, &status))
		return;
	if (!status.st_size && (!started->pid || started->has_ended)) {
		unlink(top->log);
		return;
	}
	fputs("rcore: the output of the program is in ", stderr);
	rcore_shell_write(stderr, top->log);
	putc('\n', stderr);
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct rcore_top_arguments *asked = given;
	struct rcore_top top = {.asked = asked,
				.mode = (enum rcore_top_mode)asked->mode,
				.color = target->color};
	struct rcore_started started = {0};
	struct rcore_error *err = check(asked);
	if (!err && !(top.profile = rcore_profile_new()))
		err = rcore_error_no_memory();
	if (!err && asked->command.count)
		err = start(&top, &started);
	rcore_start_watch();
	if (!err)
		err = watch(target, &top, asked->pid ? asked->pid : started.pid, started.began);
	wait_for_program(&top, &started);
	*ret_status = err ? rcore_cli_fail(err) : 0;
	if (!err || started.pid)
		say_end(&top, &started);
	say_log(&top, &started);
	rcore_profile_free(top.profile);
	free(top.methods.items);
	free(top.threads.items);
	free(top.processes.items);
	return NULL;
}

static const struct rcore_top_arguments defaults = {.rate = RCORE_SAMPLER_RATE};

const struct rcore_command rcore_cli_top = {
	.name = "top",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_FILES,
	.summary = "watch the methods and threads of a running program",
	.doc = "Show in which methods a running program spends its time, and what its threads "
	       "do, updated every second. The program is never stopped. Methods are sorted by "
	       "the time that they spent themselves; the keys s, t and a sort by self time, "
	       "by total time, and by the time of the innermost method of the application. "
	       "The key m switches between cpu and wall time, and q quits. What COMMAND prints "
	       "goes to a file in TMPDIR, unless it is redirected.",
	.options = options,
	.size = sizeof(struct rcore_top_arguments),
	.defaults = &defaults,
	.rest = "COMMAND",
	.rest_offset = MEMBER(command),
	.shell_examples =
		(const char *const[]){"rcore top -p 4242",
				      "rcore top --mode wall -- ruby server.rb", NULL},
	.exit_status = "Exit status: 0 complete; 2 the program could not be watched; 3 not a "
		       "Ruby process; 64 "
		       "wrong usage.",
	.run_in_shell = run_in_shell,
};
