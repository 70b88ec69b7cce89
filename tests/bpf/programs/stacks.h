/* SPDX-License-Identifier: MIT */

/* write(2) to this file descriptor is an event. */
enum { MARKED = 99, WRITE = 1, FRAMES = 96, LABEL = 32, NUMBER = 16 };

struct event {
	char number[NUMBER]; /* the first bytes that are written */
	__u64 time;          /* CLOCK_MONOTONIC */
	__s64 found;         /* what rcore_ruby_stack() returned */
	__u32 depth;
	__s32 context_length; /* -1: none */
	char context[LABEL];
	__s32 lengths[FRAMES]; /* 0: not shown; -1: failed */
	char labels[FRAMES][LABEL];
};
