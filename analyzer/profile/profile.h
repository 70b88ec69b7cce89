/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_PROFILE_H
#define RCORE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/intern.h"

/*
 * profile/ is plain data of a stretch of time: samples, the stacks that they
 * saw, and the file that keeps them. It knows no target. Start here.
 *
 * Whatever repeats stands once in a table, and is named by its number there. In
 * each table number 0 is the entry for "none" or "unknown", and an entry only
 * refers to entries of lower tables (strings, functions, frames, nodes) or, in
 * the tree of stacks, to lower numbers: nothing has a cycle.
 */

enum rcore_function_kind {
	RCORE_FUNCTION_NONE,   /* number 0 alone */
	RCORE_FUNCTION_RUBY,   /* runs an iseq */
	RCORE_FUNCTION_C,      /* a method or block written in C */
	RCORE_FUNCTION_NATIVE, /* machine code, of a file's symbols */
	RCORE_FUNCTION_GC,     /* the garbage collector */
	/*
	 * No code: rcore's own words, such as "(inner frames not read)" or the
	 * group of --by.
	 */
	RCORE_FUNCTION_NOTE,
	RCORE_FUNCTION_KINDS,
};

struct rcore_profile_function {
	uint32_t kind; /* enum rcore_function_kind */
	/* String: "Foo#bar", "block in Foo.bar", "memcpy". */
	uint32_t label;
	/* String: of the source; of NATIVE without one, the module. */
	uint32_t path;
	uint32_t first_line; /* of its definition; 0: unknown */
	/*
	 * NATIVE: of the function in its file, as addr2line takes it. Two
	 * functions of one name differ by it. Otherwise 0.
	 */
	uint64_t address;
};

struct rcore_profile_frame {
	uint32_t function;
	uint32_t line; /* 0: unknown */
};

/* A frame on the stack of `parent`. Node 0 is the empty stack. */
struct rcore_profile_node {
	uint32_t parent; /* node, the caller; a lower number */
	uint32_t frame;
};

struct rcore_profile_thread {
	uint32_t pid, tid; /* 0: unknown */
	uint32_t id;       /* string: "T3" */
	uint32_t name;     /* string: Thread#name */
};

struct rcore_profile_fiber {
	uint32_t thread;
	uint32_t id; /* string: "T3.F1" */
};

enum rcore_sample_state {
	RCORE_SAMPLE_UNKNOWN,
	/* Its thread holds the GVL, or runs native code without it. */
	RCORE_SAMPLE_RUNNING,
	RCORE_SAMPLE_GVL,     /* its thread waits for the GVL */
	RCORE_SAMPLE_BLOCKED, /* its thread waits for something else */
	RCORE_SAMPLE_GC,      /* its thread collects garbage */
	RCORE_SAMPLE_PARKED,  /* a fiber that no thread runs */
	RCORE_SAMPLE_STATES,
};

/* What a sample's thread or fiber did, and what it waited for. */
struct rcore_profile_state {
	uint32_t kind; /* enum rcore_sample_state */
	uint32_t wait; /* string: rcore_wait_kind_name(), "mutex" */
	/*
	 * string: the object, as rcore_wait_write() has it: "Mutex 0x7f12 held
	 * by T3". Keep what changes with each sample out of it: each one stays
	 * in the table.
	 */
	uint32_t detail;
};

/* A set of these belongs to a sample: the fiber's context. */
struct rcore_profile_label {
	uint32_t key; /* string */
	/*
	 * String: as its inspect prints it, but a String without its quotes and
	 * a Symbol without its colon.
	 */
	uint32_t value;
};

struct rcore_profile_sample {
	uint64_t time; /* nanoseconds since the recording began */
	uint64_t wall; /* nanoseconds that it stands for */
	uint64_t cpu;  /* nanoseconds of them on a processor */
	uint32_t node; /* innermost frame */
	uint32_t thread, fiber, state;
	uint32_t labels; /* number of a set */
	/*
	 * How many samples of an engine it stands for; 1 unless they were added
	 * up.
	 */
	uint32_t count;
};

enum {
	/* Bytes of a string; a longer one is cut off with "...". */
	RCORE_PROFILE_TEXT_MAX = 4096,
	RCORE_PROFILE_LABELS_MAX = 256, /* of a set */
	/* Bytes of tables from which a recording begins new ones. */
	RCORE_PROFILE_MEMORY_MAX = 16 << 20,
};

struct rcore_profile_samples {
	struct rcore_profile_sample *items;
	size_t count, capacity;
};

struct rcore_profile {
	struct rcore_bytes_set strings;
	struct rcore_record_set functions, frames, nodes, threads, fibers, states;
	/* Of struct rcore_profile_label, by key. */
	struct rcore_bytes_set labels;
	struct rcore_profile_samples samples;
	/*
	 * Grows when the tables are emptied: numbers of an older generation
	 * mean nothing.
	 */
	uint32_t generation;
	/* Something could not be added; it is number 0 instead. */
	bool no_memory;
};

/* NULL: memory is short. */
struct rcore_profile *rcore_profile_new(void);
void rcore_profile_free(struct rcore_profile *profile); /* NULL-safe */

/* Empties all tables and the samples, and begins a new generation. */
void rcore_profile_clear(struct rcore_profile *profile);

/* Bytes of memory in its tables. */
size_t rcore_profile_memory(const struct rcore_profile *profile);

/*
 * Return the number of what is added, or of its equal. If memory is short they
 * return 0 and set `no_memory`, which is to be checked from time to time.
 */
/* NULL: 0. */
uint32_t rcore_profile_string(struct rcore_profile *profile, const char *text);
uint32_t rcore_profile_function(struct rcore_profile *profile,
				const struct rcore_profile_function *function);
uint32_t rcore_profile_frame(struct rcore_profile *profile, uint32_t function, uint32_t line);
uint32_t rcore_profile_node(struct rcore_profile *profile, uint32_t parent, uint32_t frame);
uint32_t rcore_profile_thread(struct rcore_profile *profile,
			      const struct rcore_profile_thread *thread);
uint32_t rcore_profile_fiber(struct rcore_profile *profile,
			     const struct rcore_profile_fiber *fiber);
uint32_t rcore_profile_state(struct rcore_profile *profile,
			     const struct rcore_profile_state *state);
/*
 * In any order; of two with one key the first stays, and of more than
 * RCORE_PROFILE_LABELS_MAX so many.
 */
uint32_t rcore_profile_labels(struct rcore_profile *profile,
			      const struct rcore_profile_label *labels, size_t count);

void rcore_profile_sample(struct rcore_profile *profile,
			  const struct rcore_profile_sample *sample);

/* What has that number, which is one of the profile's own. */
const char *rcore_profile_text(const struct rcore_profile *profile, uint32_t string);
const struct rcore_profile_label *rcore_profile_label_set(const struct rcore_profile *profile,
							  uint32_t labels, size_t *ret_count);

#define RCORE_PROFILE_GETTER(name)                                                           \
	static inline const struct rcore_profile_##name *rcore_profile_##name##_at(          \
		const struct rcore_profile *profile, uint32_t number)                        \
	{                                                                                    \
		return (const struct rcore_profile_##name *)profile->name##s.items + number; \
	}
RCORE_PROFILE_GETTER(function)
RCORE_PROFILE_GETTER(frame)
RCORE_PROFILE_GETTER(node)
RCORE_PROFILE_GETTER(thread)
RCORE_PROFILE_GETTER(fiber)
RCORE_PROFILE_GETTER(state)

/* Returns a name that never changes: "running". */
const char *rcore_sample_state_name(uint32_t state);
/* The same: "ruby", "c", "native", "gc", "note". */
const char *rcore_function_kind_name(uint32_t kind);

#endif
