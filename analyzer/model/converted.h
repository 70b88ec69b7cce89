/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_CONVERTED_H
#define RCORE_MODEL_CONVERTED_H

#include <stdbool.h>

/* A thread in the core that rcore_convert_fibers() writes. */
struct rcore_converted {
	int tid;       /* its LWP; 0: a parked fiber that could not become a thread */
	int fiber;     /* index into snapshot->fibers of the fiber that it shows */
	bool is_added; /* false: a kernel thread of the original core, which runs the fiber */
};

#endif
