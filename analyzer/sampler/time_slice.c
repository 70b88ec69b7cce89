/* SPDX-License-Identifier: MIT */
#include <linux/sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampler/sampling_private.h"

/*
 * struct sched_attr of linux/sched/types.h. In older kernels, that header and
 * one of glibc define the same struct.
 */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * From Linux 6.6 on, a task that wakes must wait until the one that runs has
 * used its slice, some milliseconds, or waits itself. If that is the thread to
 * be sampled, samples come when it lets go of the processor, and not at random
 * times. Probably this is one reason why CPU times of methods are wrong on a
 * busy machine (docs/record.md). A task with a shorter slice need not wait
 * (RUN_TO_PARITY and PREEMPT_SHORT of kernel/sched/features.h, Linux 6.12).
 * Earlier kernels ignore the field. It needs no privilege.
 */
void rcore_sampling_shorten_slice(void)
{
	enum { SLICE_NS = 100000 /* the shortest */ };
	struct attributes attributes = {0};
	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) ||
	    attributes.policy != SCHED_NORMAL)
		return;
	attributes.size = sizeof(attributes);
	attributes.runtime = SLICE_NS;
	attributes.flags |= SCHED_FLAG_RESET_ON_FORK;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}
