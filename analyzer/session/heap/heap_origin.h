/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_ORIGIN_H
#define RCORE_SESSION_HEAP_ORIGIN_H

#include "session/heap/heap_names.h"

/* What shows of which program a core is, and whether it is an older one. */
struct rcore_heap_origin {
	char series[16]; /* "3.4" */
	/* $0, in the namer's arena; NULL: unknown. */
	const char *program;
	int pid; /* 0: unknown */
	/* What AT_RANDOM points to: drawn when the program was started. */
	bool is_drawn;
	unsigned char drawn[16];
	/* The number of the newest symbol, which only grows; 0: unknown. */
	uint64_t last_symbol;
};

/* Reads what can be read. Error: NO_MEMORY. */
struct rcore_error *rcore_heap_origin(struct rcore_heap_namer *namer,
				      struct rcore_heap_origin *ret);

/*
 * Says why two cores should not be compared: *ret is NULL, or one line about
 * the second one, in the namer's arena. Numbers in $0 do not count, because
 * servers write there how busy they are. The order is known for cores of one
 * process, if it made a symbol meanwhile. Error: NO_MEMORY.
 */
struct rcore_error *rcore_heap_doubt(struct rcore_heap_namer *namer,
				     const struct rcore_heap_origin *first,
				     const struct rcore_heap_origin *second, const char **ret);

#endif
