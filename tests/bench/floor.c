/* SPDX-License-Identifier: MIT */

/*
 * The least that a sampler can cost: sleeps for random times around a rate, and
 * then makes the one process_vm_readv(2) and the one read of schedstat that
 * `rcore record` makes for a stack of 27 frames. It ignores what it reads.
 *
 *	floor PID RATE SECONDS ADDRESS
 *
 * At ADDRESS, the process has memory that can be read. Prints the nanoseconds
 * on a processor for each tick, first of a program that only sleeps, then of
 * one that also reads.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000, PAGE = 4096 };

/*
 * The sizes of a Ractor, the GVL, the collector, a thread, its frames, its EC
 * and its values, and of frames and values again.
 */
enum { COUNT = 9 };

static const struct {
	int page, size;
} ranges[COUNT] = {{0, 344}, {0, 24},   {1, 8},    {2, 376}, {3, 2816},
		   {0, 56},  {4, 2080}, {3, 2816}, {4, 2080}};

static int64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(int64_t when)
{
	const struct timespec until = {when / SECOND, when % SECOND};
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* Returns nanoseconds on a processor for each tick. */
static double measure(double rate, double seconds, int pid, const struct iovec *local,
		      const struct iovec *remote, int schedstat)
{
	int64_t next = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	int ticks = (int)(rate * seconds);
	char text[64];
	for (int i = 0; i < ticks; i++) {
		next += (int64_t)((0.5 + drand48()) * SECOND / rate);
		sleep_until(next);
		if (local && (process_vm_readv(pid, local, COUNT, remote, COUNT, 0) < 0 ||
			      pread(schedstat, text, sizeof(text), 0) < 0)) {
			perror("floor");
			exit(1);
		}
	}
	return (double)(now(CLOCK_PROCESS_CPUTIME_ID) - cpu) / ticks;
}

int main(int argc, char **argv)
{
	struct iovec local[COUNT], remote[COUNT];
	char path[64];
	if (argc != 5)
		return 64;
	int pid = atoi(argv[1]);
	uint64_t address = strtoull(argv[4], NULL, 16);
	for (int i = 0; i < COUNT; i++) {
		local[i] = (struct iovec){calloc(1, (size_t)ranges[i].size),
					  (size_t)ranges[i].size};
		remote[i] = (struct iovec){
			(void *)(uintptr_t)(address + (uint64_t)ranges[i].page * PAGE),
			(size_t)ranges[i].size};
	}
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, pid);
	int schedstat = open(path, O_RDONLY);
	double rate = atof(argv[2]), seconds = atof(argv[3]);
	prctl(PR_SET_TIMERSLACK, 1000ul);
	double sleeps = measure(rate, seconds / 3, pid, NULL, NULL, schedstat);
	printf("%.0f %.0f\n", sleeps, measure(rate, seconds, pid, local, remote, schedstat));
	return 0;
}
