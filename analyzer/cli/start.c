/* SPDX-License-Identifier: MIT */
#include "cli/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/count.h"
#include "base/text.h"

static volatile sig_atomic_t interrupted;

static void interrupt(int signo)
{
	interrupted = 1;
}

/* A program that rcore starts inherits SIG_IGN, but not a handler. */
static void ignore(int signo)
{
}

void rcore_start_watch(void)
{
	const struct sigaction action = {.sa_handler = interrupt};
	const struct sigaction nothing = {.sa_handler = ignore};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	for (size_t i = 0; i < RCORE_COUNT(signals); i++)
		sigaction(signals[i], &action, NULL);
	sigaction(SIGXFSZ, &nothing, NULL);
}

const volatile sig_atomic_t *rcore_start_interrupted(void)
{
	return &interrupted;
}

/*
 * If exec fails, the child writes errno into the pipe; if exec succeeds, the
 * pipe is closed.
 */
static void become(char **argv, int output, int report)
{
	int errnum, input = output < 0 ? -1 : open("/dev/null", O_RDWR);
	for (int fd = STDIN_FILENO; output >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(fd == STDIN_FILENO ? input : output, fd);
	if (input > STDERR_FILENO)
		close(input);
	execvp(argv[0], argv);
	errnum = errno;
	if (write(report, &errnum, sizeof(errnum)) < 0)
		errnum = 0;
	_exit(127);
}

struct rcore_error *rcore_start(const struct rcore_strings *command, int output,
				struct rcore_started *ret)
{
	int pipes[2], errnum = 0;
	char escaped[256];
	char **argv = calloc(command->count + 1, sizeof(*argv));
	if (!argv)
		return rcore_error_no_memory();
	for (size_t i = 0; i < command->count; i++)
		argv[i] = (char *)command->items[i];
	if (pipe2(pipes, O_CLOEXEC)) {
		errnum = errno;
		free(argv);
		return rcore_error_os(errnum, "cannot start a program");
	}
	const uint64_t began = rcore_clock_ns();
	pid_t pid = fork();
	if (pid == 0)
		become(argv, output, pipes[1]);
	int failed = errno;
	close(pipes[1]);
	free(argv);
	if (pid > 0 && read(pipes[0], &errnum, sizeof(errnum)) <= 0)
		errnum = 0;
	close(pipes[0]);
	if (pid < 0)
		return rcore_error_os(failed, "cannot start a program");
	if (errnum) {
		waitpid(pid, NULL, 0);
		return rcore_error_os(
			errnum, "cannot run %s",
			rcore_escape(escaped, sizeof(escaped), command->items[0]));
	}
	rcore_start_watch();
	ret->pid = pid;
	ret->began = began;
	return NULL;
}

void rcore_start_wait(struct rcore_started *started, unsigned milliseconds)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	uint64_t end = rcore_clock_ns() + milliseconds * UINT64_C(1000000);
	while (started->pid && !started->has_ended) {
		started->has_ended =
			waitpid(started->pid, &started->status, WNOHANG) == started->pid;
		if (started->has_ended || rcore_clock_ns() >= end)
			return;
		nanosleep(&pause, NULL);
	}
}
