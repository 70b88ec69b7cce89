/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_FACTS_H
#define RCORE_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct rcore_gem {
	const char *name, *version;
};

/* What the VM as a whole was doing. */
struct rcore_facts {
	/* RUBY_DESCRIPTION, with "+YJIT", "+PRISM"; NULL: unknown. */
	const char *description;
	/* "YJIT", "RJIT", "MJIT", "ZJIT"; NULL: none or unknown. */
	const char *jit;
	/*
	 * The state of the garbage collector: "marking", "sweeping",
	 * "compacting", or "none" between two collections. NULL: unknown. Lazy
	 * phases proceed in steps: the collector runs at this very moment only
	 * if `in_gc` is set.
	 */
	const char *gc_phase;
	bool in_gc;
	bool has_argv;
	const char **argv; /* ARGV, as the program has changed it */
	size_t argc;
	const char *rubyopt;    /* RUBYOPT of the environment; NULL: none */
	struct rcore_gem *gems; /* loaded gems, by name */
	size_t gem_count;
	/* The first of these that could not be read, and why. */
	const char *problem;
};

#endif
