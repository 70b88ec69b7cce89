/* SPDX-License-Identifier: MIT */
#include "base/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/confine.h"
#include "base/count.h"
#include "base/signal_name.h"

enum {
	CALL_SECONDS = 10,      /* of processor time, for one call */
	PROCESSOR_SECONDS = 60, /* for all, whichever helper serves them */
	/* For one call, on a machine that is busy or has a slow disk. */
	WAIT_SECONDS = 60,
	MAX_STARTS = 4,
	END_MS = 1000, /* from its last message until it is gone */
	/*
	 * If a server is asked for debug files, which the user wants, the
	 * helper has a network, and a call takes as long as a download.
	 */
	DOWNLOAD_SECONDS = 600,
};

#define MEMORY (UINT64_C(1) << 30)

struct rcore_helper {
	void *context;
	pid_t pid; /* 0: not started */
	int socket;
	int starts;
	bool gave_up; /* it took too long */
	double used;  /* processor time of those that ended, in seconds */
	bool (*lacked_memory)(void);
	/* Shared with the helper, which sets it if its memory is short. */
	bool *lacks_memory;
	char problem[128];
};

/* Followed by the bytes of the request. */
struct call {
	rcore_helper_function *function;
};

static bool asks_servers(void)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	return servers && servers[0];
}

static int wait_seconds(void)
{
	return asks_servers() ? DOWNLOAD_SECONDS : WAIT_SECONDS;
}

struct rcore_helper *rcore_helper_new(void *context, bool (*lacked_memory)(void))
{
	struct rcore_helper *helper = calloc(1, sizeof(*helper));
	if (!helper)
		return NULL;
	helper->context = context;
	helper->lacked_memory = lacked_memory;
	helper->socket = -1;
	helper->lacks_memory = mmap(NULL, sizeof(*helper->lacks_memory), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (helper->lacks_memory != MAP_FAILED)
		return helper;
	free(helper);
	return NULL;
}

/* How large the address space of this process is; 0 if it is not known. */
static uint64_t address_space(void)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Whether the user allows less memory than rcore does. */
static bool user_limits_memory(void)
{
	struct rlimit data, all;
	if (!getrlimit(RLIMIT_DATA, &data) && data.rlim_cur < MEMORY)
		return true;
	return !getrlimit(RLIMIT_AS, &all) && all.rlim_cur != RLIM_INFINITY &&
	       all.rlim_cur < address_space() + MEMORY;
}

/*
 * A debugger has handlers for many signals, which must not run here. That of
 * SIGSYS belongs to a confinement of the parent's, which applies here, too.
 */
static void reset_signals(void)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	static const int of_terminals[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGHUP};
	sigset_t none;
	for (int i = 1; i < NSIG; i++)
		if (i != SIGSYS)
			sigaction(i, &action, NULL);
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < RCORE_COUNT(of_terminals); i++)
		sigaction(of_terminals[i], &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_timer(int which, int after)
{
	const struct itimerval timer = {.it_value.tv_sec = after};
	setitimer(which, &timer, NULL);
}

static void start_timers(void)
{
	set_timer(ITIMER_REAL, wait_seconds());
	set_timer(ITIMER_PROF, asks_servers() ? 0 : CALL_SECONDS);
}

static void stop_timers(void)
{
	set_timer(ITIMER_REAL, 0);
	set_timer(ITIMER_PROF, 0);
}

/* Ends when the parent does. */
static void serve(struct rcore_helper *helper, int socket, bool is_limited)
{
	char *request = malloc(RCORE_HELPER_ROOM), *reply = malloc(RCORE_HELPER_ROOM);
	*helper->lacks_memory |= !request || !reply;
	while (request && reply) {
		struct call call;
		ssize_t got = recv(socket, request, RCORE_HELPER_ROOM, 0);
		if (got < (ssize_t)sizeof(call))
			break;
		memcpy(&call, request, sizeof(call));
		start_timers();
		/* Libraries find less without memory. */
		errno = 0;
		size_t size =
			call.function(helper->context, request + sizeof(call),
				      (size_t)got - sizeof(call), reply, RCORE_HELPER_ROOM);
		*helper->lacks_memory |= is_limited && helper->lacked_memory();
		stop_timers();
		/* An empty message would look like the end. */
		if (send(socket, reply, size ? size : 1, MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

/* The headers of glibc before 2.34 do not have it. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* Closes first to last. Kernels before 5.9 do it one by one. */
static void close_all(unsigned first, unsigned last)
{
	enum { MANY = 1 << 16 };
	if (!syscall(SYS_close_range, first, last, 0))
		return;
	for (unsigned fd = first; fd <= last && fd < MANY; fd++)
		close((int)fd);
}

static void be_helper(struct rcore_helper *helper, int socket)
{
	/* The client of debuginfod downloads files. */
	const struct rcore_confinement confinement = {.memory = MEMORY,
						      .seconds = PROCESSOR_SECONDS -
								 (unsigned)helper->used,
						      .no_filter = asks_servers()};
	enum { OWN = 3 };
	bool is_limited = user_limits_memory();
	reset_signals();
	if (dup2(socket, OWN) < 0)
		_exit(1);
	/*
	 * Nothing of the parent's: no core, no terminal, no target. The client
	 * of debuginfod may have something to say.
	 */
	close_all(0, asks_servers() ? STDERR_FILENO - 1 : STDERR_FILENO);
	close_all(OWN + 1, ~0U);
	rcore_confine(&confinement);
	serve(helper, OWN, is_limited);
}

static bool start(struct rcore_helper *helper)
{
	int sockets[2];
	if (helper->gave_up || helper->starts == MAX_STARTS ||
	    helper->used >= PROCESSOR_SECONDS ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return false;
	helper->starts++;
	pid_t pid = fork();
	if (!pid)
		be_helper(helper, sockets[1]);
	close(sockets[1]);
	if (pid < 0) {
		*helper->lacks_memory |= errno == ENOMEM;
		close(sockets[0]);
		return false;
	}
	helper->pid = pid;
	helper->socket = sockets[0];
	return true;
}

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/*
 * Returns the status of wait4(), or 0 if somebody else has it. What ended the
 * helper comes before our own signal, which a confined process may not send:
 * with is_ending, the helper has closed its socket, so it is about to end.
 */
static int stop(struct rcore_helper *helper, bool is_ending)
{
	struct rusage usage = {0};
	int status = 0;
	close(helper->socket);
	pid_t ended = wait4(helper->pid, &status, WNOHANG, &usage);
	for (int i = 0; i < END_MS && !ended && is_ending; i++) {
		poll(NULL, 0, 1);
		ended = wait4(helper->pid, &status, WNOHANG, &usage);
	}
	/* If it may not be killed, it ends by itself without its socket. */
	if (!ended && !kill(helper->pid, SIGKILL))
		while (wait4(helper->pid, &status, 0, &usage) < 0 && errno == EINTR)
			;
	helper->used += seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
	helper->pid = 0;
	helper->socket = -1;
	return status;
}

static void died(struct rcore_helper *helper, bool is_late)
{
	char name[RCORE_SIGNAL_SIZE];
	int status = stop(helper, !is_late);
	int signo = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	/* A file that keeps one call waiting would do so with the next one. */
	if (is_late || signo == SIGALRM)
		helper->gave_up = true;
	/* Where libdw has no memory, it calls exit(EXIT_FAILURE). */
	if (!is_late && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE &&
	    user_limits_memory())
		*helper->lacks_memory = true;
	bool had_no_memory = !is_late && !signo && *helper->lacks_memory;
	if (helper->problem[0] || had_no_memory)
		return;
	if (signo == SIGPROF || signo == SIGXCPU)
		snprintf(helper->problem, sizeof(helper->problem),
			 "it used more than %d s of processor time",
			 signo == SIGPROF ? CALL_SECONDS : PROCESSOR_SECONDS);
	else if (is_late || signo == SIGALRM)
		snprintf(helper->problem, sizeof(helper->problem), "it took longer than %d s",
			 wait_seconds());
	else if (signo)
		snprintf(helper->problem, sizeof(helper->problem), "%s ended it",
			 rcore_signal_name(signo, name));
	else
		snprintf(helper->problem, sizeof(helper->problem), "it ended");
}

/* Gives the helper a second more than it gives itself. */
static bool wait_for_reply(const struct rcore_helper *helper)
{
	double end = rcore_clock_seconds() + wait_seconds() + 1;
	struct pollfd wait = {.fd = helper->socket, .events = POLLIN};
	int ready;
	do {
		double left = end - rcore_clock_seconds();
		ready = poll(&wait, 1, left > 0 ? (int)(left * 1000) + 1 : 0);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
}

bool rcore_helper_call(struct rcore_helper *helper, rcore_helper_function *function,
		       const void *request, size_t size, void *reply, size_t *ret_size)
{
	struct call call = {function};
	struct iovec parts[] = {{&call, sizeof(call)}, {(void *)request, size}};
	const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	if (!helper->pid && !start(helper))
		return false;
	bool is_late = false;
	ssize_t got = -1;
	if (sendmsg(helper->socket, &message, MSG_NOSIGNAL) >= 0) {
		is_late = !wait_for_reply(helper);
		if (!is_late)
			got = recv(helper->socket, reply, RCORE_HELPER_ROOM, 0);
	}
	if (got > 0) {
		*ret_size = (size_t)got;
		return true;
	}
	died(helper, is_late);
	return false;
}

const char *rcore_helper_problem(const struct rcore_helper *helper)
{
	return helper && helper->problem[0] ? helper->problem : NULL;
}

bool rcore_helper_lacks_memory(const struct rcore_helper *helper)
{
	return helper && *helper->lacks_memory;
}

void rcore_helper_retry(struct rcore_helper *helper)
{
	if (helper->pid)
		stop(helper, false);
	*helper->lacks_memory = false;
	helper->starts = 0;
	/* Otherwise none is started again, and the problem says why. */
	if (!helper->gave_up && helper->used < PROCESSOR_SECONDS)
		helper->problem[0] = '\0';
}

void rcore_helper_free(struct rcore_helper *helper)
{
	if (!helper)
		return;
	if (helper->pid)
		stop(helper, false);
	munmap(helper->lacks_memory, sizeof(*helper->lacks_memory));
	free(helper);
}
