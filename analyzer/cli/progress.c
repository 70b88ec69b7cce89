/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t is_shown;

static void show(int signo)
{
	static const char line[] = "rcore: reading ... (Ctrl-C stops it)";
	is_shown = write(STDERR_FILENO, line, sizeof(line) - 1) > 0;
}

void rcore_cli_progress_begin(void)
{
	struct sigaction action = {.sa_handler = show, .sa_flags = SA_RESTART};
	if (!isatty(STDERR_FILENO) || sigaction(SIGALRM, &action, NULL) != 0)
		return;
	alarm(1);
}

void rcore_cli_progress_end(void)
{
	static const char erase[] = "\r\033[K";
	alarm(0);
	if (is_shown && write(STDERR_FILENO, erase, sizeof(erase) - 1) > 0)
		is_shown = 0;
}
