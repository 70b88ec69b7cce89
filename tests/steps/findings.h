/* SPDX-License-Identifier: MIT */
#ifndef STEPS_FINDINGS_H
#define STEPS_FINDINGS_H

#include "rcore.h"

/* What is wrong at a state. */
struct finding {
	const char *name; /* of its class */
	uint64_t states;  /* that have it */
	uint64_t last;    /* of them, and one */
	size_t shown;
	char *places[16]; /* where it was shown: innermost functions */
};

struct findings {
	struct {
		struct finding *items;
		size_t count, capacity;
	} classes;
	size_t examples; /* to be shown of each class, of different functions */
	/* The present state. */
	uint64_t at;
	int tid;
	const struct rcore_snapshot *snapshot;
	bool excused; /* because a frame may be being filled */
};

/* A class in parentheses is reported, but is not a fault. */
__attribute__((format(printf, 3, 4))) void finding(struct findings *findings, const char *name,
						   const char *format, ...);

/* The fiber that a kernel thread runs; NULL: none. */
const struct rcore_fiber *fiber_of(const struct rcore_snapshot *snapshot, int tid);

/* Prints the stacks of the kernel thread that moved. */
void print_stacks(const struct rcore_snapshot *snapshot, int tid);

/* Prints how many states have a finding of each class. Returns the sum. */
uint64_t findings_sum(const struct findings *findings);
void findings_deinit(struct findings *findings);

#endif
