/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "cli/list.h"
#include "cli/start.h"
#include "cli/target.h"
#include "profile/tree.h"
#include "sampler/sampling.h"

/*
 * These seven control sequences, which every terminal since the VT100 knows,
 * are enough to draw the screen, so ncurses is not needed. It would add its own
 * handling of signals and of the terminal's state to a loop that must keep its
 * rate. It also needs a database of terminals, which containers often lack.
 */
#define SCREEN_ENTER "\033[?1049h\033[?25l"
#define SCREEN_LEAVE "\033[?25h\033[?1049l"
#define SCREEN_HOME  "\033[H"
#define LINE_END     "\033[K\r\n"
#define SCREEN_END   "\033[K\033[J"
#define BOLD         "\033[1m"
#define PLAIN        "\033[0m"

enum { WINDOW = 5 /* seconds */, ROWS = 24, COLUMNS = 80, SECOND = 1000000000 };

struct arguments {
	int pid;
	bool children;
	size_t rate;
	int mode; /* an index of rcore_top_modes */
	struct rcore_strings command;
};

enum { MODE_CPU, MODE_WALL };
static const char *const modes[] = {[MODE_CPU] = "cpu", [MODE_WALL] = "wall", NULL};

#define MEMBER(name) offsetof(struct arguments, name)

static const struct rcore_option options[] = {
	{"pid", 'p', RCORE_OPTION_PID, MEMBER(pid), "PID|NAME", "Sample a running process",
	 .completion = RCORE_COMPLETE_NOTHING},
	{"rate", 'r', RCORE_OPTION_AMOUNT, MEMBER(rate), "HZ",
	 "Samples per second of each thread (99)", .completion = RCORE_COMPLETE_NOTHING},
	{"children", 0, RCORE_OPTION_FLAG, MEMBER(children),
	 .help = "Also sample its descendants"},
	{"mode", 0, RCORE_OPTION_CHOICE, MEMBER(mode), "MODE",
	 "cpu (the default): time on a processor; wall: all time, including waiting", modes,
	 .completion = RCORE_COMPLETE_NOTHING},
	{0},
};

/* Nanoseconds in one second of the window. */
struct method {
	uint64_t self[WINDOW], total[WINDOW];
	uint64_t seen; /* the last sample that was added to `total` */
};

struct thread {
	uint64_t states[RCORE_SAMPLE_STATES][WINDOW];
};

struct top {
	const struct arguments *asked;
	struct rcore_profile *profile;
	uint32_t generation;
	struct {
		struct method *items;
		size_t count, capacity;
	} methods; /* by function number */
	struct {
		struct thread *items;
		size_t count, capacity;
	} threads;
	size_t slot, seconds;
	uint64_t samples;
	bool by_total, is_wall, wants_end, color;
	struct termios before;
	bool is_open;
	struct rcore_sampling_summary summary;
};

static bool open_screen(struct top *top)
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
	fputs(SCREEN_ENTER, stdout);
	return fflush(stdout) == 0;
}

static void close_screen(struct top *top)
{
	if (!top->is_open)
		return;
	top->is_open = false;
	fputs(SCREEN_LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &top->before);
}

static uint64_t sum(const uint64_t *window)
{
	uint64_t all = 0;
	for (size_t i = 0; i < WINDOW; i++)
		all += window[i];
	return all;
}

/* The next second replaces the oldest one. */
static void turn(struct top *top)
{
	top->seconds++;
	top->slot = (top->slot + 1) % WINDOW;
	for (size_t i = 0; i < top->methods.count; i++)
		top->methods.items[i].self[top->slot] = top->methods.items[i].total[top->slot] =
			0;
	for (size_t i = 0; i < top->threads.count; i++)
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			top->threads.items[i].states[j][top->slot] = 0;
}

static bool reserve(struct top *top)
{
	while (top->methods.count < top->profile->functions.count)
		if (!rcore_push(&top->methods))
			return false;
	while (top->threads.count < top->profile->threads.count)
		if (!rcore_push(&top->threads))
			return false;
	return true;
}

static void add_sample(struct top *top, const struct rcore_profile_sample *sample)
{
	const struct rcore_profile *profile = top->profile;
	uint64_t time = top->is_wall ? sample->wall : sample->cpu;
	uint32_t state = rcore_profile_state_at(profile, sample->state)->kind;
	bool is_innermost = true;
	top->samples++;
	if (state != RCORE_SAMPLE_PARKED && state < RCORE_SAMPLE_STATES)
		top->threads.items[sample->thread].states[state][top->slot] += sample->wall;
	for (uint32_t node = sample->node; node;
	     node = rcore_profile_node_at(profile, node)->parent) {
		uint32_t frame = rcore_profile_node_at(profile, node)->frame;
		struct method *method =
			&top->methods.items[rcore_profile_frame_at(profile, frame)->function];
		if (is_innermost)
			method->self[top->slot] += time;
		is_innermost = false;
		if (method->seen != top->samples)
			method->total[top->slot] += time;
		method->seen = top->samples;
	}
}

static bool add_samples(struct top *top)
{
	struct rcore_profile *profile = top->profile;
	turn(top);
	if (!reserve(top))
		return false;
	for (size_t i = 0; i < profile->samples.count; i++)
		add_sample(top, &profile->samples.items[i]);
	return true;
}

/* Once it is drawn, a screen does not need the tables. */
static void forget(struct top *top)
{
	top->profile->samples.count = 0;
	if (rcore_profile_memory(top->profile) < RCORE_PROFILE_MEMORY_MAX)
		return;
	rcore_profile_clear(top->profile);
	top->methods.count = top->threads.count = 0;
}

struct row {
	uint32_t number;
	uint64_t order;
};

static int by_order(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->order != b->order)
		return a->order < b->order ? 1 : -1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Writes at most `width` columns of a line, without cutting a character. */
static void put_line(FILE *out, const char *line, size_t width)
{
	size_t column = 0, i = 0;
	for (; line[i]; i++)
		if (((unsigned char)line[i] & 0xc0) != 0x80 && column++ == width)
			break;
	fwrite(line, 1, i, out);
	fputs(LINE_END, out);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void draw_threads(struct top *top, FILE *out, size_t rows, size_t width)
{
	char line[1024], name[256];
	struct row *order = rcore_calloc(top->threads.count, sizeof(*order));
	size_t count = 0;
	for (size_t i = 1; order && i < top->threads.count; i++) {
		uint64_t all = 0;
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			all += sum(top->threads.items[i].states[j]);
		if (all)
			order[count++] = (struct row){
				(uint32_t)i,
				sum(top->threads.items[i].states[RCORE_SAMPLE_RUNNING]) +
					sum(top->threads.items[i].states[RCORE_SAMPLE_GC])};
	}
	if (order)
		qsort(order, count, sizeof(*order), by_order);
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct thread *thread = &top->threads.items[order[i].number];
		const struct rcore_profile_thread *record =
			rcore_profile_thread_at(top->profile, order[i].number);
		uint64_t all = 0;
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			all += sum(thread->states[j]);
		rcore_escape(name, sizeof(name),
			     rcore_profile_text(top->profile, record->name));
		snprintf(line, sizeof(line), "%7u %-6s %6.1f %6.1f %6.1f %8.1f  %s",
			 record->tid, rcore_profile_text(top->profile, record->id),
			 share(sum(thread->states[RCORE_SAMPLE_RUNNING]), all),
			 share(sum(thread->states[RCORE_SAMPLE_GC]), all),
			 share(sum(thread->states[RCORE_SAMPLE_GVL]), all),
			 share(sum(thread->states[RCORE_SAMPLE_BLOCKED]), all), name);
		put_line(out, line, width);
	}
	free(order);
}

static void draw_methods(struct top *top, FILE *out, size_t rows, size_t width)
{
	char line[2048], label[1024], path[512];
	struct row *order = rcore_calloc(top->methods.count, sizeof(*order));
	uint64_t all = 0;
	size_t count = 0;
	for (size_t i = 0; order && i < top->methods.count; i++) {
		const struct method *method = &top->methods.items[i];
		all += sum(method->self);
		uint64_t value = sum(top->by_total ? method->total : method->self);
		if (value)
			order[count++] = (struct row){(uint32_t)i, value};
	}
	if (order)
		qsort(order, count, sizeof(*order), by_order);
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct method *method = &top->methods.items[order[i].number];
		const struct rcore_profile_function *function =
			rcore_profile_function_at(top->profile, order[i].number);
		rcore_escape(label, sizeof(label),
			     rcore_profile_text(top->profile, function->label));
		rcore_escape(path, sizeof(path),
			     rcore_profile_text(top->profile, function->path));
		snprintf(line, sizeof(line), "%6.1f %6.1f  %s  %s%s%.0u",
			 share(sum(method->self), all), share(sum(method->total), all), label,
			 path, function->first_line ? ":" : "", function->first_line);
		put_line(out, line, width);
	}
	free(order);
}

static void heading(const struct top *top, FILE *out, const char *line, size_t width)
{
	if (top->color)
		fputs(BOLD, out);
	put_line(out, line, width);
	if (top->color)
		fputs(PLAIN, out);
}

static void draw(struct top *top, struct rcore_sampling *sampling)
{
	struct winsize size = {0};
	char line[256], *screen = NULL;
	size_t length;
	const struct rcore_sampling_summary *summary = &top->summary;
	const struct rcore_sampler *first = rcore_sampling_at(sampling, 0);
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	size_t rows = size.ws_row ? size.ws_row : ROWS,
	       width = size.ws_col ? size.ws_col : COLUMNS;
	FILE *out = open_memstream(&screen, &length);
	if (!out)
		return;
	fputs(SCREEN_HOME, out);
	snprintf(line, sizeof(line),
		 "rcore top: pid %d, Ruby %s, %llu threads, %llu fibers; %.0f samples per "
		 "second, rcore uses %.1f %% of a processor",
		 first ? rcore_sampler_pid(first) : 0, first ? rcore_sampler_ruby(first) : "?",
		 (unsigned long long)summary->total.threads,
		 (unsigned long long)summary->total.fibers, summary->achieved,
		 summary->seconds > 0 ? 100 * summary->cpu_seconds / summary->seconds : 0);
	put_line(out, line, width);
	snprintf(line, sizeof(line),
		 "the last %d s, %s time, by %s; s: by self, t: by total, m: cpu or wall, q: "
		 "quit",
		 WINDOW, top->is_wall ? "wall" : "cpu", top->by_total ? "total" : "self");
	put_line(out, line, width);
	/* Threads get a third of the rest. */
	size_t left = rows > 6 ? rows - 6 : 0, threads = left / 3;
	size_t shown = top->threads.count > 1 ? top->threads.count - 1 : 0;
	if (shown < threads)
		threads = shown;
	heading(top, out, "    TID THREAD RUN %   GC %  GVL % BLOCKED %  NAME", width);
	draw_threads(top, out, threads, width);
	heading(top, out, "SELF % TOTAL %  METHOD", width);
	draw_methods(top, out, left - threads, width);
	fputs(SCREEN_END, out);
	if (!fclose(out)) {
		fwrite(screen, 1, length, stdout);
		fflush(stdout);
	}
	free(screen);
}

static struct rcore_error *each_second(struct rcore_sampling *sampling, bool is_last,
				       void *context)
{
	struct top *top = context;
	rcore_sampling_summary(sampling, &top->summary);
	if (!add_samples(top))
		return rcore_error_no_memory();
	if (!is_last)
		draw(top, sampling);
	forget(top);
	return NULL;
}

static bool each_tick(void *context)
{
	struct top *top = context;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char keys[16];
	if (poll(&input, 1, 0) <= 0)
		return true;
	ssize_t count = read(STDIN_FILENO, keys, sizeof(keys));
	if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
		return false; /* the terminal is gone */
	for (ssize_t i = 0; i < count; i++) {
		top->wants_end |= keys[i] == 'q';
		if (keys[i] == 's' || keys[i] == 't')
			top->by_total = keys[i] == 't';
		if (keys[i] == 'm') {
			top->is_wall = !top->is_wall;
			for (size_t j = 0; j < top->methods.count; j++)
				top->methods.items[j] = (struct method){0};
		}
	}
	return !top->wants_end;
}

static struct rcore_error *check(const struct arguments *asked)
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

static struct rcore_error *watch(struct rcore_cli_target *target, struct top *top, int pid)
{
	const struct arguments *asked = top->asked;
	const struct rcore_sampling_options sampling = {
		.pid = pid,
		.is_new = asked->command.count,
		.children = asked->children,
		.rate = (double)asked->rate,
		.open = &target->options,
		.sampler = {.fiber_rate = RCORE_SAMPLER_FIBER_RATE,
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
	const struct arguments *asked = given;
	struct top top = {
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
		rcore_start_leave(&started);
	rcore_profile_free(top.profile);
	free(top.methods.items);
	free(top.threads.items);
	*ret_status = 0;
	return err;
}

static const struct arguments defaults = {.rate = RCORE_SAMPLER_RATE};

const struct rcore_command rcore_cli_top = {
	.name = "top",
	.topic = RCORE_TOPIC_TIME,
	.input = RCORE_INPUT_FILES,
	.summary = "watch the methods and threads of a running program",
	.doc = "Show in which methods a running program spends its time, and what its threads "
	       "do, "
	       "anew each second. The program is never stopped.",
	.options = options,
	.size = sizeof(struct arguments),
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
