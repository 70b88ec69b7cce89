/* SPDX-License-Identifier: MIT */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of a shell that could not run a command. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

static const char *command(void)
{
	const char *terminal = getenv("TERM"), *pager = getenv("RCORE_PAGER");
	if (!terminal || !strcmp(terminal, "dumb"))
		return NULL;
	if (!pager)
		pager = getenv("PAGER");
	if (!pager)
		pager = "less";
	return *pager && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/*
 * The options of less that git sets: quit if all fits one screen, show colors,
 * leave the text on the screen. -c does the same for lv.
 */
static void become(const char *pager, const int pipes[2])
{
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	if (dup2(pipes[0], STDIN_FILENO) >= 0)
		execl("/bin/sh", "sh", "-c", pager, (char *)NULL);
	_exit(NOT_FOUND);
}

/* The user may quit the pager before it has read everything. */
static void feed(int pipe, const char *text, size_t size)
{
	while (size) {
		ssize_t put = write(pipe, text, size);
		if (put < 0 && errno != EINTR)
			return;
		text += put > 0 ? put : 0;
		size -= put > 0 ? (size_t)put : 0;
	}
}

bool rcore_pager_show(const char *text, size_t size)
{
	const char *pager = command();
	int pipes[2], status = 0;
	if (!pager || pipe2(pipes, O_CLOEXEC))
		return false;
	/*
	 * Ignores Ctrl-C, because the pager handles it and quits when the user
	 * asks it to.
	 */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);
	void (*quit)(int) = signal(SIGQUIT, SIG_IGN);
	pid_t pid = fork();
	if (pid == 0)
		become(pager, pipes);
	close(pipes[0]);
	if (pid > 0)
		feed(pipes[1], text, size);
	close(pipes[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupt);
	signal(SIGQUIT, quit);
	return pid > 0 && !(WIFEXITED(status) && (WEXITSTATUS(status) == CANNOT_RUN ||
						  WEXITSTATUS(status) == NOT_FOUND));
}
