/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_EXCEPTION_H
#define RCORE_MODEL_EXCEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry of a backtrace. */
struct rcore_backtrace_location {
	const char *path, *label; /* as this Ruby prints them; NULL: not known */
	int line;                 /* 0: none */
	const char *text; /* of a backtrace of Strings: the whole line, the others are NULL */
	const char *problem;
};

struct rcore_exception {
	uint64_t object; /* VALUE */
	const char *class_name;
	/* What Exception#message gives where its class has none of its own. May have many lines. */
	const char *message;
	int frame; /* index of the rescue or ensure frame that has it; -1: ec->errinfo alone */
	struct rcore_backtrace_location *backtrace; /* innermost first */
	size_t location_count;
	size_t left_out; /* locations past the limit */
	struct rcore_exception *cause;
	bool is_ring; /* its cause is one that it has caused itself */
	const char *problem;
};

#endif
