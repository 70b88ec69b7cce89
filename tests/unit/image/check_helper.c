/* SPDX-License-Identifier: MIT */
/*
 * The helper lives through nothing that it should not, and its parent through
 * everything.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/count.h"
#include "base/helper.h"
#include "image/elf/elf_memory.h"
#include "suite.h"

static char reply[RCORE_HELPER_ROOM];

static size_t echo(void *context, const void *request, size_t size, void *ret, size_t room)
{
	memcpy(ret, request, size);
	((char *)ret)[0] = *(const char *)context;
	return size;
}

static size_t crash(void *context, const void *request, size_t size, void *ret, size_t room)
{
	raise(SIGSEGV);
	abort();
}

/* Recursion without an end, as in nested blocks of DWARF. */
static size_t deep(void *context, const void *request, size_t size, void *ret, size_t room)
{
	volatile char frame[4096] = {0};
	if (size == 0)
		return (size_t)frame[0];
	return (size_t)frame[0] + deep(context, (const void *)frame, size + 1, ret, room) +
	       (size_t)frame[1];
}

static size_t devour(void *context, const void *request, size_t size, void *ret, size_t room)
{
	enum { STEP = 64 << 20, MAX = 1024 };
	int count = 0;
	for (; count < MAX; count++) {
		char *block = malloc(STEP);
		if (!block)
			break;
		memset(block, 1, 1);
	}
	*(int *)ret = count;
	return sizeof(int);
}

/* What a call has of a timer, in microseconds. */
static int64_t left_of(int which)
{
	static const struct itimerval none;
	struct itimerval left = {{0}, {0}};
	setitimer(which, &none, &left);
	return (int64_t)left.it_value.tv_sec * 1000000 + left.it_value.tv_usec;
}

struct timers {
	int64_t processor, wait;
};

static size_t timers(void *context, const void *request, size_t size, void *ret, size_t room)
{
	const struct timers left = {left_of(ITIMER_PROF), left_of(ITIMER_REAL)};
	memcpy(ret, &left, sizeof(left));
	return sizeof(left);
}

/* Runs without an end. It has less time than it was given, so that the test is quick. */
static size_t loop(void *context, const void *request, size_t size, void *ret, size_t room)
{
	static const struct itimerval soon = {.it_value.tv_usec = 1000};
	setitimer(ITIMER_PROF, &soon, NULL);
	for (;;)
		;
	return 0;
}

/* A busy machine may give the helper little time: only what it uses is limited to 10 s. */
START_TEST(has_time)
{
	struct timers left;
	size_t size = 0;
	unsetenv("DEBUGINFOD_URLS");
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, timers, "", 1, reply, &size));
	ck_assert_uint_eq(size, sizeof(left));
	memcpy(&left, reply, sizeof(left));
	/* A tick of the clock may be added. */
	ck_assert(left.processor > 0 && left.processor <= 10100000);
	ck_assert(left.wait > 0);
	ck_assert(!rcore_helper_call(helper, loop, "", 1, reply, &size));
	ck_assert_str_eq(rcore_helper_problem(helper),
			 "it used more than 10 s of processor time");
	rcore_helper_free(helper);
}
END_TEST

/* ASan ends a process that has no memory left. */
#ifndef __SANITIZE_ADDRESS__
/* Like libdw, finds nothing if memory is short, and does not report it. */
static size_t starve(void *context, const void *request, size_t size, void *ret, size_t room)
{
	void *volatile block = malloc(SIZE_MAX / 4);
	free(block);
	return 0;
}

/* The helper reports this only if the user limits the memory. */
START_TEST(lacks_memory)
{
	static const int limited[] = {-1, RLIMIT_DATA, RLIMIT_AS};
	const struct rlimit limit = {256 << 20, 256 << 20};
	size_t size = 0;
	if (_i)
		ck_assert(!setrlimit(limited[_i], &limit));
	struct rcore_helper *helper = rcore_helper_new("!", rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	ck_assert(!rcore_helper_lacks_memory(helper));
	ck_assert(rcore_helper_call(helper, starve, "", 1, reply, &size));
	ck_assert(rcore_helper_lacks_memory(helper) == (_i != 0));
	/* The next helper may have enough. */
	rcore_helper_retry(helper);
	ck_assert(!rcore_helper_lacks_memory(helper));
	ck_assert(rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	ck_assert(!rcore_helper_lacks_memory(helper));
	rcore_helper_free(helper);
}
END_TEST

/* As libdw ends without memory. */
static size_t leave(void *context, const void *request, size_t size, void *ret, size_t room)
{
	exit(EXIT_FAILURE);
}

/*
 * A confined process may not kill the helper, and must learn all the same how it ended, at
 * whatever moment it looks. Another process is confined, as Check could not go on.
 */
START_TEST(knows_the_status)
{
	enum { TIMES = 300 };
	const struct rcore_confinement confinement = {.memory = 256 << 20, .may_fork = true};
	size_t size = 0;
	int status, known = 0;
	pid_t pid = fork();
	if (!pid) {
		if (!rcore_confine(&confinement))
			_exit(0);
		for (int i = 0; i < TIMES; i++) {
			struct rcore_helper *helper =
				rcore_helper_new(NULL, rcore_elf_lacked_memory);
			known += !rcore_helper_call(helper, leave, "", 1, reply, &size) &&
				 rcore_helper_lacks_memory(helper) &&
				 !rcore_helper_problem(helper);
			rcore_helper_free(helper);
		}
		_exit(known != TIMES);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST
#endif

START_TEST(answers)
{
	char context = '!';
	size_t size = 0;
	struct rcore_helper *helper = rcore_helper_new(&context, rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	ck_assert_uint_eq(size, 6);
	ck_assert_str_eq(reply, "!ello");
	/* It has what its parent had at the first call. */
	context = '?';
	ck_assert(rcore_helper_call(helper, echo, "again", 6, reply, &size));
	ck_assert_str_eq(reply, "!gain");
	ck_assert_ptr_null(rcore_helper_problem(helper));
	rcore_helper_free(helper);
}
END_TEST

/* Uses at least a second of processor time, and dies. */
static size_t burn(void *context, const void *request, size_t size, void *ret, size_t room)
{
	while (clock() < CLOCKS_PER_SEC + CLOCKS_PER_SEC / 10)
		;
	raise(SIGSEGV);
	abort();
}

static size_t processor_limit(void *context, const void *request, size_t size, void *ret,
			      size_t room)
{
	struct rlimit limit;
	getrlimit(RLIMIT_CPU, &limit);
	memcpy(ret, &limit.rlim_cur, sizeof(limit.rlim_cur));
	return sizeof(limit.rlim_cur);
}

/* The limit is for all of them, so files of slow symbols cannot add up. */
START_TEST(shares_the_limit)
{
	rlim_t before, after;
	size_t size = 0;
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, processor_limit, "", 1, reply, &size));
	memcpy(&before, reply, sizeof(before));
	ck_assert(!rcore_helper_call(helper, burn, "", 1, reply, &size));
	ck_assert(rcore_helper_call(helper, processor_limit, "", 1, reply, &size));
	memcpy(&after, reply, sizeof(after));
	ck_assert_uint_lt(after, before);
	rcore_helper_free(helper);
}
END_TEST

static rcore_helper_function *const deaths[] = {crash, deep};

START_TEST(dies)
{
	char context = '!';
	size_t size = 0;
	struct rcore_helper *helper = rcore_helper_new(&context, rcore_elf_lacked_memory);
	for (int i = 0; i < 3; i++) {
		ck_assert(!rcore_helper_call(helper, deaths[_i], "", 1, reply, &size));
		ck_assert_str_eq(rcore_helper_problem(helper), "SIGSEGV ended it");
		ck_assert(rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	}
	/* But not for ever. */
	ck_assert(!rcore_helper_call(helper, deaths[_i], "", 1, reply, &size));
	ck_assert(!rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	rcore_helper_free(helper);
}
END_TEST

/* What its timer does to a helper that waits too long. */
static size_t wait_for_ever(void *context, const void *request, size_t size, void *ret,
			    size_t room)
{
	raise(SIGALRM);
	abort();
}

/* None is started again, so the reason must not be forgotten. */
START_TEST(gives_up)
{
	size_t size = 0;
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	ck_assert(!rcore_helper_call(helper, wait_for_ever, "", 1, reply, &size));
	rcore_helper_retry(helper);
	ck_assert(!rcore_helper_call(helper, echo, "hello", 6, reply, &size));
	ck_assert_ptr_nonnull(rcore_helper_problem(helper));
	rcore_helper_free(helper);
}
END_TEST

START_TEST(has_little_memory)
{
	size_t size = 0;
	int count;
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, devour, "", 1, reply, &size));
	memcpy(&count, reply, sizeof(count));
	ck_assert_int_le(count, 16);
	rcore_helper_free(helper);
}
END_TEST

/* Returns the number of what it could do that it should not, from 1. */
static size_t misbehave(void *context, const void *path, size_t size, void *ret, size_t room)
{
	int done = 0, number = 0;
	char name[4096];
#define TRY(what)                      \
	do {                           \
		number++;              \
		if (what)              \
			done = number; \
	} while (0)
	snprintf(name, sizeof(name), "%s/fifo", (const char *)path);
	TRY(open(name, O_RDONLY) >= 0);
	TRY(open("/dev/zero", O_RDONLY) >= 0);
	snprintf(name, sizeof(name), "%s/new", (const char *)path);
	TRY(open(name, O_WRONLY | O_CREAT, 0600) >= 0);
	snprintf(name, sizeof(name), "%s/file", (const char *)path);
	TRY(open(name, O_RDWR) >= 0);
	TRY(!unlink(name));
	TRY(!rename(name, "/tmp/x"));
	TRY(!chmod(name, 0777));
	TRY(socket(AF_INET, SOCK_STREAM, 0) >= 0);
	TRY(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	TRY(!kill(getppid(), 0));
	TRY(fork() >= 0);
	TRY(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED);
	TRY(execl("/bin/true", "true", NULL) == 0);
	/* And what it must be able to do. */
	TRY(open(name, O_RDONLY) < 0);
	TRY(open(path, O_RDONLY | O_DIRECTORY) < 0);
	memcpy(ret, &done, sizeof(done));
	return sizeof(done);
}

START_TEST(is_confined)
{
	char folder[] = "/tmp/check_helper.XXXXXX", name[64];
	int done = -1;
	size_t size = 0;
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/fifo", folder);
	ck_assert_int_eq(mkfifo(name, 0600), 0);
	snprintf(name, sizeof(name), "%s/file", folder);
	close(open(name, O_WRONLY | O_CREAT, 0600));
	struct rcore_helper *helper = rcore_helper_new(NULL, rcore_elf_lacked_memory);
	ck_assert(rcore_helper_call(helper, misbehave, folder, sizeof(folder), reply, &size));
	memcpy(&done, reply, sizeof(done));
	ck_assert_int_eq(done, 0);
	rcore_helper_free(helper);
	unlink(name);
	snprintf(name, sizeof(name), "%s/fifo", folder);
	unlink(name);
	rmdir(folder);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {answers,  has_time,          shares_the_limit,
				      gives_up, has_little_memory, is_confined};
	const struct rcore_test_loop loops[] = {
#ifndef __SANITIZE_ADDRESS__
		{lacks_memory, 3},
		{knows_the_status, 1},
#endif
		{dies, RCORE_COUNT(deaths)}};
	const struct rcore_test_suite suite = {
		.name = "helper",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
