/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_EXCEPTION_H
#define RCORE_MODEL_EXCEPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An entry of an exception's backtrace, as this Ruby prints it. */
struct rcore_backtrace_location {
	const char *path, *label; /* NULL: unknown */
	int line;                 /* 0: none */
	/* If the backtrace is of Strings: the whole line, the others NULL. */
	const char *text;
	const char *problem;
};

/* An exception that a fiber was handling ($!), with its causes. */
struct rcore_exception {
	uint64_t object; /* VALUE */
	const char *class_name;
	/*
	 * What Exception#message returns if its class does not override it. It
	 * may have many lines.
	 */
	const char *message;
	/*
	 * Index of the rescue or ensure frame that holds it; -1: only
	 * ec->errinfo.
	 */
	int frame;
	struct rcore_backtrace_location *backtrace; /* innermost first */
	size_t location_count;
	size_t left_out;               /* locations past the limit */
	struct rcore_exception *cause; /* NULL: none */
	/* The chain of causes has a cycle. */
	bool is_ring;
	const char *problem;
};

#endif
