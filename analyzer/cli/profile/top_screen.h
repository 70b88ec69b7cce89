/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_TOP_SCREEN_H
#define RCORE_CLI_TOP_SCREEN_H

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

/* Nanoseconds in one second of the window. */
struct rcore_top_method {
	uint64_t times[RCORE_TOP_ORDERS][RCORE_TOP_WINDOW];
	uint64_t seen; /* the last sample that was added to the total */
};

struct rcore_top_thread {
	uint64_t states[RCORE_SAMPLE_STATES][RCORE_TOP_WINDOW];
};

struct rcore_top_arguments;

struct rcore_top {
	const struct rcore_top_arguments *asked;
	struct rcore_profile *profile;
	uint32_t generation;
	struct {
		struct rcore_top_method *items;
		size_t count, capacity;
	} methods; /* by function number */
	struct {
		struct rcore_top_thread *items;
		size_t count, capacity;
	} threads;
	size_t slot, seconds;
	uint64_t samples;
	enum rcore_top_order order;
	bool is_wall, wants_end, color;
	struct termios before;
	bool is_open;
	struct rcore_sampling_summary summary;
};

/* Draws the methods and threads of the last seconds. */
void rcore_top_draw(struct rcore_top *top, struct rcore_sampling *sampling);

#endif
