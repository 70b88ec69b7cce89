/* SPDX-License-Identifier: MIT */
#include "target/live/live_priority.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Any other policy was set on purpose. The flag may be left from an earlier
 * stop.
 */
static bool is_plain(int policy)
{
	policy &= ~SCHED_RESET_ON_FORK;
	return policy == SCHED_OTHER || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

static struct sched_param lowest(void)
{
	return (struct sched_param){.sched_priority = sched_get_priority_min(SCHED_FIFO)};
}

void rcore_priority_attributes(pthread_attr_t *ret)
{
	const struct sched_param priority = lowest();
	pthread_attr_init(ret);
	pthread_attr_setinheritsched(ret, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(ret, SCHED_FIFO);
	pthread_attr_setschedparam(ret, &priority);
}

void rcore_priority_raise(struct rcore_priority *ret)
{
	const struct sched_param priority = lowest();
	*ret = (struct rcore_priority){.tid = (int)syscall(SYS_gettid),
				       .policy = sched_getscheduler(0)};
	ret->is_set = is_plain(ret->policy) &&
		      !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
}

void rcore_priority_restore(struct rcore_priority *priority)
{
	struct sched_param none = {0};
	/* Only a privileged thread may clear the flag. */
	if (priority->is_set && sched_setscheduler(priority->tid, priority->policy, &none))
		sched_setscheduler(priority->tid, priority->policy | SCHED_RESET_ON_FORK,
				   &none);
	priority->is_set = false;
}
