/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/grow.h"
#include "cli/list.h"
#include "cli/start.h"
#include "cli/profile/top_screen.h"
#include "cli/target.h"
#include "profile/tree.h"
#include "report/profile/application.h"
#include "sampler/sampling.h"

enum { SECOND = 1000000000 };

struct rcore_top_arguments {
	int pid;
	bool children;
	size_t rate;
	int mode; /* an index of rcore_top_modes */
	struct rcore_strings command;
};

enum { MODE_CPU, MODE_WALL };
static const char *const modes[] = {[MODE_CPU] = "cpu", [MODE_WALL] = "wall", NULL};

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

static bool open_screen(struct rcore_top *top)
{
	struct termios raw;
	if (tcgetattr(STDIN_FILENO, &top->before))
		return false;
	raw = top->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		return false;
	top->is_open = true;
	fputs(RCORE_SCREEN_ENTER, stdout);
	return fflush(stdout) == 0;
}

static void close_screen(struct rcore_top *top)
{
	if (!top->is_open)
		return;
	top->is_open = false;
	fputs(RCORE_SCREEN_LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &top->before);
}

/* The next second replaces the oldest one. */
static void turn(struct rcore_top *top)
{
	top->seconds++;
	top->slot = (top->slot + 1) % RCORE_TOP_WINDOW;
	for (size_t i = 0; i < top->methods.count; i++)
		for (size_t j = 0; j < RCORE_TOP_ORDERS; j++)
			top->methods.items[i].times[j][top->slot] = 0;
	for (size_t i = 0; i < top->threads.count; i++)
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			top->threads.items[i].states[j][top->slot] = 0;
}

static bool reserve(struct rcore_top *top)
{
	while (top->methods.count < top->profile->functions.count)
		if (!rcore_push(&top->methods))
			return false;
	while (top->threads.count < top->profile->threads.count)
		if (!rcore_push(&top->threads))
			return false;
	return true;
}

/* `owners` is that of rcore_application_owners(). */
static void add_sample(struct rcore_top *top, const struct rcore_profile_sample *sample,
		       const uint32_t *owners)
{
	const struct rcore_profile *profile = top->profile;
	uint64_t time = top->is_wall ? sample->wall : sample->cpu;
	uint32_t state = rcore_profile_state_at(profile, sample->state)->kind;
	bool is_innermost = true;
	top->samples++;
	if (state != RCORE_SAMPLE_PARKED && state < RCORE_SAMPLE_STATES)
		top->threads.items[sample->thread].states[state][top->slot] += sample->wall;
	if (owners[sample->node])
		top->methods.items[owners[sample->node]].times[RCORE_TOP_OWN][top->slot] +=
			time;
	for (uint32_t node = sample->node; node;
	     node = rcore_profile_node_at(profile, node)->parent) {
		uint32_t frame = rcore_profile_node_at(profile, node)->frame;
		struct rcore_top_method *method =
			&top->methods.items[rcore_profile_frame_at(profile, frame)->function];
		if (is_innermost)
			method->times[RCORE_TOP_SELF][top->slot] += time;
		is_innermost = false;
		if (method->seen != top->samples)
			method->times[RCORE_TOP_TOTAL][top->slot] += time;
		method->seen = top->samples;
	}
}

static bool add_samples(struct rcore_top *top)
{
	struct rcore_profile *profile = top->profile;
	turn(top);
	uint32_t *owners = rcore_application_owners(profile);
	if (!owners || !reserve(top)) {
		free(owners);
		return false;
	}
	for (size_t i = 0; i < profile->samples.count; i++)
		add_sample(top, &profile->samples.items[i], owners);
	free(owners);
	return true;
}

/* Once it is drawn, a screen does not need the tables. */
static void forget(struct rcore_top *top)
{
	top->profile->samples.count = 0;
	if (rcore_profile_memory(top->profile) < RCORE_PROFILE_MEMORY_MAX)
		return;
	rcore_profile_clear(top->profile);
	top->methods.count = top->threads.count = 0;
}

static struct rcore_error *each_second(struct rcore_sampling *sampling, bool is_last,
				       void *context)
{
	struct rcore_top *top = context;
	rcore_sampling_summary(sampling, &top->summary);
	if (!add_samples(top))
		return rcore_error_no_memory();
	if (!is_last)
		rcore_top_draw(top, sampling);
	forget(top);
	return NULL;
}

/* By enum rcore_top_order. */
static const char order_keys[] = "sta";

static bool each_tick(void *context)
{
	struct rcore_top *top = context;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char keys[16];
	if (poll(&input, 1, 0) <= 0)
		return true;
	ssize_t count = read(STDIN_FILENO, keys, sizeof(keys));
	if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
		return false; /* the terminal is gone */
	for (ssize_t i = 0; i < count; i++) {
		top->wants_end |= keys[i] == 'q';
		const char *order = keys[i] ? strchr(order_keys, keys[i]) : NULL;
		if (order)
			top->order = (enum rcore_top_order)(order - order_keys);
		if (keys[i] == 'm') {
			top->is_wall = !top->is_wall;
			for (size_t j = 0; j < top->methods.count; j++)
				top->methods.items[j] = (struct rcore_top_method){0};
		}
	}
	return !top->wants_end;
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
				 int pid)
{
	const struct rcore_top_arguments *asked = top->asked;
	const struct rcore_sampling_options sampling = {
		.pid = pid,
		.is_new = asked->command.count,
		.children = asked->children,
		.rate = (double)asked->rate,
		.open = &target->options,
		.sampler = {.fiber_rate = RCORE_SAMPLER_FIBER_RATE,
			    .fiber_share = RCORE_SAMPLER_FIBER_SHARE,
			    .redact = target->options.redact},
		.stop = rcore_start_interrupted(),
		.each_second = each_second,
		.each_tick = each_tick,
		.context = top,
	};
	if (!open_screen(top))
		return rcore_error_os(errno, "cannot set the terminal");
	struct rcore_error *err = rcore_sampling_run(&sampling, top->profile);
	close_screen(top);
	return err;
}

static struct rcore_error *run_in_shell(struct rcore_cli_target *target, void *given,
					int *ret_status)
{
	const struct rcore_top_arguments *asked = given;
	struct rcore_top top = {
		.asked = asked, .is_wall = asked->mode == MODE_WALL, .color = target->color};
	struct rcore_started started = {0};
	struct rcore_error *err = check(asked);
	if (!err && !(top.profile = rcore_profile_new()))
		err = rcore_error_no_memory();
	if (!err && asked->command.count)
		err = rcore_start(&asked->command, &started);
	rcore_start_watch();
	if (!err)
		err = watch(target, &top, asked->pid ? asked->pid : started.pid);
	if (started.pid)
		rcore_start_wait(&started, 0);
	rcore_profile_free(top.profile);
	free(top.methods.items);
	free(top.threads.items);
	*ret_status = 0;
	return err;
}

static const struct rcore_top_arguments defaults = {.rate = RCORE_SAMPLER_RATE};

const struct rcore_command rcore_cli_top = {
	.name = "top",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_FILES,
	.summary = "watch the methods and threads of a running program",
	.doc = "Show in which methods a running program spends its time, and what its threads "
	       "do, updated every second. The program is never stopped.",
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
