/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_ORIGIN_H
#define RCORE_SESSION_HEAP_ORIGIN_H

#include "session/heap/heap_names.h"

/* Shows which program a core is of, and which of two cores is the older one. */
struct rcore_heap_origin {
	char series[16]; /* "3.4" */
	/* $0, in the namer's arena; NULL: unknown. */
	const char *program;
	int pid; /* 0: unknown */
	/* The bytes at AT_RANDOM, which the kernel draws for each program. */
	bool is_drawn;
	unsigned char drawn[16];
	/* Number of the newest symbol. It only grows. 0: unknown. */
	uint64_t last_symbol;
};

/* Reads what can be read. Error: NO_MEMORY. */
struct rcore_error *rcore_heap_origin(struct rcore_heap_namer *namer,
				      struct rcore_heap_origin *ret);

/*
 * Finds why two cores should not be compared: *ret is NULL, or one line about
 * the second core, in the namer's arena. Ignores digits in $0, because servers
 * write there how busy they are. Only cores of one process have a known order,
 * and only if it made a symbol in between. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_doubt(struct rcore_heap_namer *namer,
				     const struct rcore_heap_origin *first,
				     const struct rcore_heap_origin *second, const char **ret);

#endif
