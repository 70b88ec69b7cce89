/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_TOP_SCREEN_H
#define RCORE_CLI_TOP_SCREEN_H

#include <limits.h>
#include <signal.h>
#include <termios.h>

#include "sampler/sampling.h"

/*
 * These seven control sequences, which every terminal since the VT100 knows,
 * are enough to draw the screen, so ncurses is not needed. It would add its own
 * handling of signals and of the terminal's state to a loop that must keep its
 * rate. It also needs a database of terminals, which containers often lack.
 */
#define RCORE_SCREEN_ENTER "\033[?1049h\033[?25l"
#define RCORE_SCREEN_LEAVE "\033[?25h\033[?1049l"

enum { RCORE_TOP_WINDOW = 5 /* seconds */ };

/* Which time of a method the table is ordered by. */
enum rcore_top_order {
	RCORE_TOP_SELF,
	RCORE_TOP_TOTAL,
	/* As the innermost method of the application (application.h). */
	RCORE_TOP_OWN,
	RCORE_TOP_ORDERS
};

enum rcore_top_mode { RCORE_TOP_CPU, RCORE_TOP_WALL, RCORE_TOP_MODES };

/* Nanoseconds in one second of the window. */
struct rcore_top_method {
	uint64_t times[RCORE_TOP_MODES][RCORE_TOP_ORDERS][RCORE_TOP_WINDOW];
	uint64_t seen; /* the last sample that was added to the total */
};

struct rcore_top_thread {
	uint64_t states[RCORE_SAMPLE_STATES][RCORE_TOP_WINDOW];
};

struct rcore_top_process {
	uint64_t cpu[RCORE_TOP_WINDOW];
	/*
	 * Wall time of its threads, and how much of it they waited for the GVL.
	 */
	uint64_t threads[RCORE_TOP_WINDOW], gvl[RCORE_TOP_WINDOW];
};

struct rcore_top_arguments;

struct rcore_top {
	const struct rcore_top_arguments *asked;
	struct rcore_profile *profile;
	struct {
		struct rcore_top_method *items;
		size_t count, capacity;
	} methods; /* by function number */
	struct {
		struct rcore_top_thread *items;
		size_t count, capacity;
	} threads;
	struct {
		struct rcore_top_process *items;
		size_t count, capacity;
	} processes;
	size_t slot, seconds;
	/*
	 * In nanoseconds: when the current second began, and how long each
	 * took.
	 */
	uint64_t turned, elapsed[RCORE_TOP_WINDOW];
	uint64_t samples;
	enum rcore_top_mode mode;
	enum rcore_top_order order;
	bool wants_end, color;
	char log[PATH_MAX]; /* path of the output of COMMAND; "": none */
	int pid;            /* of the first process */
	char ruby[64];
	struct termios before;
	sigset_t signals; /* blocked while rcore waits for keys */
	bool is_open;
	struct rcore_sampling_summary summary;
};

/* top_sums.c: adds a second's samples. Returns false if memory is short. */
bool rcore_top_add_samples(struct rcore_top *top);
/* Removes them, and the tables if they are large. */
void rcore_top_forget(struct rcore_top *top);

/* top_screen.c: draws what was done in the last seconds. */
void rcore_top_draw(struct rcore_top *top);

/* top_terminal.c: returns false and sets errno on failure. */
bool rcore_top_open_screen(struct rcore_top *top);
void rcore_top_close_screen(struct rcore_top *top);
/*
 * Sleeps like rcore_sampling_options.sleep, and handles keys meanwhile.
 * `context` is the struct rcore_top. Returns false if the user wants to stop.
 */
bool rcore_top_sleep(uint64_t until, void *context);

#endif
