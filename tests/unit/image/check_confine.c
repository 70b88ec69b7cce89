/* SPDX-License-Identifier: MIT */
/* What a process can still do to others after it gave up its privileges. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/count.h"
#include "suite.h"

/* Sanitizers need calls that the filter refuses. */
#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

static int fds[2];
static pid_t other;

static bool refused(long result)
{
	return result == -1 && errno == EPERM;
}

static bool signals(void)
{
	return refused(kill(other, SIGKILL));
}

static bool signals_by_files(void)
{
	return refused(fcntl(fds[0], F_SETOWN, other)) &&
	       refused(fcntl(fds[0], F_SETSIG, SIGKILL)) &&
	       refused(fcntl(fds[0], F_SETLEASE, F_RDLCK));
}

static bool limits_of_others(void)
{
	const struct rlimit none = {0, 0};
	return refused(prlimit(other, RLIMIT_CPU, &none, NULL));
}

static bool own_files(void)
{
	int copy = fcntl(fds[0], F_DUPFD_CLOEXEC, 20);
	return copy >= 20 && fcntl(copy, F_GETFD) == FD_CLOEXEC && !fcntl(copy, F_SETFD, 0) &&
	       !fcntl(copy, F_SETFL, fcntl(copy, F_GETFL) | O_NONBLOCK);
}

static bool own_limits(void)
{
	struct rlimit limit;
	return !getrlimit(RLIMIT_NOFILE, &limit) && !setrlimit(RLIMIT_NOFILE, &limit);
}

static const struct {
	const char *what;
	bool (*holds)(void);
} cases[] = {
	{"signals", signals},
	{"signals by files", signals_by_files},
	{"limits of others", limits_of_others},
	{"own files", own_files},
	{"own limits", own_limits},
};

static int in_child(const struct rcore_confinement *confinement, bool (*holds)(void))
{
	int status;
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(!rcore_confine(confinement) ? 2 : !holds());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return status;
}

static void start_other(void)
{
	ck_assert_int_eq(pipe(fds), 0);
	other = fork();
	ck_assert_int_ge(other, 0);
	if (!other)
		for (;;)
			pause();
}

START_TEST(a_confined_process_cannot_touch_others)
{
	const struct rcore_confinement confinement = {.may_fork = true};
	if (IS_SANITIZED)
		return;
	start_other();
	ck_assert_msg(in_child(&confinement, cases[_i].holds) == 0, "%s", cases[_i].what);
	ck_assert_int_eq(kill(other, 0), 0);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}
END_TEST

static bool spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
	return true;
}

static bool can_signal(void)
{
	return !kill(getpid(), 0);
}

/* The signal says that it was the time. */
START_TEST(the_limit_of_time_is_told)
{
	const struct rcore_confinement confinement = {.seconds = 1};
	int status = in_child(&confinement, spin);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGXCPU);
}
END_TEST

/* Without a filter the limits are still there. */
START_TEST(limits_without_a_filter)
{
	const struct rcore_confinement confinement = {.seconds = 1, .no_filter = true};
	ck_assert_int_eq(in_child(&confinement, can_signal), 0);
	int status = in_child(&confinement, spin);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {a_confined_process_cannot_touch_others};
	const TTest *const limits[] = {the_limit_of_time_is_told, limits_without_a_filter};
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = "confine",
							       .tests = tests,
							       .count = RCORE_COUNT(tests),
							       .loops = RCORE_COUNT(cases),
							       .timeout = 60}) +
	       rcore_test_suite_run(&(struct rcore_test_suite){.name = "limits",
							       .tests = limits,
							       .count = RCORE_COUNT(limits),
							       .timeout = 60});
}
