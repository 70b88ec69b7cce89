/* SPDX-License-Identifier: MIT */
#include "cli/jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	MAX_AT_ONCE = 256,
	MAX_TEXT = 16 << 20, /* bytes that one child may write */
	READ_SIZE = 64 << 10,
};

struct child {
	pid_t pid;
	size_t index;
	int fd;
	double deadline; /* 0: none */
	bool is_over_time;
	char *text;
	size_t size;
};

struct pool {
	const struct rcore_jobs *jobs;
	struct child children[MAX_AT_ONCE];
	size_t running, limit, next;
};

static void be_child(const struct rcore_jobs *jobs, size_t index, int fd)
{
	const struct rlimit none = {0, 0};
	const struct rlimit memory = {jobs->megabytes << 20, jobs->megabytes << 20};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (jobs->megabytes)
		setrlimit(RLIMIT_DATA, &memory);
	_exit(jobs->run(index, fd, jobs->context));
}

static struct rcore_error *start(struct pool *pool)
{
	int fds[2];
	if (pipe(fds))
		return rcore_error_os(errno, "pipe");
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0) {
		struct rcore_error *err = rcore_error_os(errno, "fork");
		close(fds[0]);
		close(fds[1]);
		return err;
	}
	if (!pid) {
		close(fds[0]);
		be_child(pool->jobs, pool->next, fds[1]);
	}
	close(fds[1]);
	pool->children[pool->running++] = (struct child){
		.pid = pid,
		.index = pool->next++,
		.fd = fds[0],
		.deadline =
			pool->jobs->seconds ? rcore_clock_seconds() + pool->jobs->seconds : 0,
	};
	return NULL;
}

/* Returns false once the child has written everything. */
static bool take_text(struct child *child)
{
	char *grown = child->size < MAX_TEXT ? realloc(child->text, child->size + READ_SIZE + 1)
					     : NULL;
	if (!grown) {
		kill(child->pid, SIGKILL);
		return false;
	}
	child->text = grown;
	ssize_t got = read(child->fd, grown + child->size, READ_SIZE);
	if (got < 0 && errno == EINTR)
		return true;
	child->size += got > 0 ? (size_t)got : 0;
	grown[child->size] = 0;
	return got > 0;
}

/* A child that has written everything may still run, and keeps its deadline. */
static void reap(struct child *child, int *status)
{
	const struct timespec moment = {.tv_nsec = 10 * 1000 * 1000};
	int options = child->deadline ? WNOHANG : 0;
	pid_t got;
	while ((got = waitpid(child->pid, status, options)) == 0 ||
	       (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		if (rcore_clock_seconds() < child->deadline) {
			nanosleep(&moment, NULL);
			continue;
		}
		child->is_over_time = true;
		kill(child->pid, SIGKILL);
		options = 0;
	}
}

static void finish(struct pool *pool, size_t at)
{
	struct child child = pool->children[at];
	int status = 0;
	close(child.fd);
	reap(&child, &status);
	pool->children[at] = pool->children[--pool->running];
	pool->jobs->done(child.index, child.text,
			 child.is_over_time    ? -SIGXCPU
			 : WIFSIGNALED(status) ? -WTERMSIG(status)
					       : WEXITSTATUS(status),
			 pool->jobs->context);
}

/* Returns the milliseconds until the next deadline, or -1 if there is none. */
static int until_deadline(struct pool *pool)
{
	double first = 0;
	for (size_t i = 0; i < pool->running; i++) {
		struct child *child = &pool->children[i];
		if (child->deadline && rcore_clock_seconds() >= child->deadline) {
			child->is_over_time = true;
			child->deadline = 0;
			kill(child->pid, SIGKILL);
		}
		if (child->deadline && (!first || child->deadline < first))
			first = child->deadline;
	}
	return first ? (int)((first - rcore_clock_seconds()) * 1000) + 1 : -1;
}

static void wait_for_some(struct pool *pool)
{
	struct pollfd polled[MAX_AT_ONCE];
	for (size_t i = 0; i < pool->running; i++)
		polled[i] = (struct pollfd){.fd = pool->children[i].fd, .events = POLLIN};
	if (poll(polled, pool->running, until_deadline(pool)) <= 0)
		return;
	for (size_t i = pool->running; i-- > 0;)
		if (polled[i].revents && !take_text(&pool->children[i]))
			finish(pool, i);
}

static void end_all(struct pool *pool)
{
	while (pool->running) {
		struct child *child = &pool->children[--pool->running];
		kill(child->pid, SIGKILL);
		waitpid(child->pid, NULL, 0);
		close(child->fd);
		free(child->text);
	}
}

struct rcore_error *rcore_jobs_run(const struct rcore_jobs *jobs)
{
	struct pool *pool = calloc(1, sizeof(*pool));
	if (!pool)
		return rcore_error_no_memory();
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	pool->jobs = jobs;
	pool->limit = jobs->at_once ? jobs->at_once : processors > 0 ? (size_t)processors : 1;
	if (pool->limit > MAX_AT_ONCE)
		pool->limit = MAX_AT_ONCE;
	struct rcore_error *err = NULL;
	while (!err && (pool->running || pool->next < jobs->count)) {
		if (pool->running < pool->limit && pool->next < jobs->count)
			err = start(pool);
		else
			wait_for_some(pool);
	}
	end_all(pool);
	free(pool);
	return err;
}
