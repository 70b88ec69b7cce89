/* SPDX-License-Identifier: MIT */
#include "base/second_thread.h"

#include <sched.h>
#include <signal.h>

#include "base/count.h"

bool rcore_has_processors(void)
{
	cpu_set_t set;
	return !sched_getaffinity(0, sizeof(set), &set) && CPU_COUNT(&set) > 1;
}

int rcore_second_thread(pthread_t *ret, const pthread_attr_t *attributes, void *(*run)(void *),
			void *argument)
{
	/* The kernel kills a process whose thread blocks a fault of its own. */
	static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV};
	sigset_t all, mask;
	sigfillset(&all);
	for (size_t i = 0; i < RCORE_COUNT(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, &mask);
	int errnum = pthread_create(ret, attributes, run, argument);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return errnum;
}

struct half {
	rcore_half *work;
	void *context;
	size_t from, to;
};

static void *run(void *argument)
{
	struct half *half = argument;
	half->work(half->context, 1, half->from, half->to);
	return NULL;
}

void rcore_in_halves(size_t middle, size_t count, rcore_half *work, void *context)
{
	struct half second = {work, context, middle, count};
	pthread_t thread;
	bool is_split = middle < count && rcore_has_processors() &&
			!rcore_second_thread(&thread, NULL, run, &second);
	work(context, 0, 0, is_split ? middle : count);
	if (is_split)
		pthread_join(thread, NULL);
}
