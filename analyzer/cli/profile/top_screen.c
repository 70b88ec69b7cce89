/* SPDX-License-Identifier: MIT */
#include "cli/profile/top_screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/profile/processes.h"

/* The rest of the control sequences. */
#define SCREEN_HOME "\033[H"
#define LINE_ERASE  "\033[K"
#define SCREEN_END  "\033[K\033[J"
#define BOLD        "\033[1m"
#define PLAIN       "\033[0m"

enum { ROWS = 24, COLUMNS = 80 };

static const struct {
	/* `others`: the keys of the other orders. */
	const char *name, *others, *heading;
} orders[] = {
	[RCORE_TOP_SELF] = {"self", "t: total, a: application", "SELF % TOTAL %  METHOD"},
	[RCORE_TOP_TOTAL] = {"total", "s: self, a: application", "SELF % TOTAL %  METHOD"},
	[RCORE_TOP_OWN] = {"application", "s: self, t: total",
			   "TIME %  INNERMOST METHOD OF THE APPLICATION"},
};

static uint64_t sum(const uint64_t *window)
{
	uint64_t all = 0;
	for (size_t i = 0; i < RCORE_TOP_WINDOW; i++)
		all += window[i];
	return all;
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

/*
 * Writes at most `width` columns of a line, without cutting a character. Erases
 * the old line first: after a line of full width, xterm's cursor is still on
 * the last character, and would erase that.
 */
static void put_line(FILE *out, const char *line, size_t width)
{
	size_t column = 0, i = 0;
	while (line[i]) {
		uint32_t character;
		size_t length = rcore_utf8_decode(line + i, &character);
		column += length ? rcore_character_width(character) : 1;
		if (column > width)
			break;
		i += length ? length : 1;
	}
	fputs(LINE_ERASE, out);
	fwrite(line, 1, i, out);
	fputs("\r\n", out);
}

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Whether a process did anything in the last seconds. */
static bool is_active(const struct rcore_top_process *process)
{
	return sum(process->cpu) || sum(process->threads);
}

static size_t active_processes(const struct rcore_top *top)
{
	size_t count = 0;
	for (size_t i = 1; i < top->processes.count; i++)
		count += is_active(&top->processes.items[i]);
	return count;
}

static void draw_process(const struct rcore_top *top, uint32_t number, FILE *out, size_t width)
{
	const struct rcore_top_process *process = &top->processes.items[number];
	char line[1024], title[512], role[RCORE_PROCESS_ROLE_SIZE];
	rcore_escape(title, sizeof(title), rcore_process_title_of(top->profile, number));
	rcore_process_role_of(top->profile, number, role);
	snprintf(line, sizeof(line), "%7u %6.1f %6.1f  %s%s%s",
		 rcore_profile_process_at(top->profile, number)->pid,
		 share(sum(process->cpu), sum(top->elapsed)),
		 share(sum(process->gvl), sum(process->threads)), role, role[0] ? "  " : "",
		 title);
	put_line(out, line, width);
}

static void draw_processes(const struct rcore_top *top, FILE *out, size_t rows, size_t width)
{
	struct row *order = rcore_calloc(top->processes.count, sizeof(*order));
	size_t count = 0;
	for (size_t i = 1; order && i < top->processes.count; i++)
		if (is_active(&top->processes.items[i]))
			order[count++] =
				(struct row){(uint32_t)i, sum(top->processes.items[i].cpu)};
	if (order)
		qsort(order, count, sizeof(*order), by_order);
	for (size_t i = 0; i < count && i < rows; i++)
		draw_process(top, order[i].number, out, width);
	free(order);
}

static void draw_threads(const struct rcore_top *top, FILE *out, size_t rows, size_t width,
			 bool has_pids)
{
	char line[1024], name[256], pid[16] = "";
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
		const struct rcore_top_thread *thread = &top->threads.items[order[i].number];
		const struct rcore_profile_thread *record =
			rcore_profile_thread_at(top->profile, order[i].number);
		uint64_t all = 0;
		for (size_t j = 0; j < RCORE_SAMPLE_STATES; j++)
			all += sum(thread->states[j]);
		rcore_escape(name, sizeof(name),
			     rcore_profile_text(top->profile, record->name));
		if (has_pids)
			snprintf(pid, sizeof(pid), "%7u ", record->pid);
		snprintf(line, sizeof(line), "%s%7u %-6s %6.1f %6.1f %6.1f %8.1f  %s", pid,
			 record->tid, rcore_profile_text(top->profile, record->id),
			 share(sum(thread->states[RCORE_SAMPLE_RUNNING]), all),
			 share(sum(thread->states[RCORE_SAMPLE_GC]), all),
			 share(sum(thread->states[RCORE_SAMPLE_GVL]), all),
			 share(sum(thread->states[RCORE_SAMPLE_BLOCKED]), all), name);
		put_line(out, line, width);
	}
	free(order);
}

static void draw_methods(const struct rcore_top *top, FILE *out, size_t rows, size_t width)
{
	char line[2048], label[1024], path[512];
	struct row *order = rcore_calloc(top->methods.count, sizeof(*order));
	uint64_t all = 0;
	size_t count = 0;
	for (size_t i = 0; order && i < top->methods.count; i++) {
		const struct rcore_top_method *method = &top->methods.items[i];
		all += sum(method->times[top->mode][RCORE_TOP_SELF]);
		uint64_t value = sum(method->times[top->mode][top->order]);
		if (value)
			order[count++] = (struct row){(uint32_t)i, value};
	}
	if (order)
		qsort(order, count, sizeof(*order), by_order);
	for (size_t i = 0; i < count && i < rows; i++) {
		const struct rcore_top_method *method = &top->methods.items[order[i].number];
		const struct rcore_profile_function *function =
			rcore_profile_function_at(top->profile, order[i].number);
		rcore_escape(label, sizeof(label),
			     rcore_profile_text(top->profile, function->label));
		rcore_escape(path, sizeof(path),
			     rcore_profile_text(top->profile, function->path));
		int at =
			top->order == RCORE_TOP_OWN
				? snprintf(line, sizeof(line), "%6.1f",
					   share(order[i].order, all))
				: snprintf(line, sizeof(line), "%6.1f %6.1f",
					   share(sum(method->times[top->mode][RCORE_TOP_SELF]),
						 all),
					   share(sum(method->times[top->mode][RCORE_TOP_TOTAL]),
						 all));
		snprintf(line + at, sizeof(line) - (size_t)at, "  %s  %s%s%.0u", label, path,
			 function->first_line ? ":" : "", function->first_line);
		put_line(out, line, width);
	}
	free(order);
}

static void heading(const struct rcore_top *top, FILE *out, const char *line, size_t width)
{
	if (top->color)
		fputs(BOLD, out);
	put_line(out, line, width);
	if (top->color)
		fputs(PLAIN, out);
}

static void draw_head(const struct rcore_top *top, FILE *out, size_t width)
{
	char line[640], log[512];
	const struct rcore_sampling_summary *summary = &top->summary;
	if (!top->seconds) {
		put_line(out, "rcore top: waiting for the first samples (q: quit)", width);
	} else {
		snprintf(line, sizeof(line),
			 "rcore top: pid %d, Ruby %s, %llu thread%s, %llu fiber%s; %.0f "
			 "samples per second, rcore uses %.1f %% of a processor",
			 top->pid, top->ruby, (unsigned long long)summary->total.threads,
			 rcore_plural(summary->total.threads),
			 (unsigned long long)summary->total.fibers,
			 rcore_plural(summary->total.fibers), summary->achieved,
			 summary->own_percent);
		put_line(out, line, width);
		/* At most 79 columns, so that each key is on every screen. */
		bool is_wall = top->mode == RCORE_TOP_WALL;
		snprintf(line, sizeof(line),
			 "the last %d s, %s time, by %s; %s, m: %s, q: quit", RCORE_TOP_WINDOW,
			 is_wall ? "wall" : "cpu", orders[top->order].name,
			 orders[top->order].others, is_wall ? "cpu" : "wall");
		put_line(out, line, width);
	}
	if (!top->log[0])
		return;
	snprintf(line, sizeof(line), "output of the program: %s",
		 rcore_escape(log, sizeof(log), top->log));
	put_line(out, line, width);
}

/* Processes get a quarter of the rows, and threads a third of the rest. */
static void draw_tables(const struct rcore_top *top, FILE *out, size_t left, size_t width)
{
	size_t processes = active_processes(top);
	bool has_processes = processes > 1 && left > 1;
	if (has_processes) {
		left--;
		if (processes > left / 4)
			processes = left / 4;
		left -= processes;
		heading(top, out, "    PID  CPU %  GVL %  PROCESS", width);
		draw_processes(top, out, processes, width);
	}
	size_t threads = left / 3;
	size_t shown = top->threads.count > 1 ? top->threads.count - 1 : 0;
	if (shown < threads)
		threads = shown;
	heading(top, out,
		has_processes ? "    PID     TID THREAD RUN %   GC %  GVL % BLOCKED %  NAME"
			      : "    TID THREAD RUN %   GC %  GVL % BLOCKED %  NAME",
		width);
	draw_threads(top, out, threads, width, has_processes);
	heading(top, out, orders[top->order].heading, width);
	draw_methods(top, out, left - threads, width);
}

void rcore_top_draw(struct rcore_top *top)
{
	struct winsize size = {0};
	char *screen = NULL;
	size_t length;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	size_t rows = size.ws_row ? size.ws_row : ROWS,
	       width = size.ws_col ? size.ws_col : COLUMNS, used = top->log[0] ? 7 : 6;
	FILE *out = rcore_open_text(&screen, &length);
	if (!out)
		return;
	fputs(SCREEN_HOME, out);
	draw_head(top, out, width);
	if (top->seconds)
		draw_tables(top, out, rows > used ? rows - used : 0, width);
	fputs(SCREEN_END, out);
	if (!fclose(out)) {
		fwrite(screen, 1, length, stdout);
		fflush(stdout);
	}
	free(screen);
}
