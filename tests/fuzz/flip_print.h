/* SPDX-License-Identifier: MIT */
#ifndef FLIP_PRINT_H
#define FLIP_PRINT_H

#include "rcore.h"

/* The objects that a snapshot knows, to be printed whenever words of their memory were flipped: what they
 * show may differ, but must be text within bounds. */
struct flip_values {
	uint64_t *items;
	size_t count, capacity;
};

/* Threads, fibers, and the self of each frame; each once. */
void flip_values_init(struct flip_values *values, const struct rcore_snapshot *snapshot);
void flip_values_deinit(struct flip_values *values);

/* Prints them all; gives what is wrong with what was printed, or NULL. */
const char *flip_print(const struct flip_values *values, struct rcore_session *session);

#endif
