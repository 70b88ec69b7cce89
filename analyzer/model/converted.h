/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_CONVERTED_H
#define RCORE_MODEL_CONVERTED_H

#include <stdbool.h>

/* A thread in the core that rcore_convert_fibers() writes. */
struct rcore_converted {
	/* Its LWP; 0: a parked fiber that could not become a thread. */
	int tid;
	/* Index into snapshot->fibers of the fiber that it shows. */
	int fiber;
	/* False: a kernel thread of the original core, which runs the fiber. */
	bool is_added;
};

#endif
