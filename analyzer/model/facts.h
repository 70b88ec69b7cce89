/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_FACTS_H
#define RCORE_MODEL_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct rcore_gem {
	const char *name, *version;
};

/* What the VM as a whole is up to. */
struct rcore_facts {
	/* RUBY_DESCRIPTION, which tells what is on ("+YJIT", "+PRISM"); NULL: not known. */
	const char *description;
	const char *jit; /* "YJIT", "RJIT", "MJIT", "ZJIT"; NULL: none, or not known */
	/* The garbage collector: "marking", "sweeping", "compacting", or "none" between two runs;
	 * NULL: not known. Lazy phases come in steps: it is at work just now only with `in_gc`. */
	const char *gc_phase;
	bool in_gc;
	bool has_argv;
	const char **argv; /* ARGV, as it is now */
	size_t argc;
	const char *rubyopt;    /* of the environment; NULL: none */
	struct rcore_gem *gems; /* that are loaded, by name */
	size_t gem_count;
	const char *problem; /* what of these could not be read, the first of them */
};

#endif
