/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WORK_H
#define RCORE_MODEL_WORK_H

#include <stddef.h>

#include "model/value.h"

/*
 * What a fiber works on: the Rack request that it answers, the job that it
 * runs, the SQL statement that it waits for. A recognizer found it in a Ruby
 * frame (vm/work/recognizers.json); the program needs no gem for it.
 */
struct rcore_work {
	const char *recognizer; /* "Rack": the name of its entry in the table */
	const char *kind;       /* "request", "job", "query" ... */
	int frame;              /* index into fiber->frames */
	/* What was found, such as path="/cart"; at least one. */
	struct rcore_variables fields;
};

/* The outermost first: request, controller action, query. */
struct rcore_works {
	struct rcore_work *items;
	size_t count;
};

#endif
