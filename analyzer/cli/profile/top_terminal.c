/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/start.h"
#include "cli/profile/top_screen.h"

/* The terminal: its settings, its keys, and its size. */

static volatile sig_atomic_t resized;

static void on_resize(int signo)
{
	resized = 1;
}

/* Blocks SIGWINCH except while rcore waits for keys. */
static void watch_size(sigset_t *before)
{
	const struct sigaction action = {.sa_handler = on_resize};
	sigset_t resize;
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigaction(SIGWINCH, &action, NULL);
	sigprocmask(SIG_BLOCK, &resize, before);
	sigdelset(before, SIGWINCH);
}

bool rcore_top_open_screen(struct rcore_top *top)
{
	struct termios raw;
	if (tcgetattr(STDIN_FILENO, &top->before))
		return false;
	raw = top->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VSUSP] = _POSIX_VDISABLE;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw))
		return false;
	watch_size(&top->signals);
	top->is_open = true;
	fputs(RCORE_SCREEN_ENTER, stdout);
	return fflush(stdout) == 0;
}

void rcore_top_close_screen(struct rcore_top *top)
{
	if (!top->is_open)
		return;
	top->is_open = false;
	fputs(RCORE_SCREEN_LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &top->before);
}

/* By enum rcore_top_order. */
static const char order_keys[] = "sta";

static void press(struct rcore_top *top, char key)
{
	const char *order = key ? strchr(order_keys, key) : NULL;
	top->wants_end |= key == 'q';
	if (order)
		top->order = (enum rcore_top_order)(order - order_keys);
	if (key == 'm')
		top->mode = top->mode == RCORE_TOP_CPU ? RCORE_TOP_WALL : RCORE_TOP_CPU;
}

static void read_keys(struct rcore_top *top)
{
	char keys[16];
	ssize_t count = read(STDIN_FILENO, keys, sizeof(keys));
	/* The terminal is gone. */
	if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
		top->wants_end = true;
	for (ssize_t i = 0; i < count; i++)
		press(top, keys[i]);
}

/* Redraws at once after a key or a change of size. */
bool rcore_top_sleep(uint64_t until, void *context)
{
	struct rcore_top *top = context;
	for (;;) {
		struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
		uint64_t now = rcore_clock_ns(), left = now < until ? until - now : 0;
		const struct timespec timeout = {.tv_sec = (time_t)(left / 1000000000),
						 .tv_nsec = (long)(left % 1000000000)};
		bool has_key = ppoll(&input, 1, &timeout, &top->signals) > 0;
		if (has_key)
			read_keys(top);
		if (top->wants_end || *rcore_start_interrupted())
			return !top->wants_end;
		if (has_key || resized) {
			resized = 0;
			/*
			 * Tables that were just emptied have nothing to show.
			 */
			if (top->methods.count || !top->seconds)
				rcore_top_draw(top);
		}
		if (!left)
			return true;
	}
}
