/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_PROFILE_H
#define RCORE_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/intern.h"

/*
 * profile/ is plain data about a period of time: samples, the stacks in them,
 * and the file that stores them. It knows no target, and includes base/, model/
 * and redact/ only. Start here.
 *
 * Whatever repeats is stored once, in a table, and is referred to by its number
 * there. In each table, number 0 is the entry for "none" or "unknown". An entry
 * refers only to entries of lower tables (strings, functions, frames, nodes)
 * or, in the tree of stacks, to lower numbers, so there are no cycles.
 */

enum rcore_function_kind {
	RCORE_FUNCTION_NONE,   /* only number 0 */
	RCORE_FUNCTION_RUBY,   /* runs an iseq */
	RCORE_FUNCTION_C,      /* a method or block written in C */
	RCORE_FUNCTION_NATIVE, /* machine code, of a file's symbols */
	RCORE_FUNCTION_GC,     /* the garbage collector */
	/*
	 * No code: a note of rcore's own, such as "(inner frames not read)" or
	 * the group of --by.
	 */
	RCORE_FUNCTION_NOTE,
	RCORE_FUNCTION_KERNEL, /* of the kernel, or of a module of it */
	RCORE_FUNCTION_KINDS,
};

/* The path of the kernel's functions, as perf has it. */
#define RCORE_PROFILE_KERNEL "[kernel.kallsyms]"

struct rcore_profile_function {
	uint32_t kind; /* enum rcore_function_kind */
	/* String: "Foo#bar", "block in Foo.bar", "memcpy". */
	uint32_t label;
	/*
	 * String: path of the source file. NATIVE without one: the module.
	 * KERNEL: RCORE_PROFILE_KERNEL, or the module, "[nf_tables]".
	 */
	uint32_t path;
	uint32_t first_line; /* of its definition; 0: unknown */
	/*
	 * NATIVE: the function's address in its file, as addr2line expects it.
	 * It distinguishes two functions of one name. Otherwise 0.
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

/*
 * The title of a process changes while it runs (setproctitle), so it is not
 * part of this: see rcore_profile_set_title().
 */
struct rcore_profile_process {
	uint32_t pid;
	/* The kernel reuses ids: 1 for the first process with this one. */
	uint32_t use;
};

struct rcore_profile_thread {
	uint32_t pid, tid; /* 0: unknown */
	uint32_t id;       /* string: "T3" */
	uint32_t name;     /* string: Thread#name */
	uint32_t process;
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

/* The state of a sample's thread or fiber, and what it waits for. */
struct rcore_profile_state {
	uint32_t kind; /* enum rcore_sample_state */
	uint32_t wait; /* string: rcore_wait_kind_name(), "mutex" */
	/*
	 * String: the object, as written by rcore_wait_write(): "Mutex 0x7f12
	 * held by T3". It must not contain what changes with each sample,
	 * because the table keeps each one.
	 */
	uint32_t detail;
};

/* A sample refers to a set of these: the fiber's context. */
struct rcore_profile_label {
	uint32_t key; /* string */
	/*
	 * String: as its inspect prints it, except a String without its quotes
	 * and a Symbol without its colon.
	 */
	uint32_t value;
};

struct rcore_profile_sample {
	uint64_t time; /* nanoseconds since the recording began */
	uint64_t wall; /* nanoseconds that it represents */
	uint64_t cpu;  /* nanoseconds of these on a processor */
	uint32_t node; /* innermost frame */
	uint32_t thread, fiber, state;
	uint32_t labels; /* number of a set */
	/*
	 * How many samples of the sampler this one represents; 1 unless samples
	 * were added up.
	 */
	uint32_t count;
};

enum {
	/* Bytes of a string. A longer one is cut off with "...". */
	RCORE_PROFILE_TEXT_MAX = 4096,
	RCORE_PROFILE_LABELS_MAX = 256, /* of a set */
	/* Bytes of tables after which a recording starts new ones. */
	RCORE_PROFILE_MEMORY_MAX = 16 << 20,
};

struct rcore_profile_samples {
	struct rcore_profile_sample *items;
	size_t count, capacity;
};

struct rcore_profile {
	struct rcore_bytes_set strings;
	struct rcore_record_set functions, frames, nodes, processes, threads, fibers, states;
	/* What may change in a process, by its number; private. */
	struct rcore_profile_changes {
		struct rcore_profile_change {
			uint32_t title; /* string, the last one */
			uint64_t ended; /* 0: not known to have ended */
		} * items;
		size_t count;
	} changes;
	/* Of struct rcore_profile_label, by key. */
	struct rcore_bytes_set labels;
	struct rcore_profile_samples samples;
	/*
	 * Increases when the tables are emptied. Numbers of an older generation
	 * are invalid.
	 */
	uint32_t generation;
	/* Something could not be added; its number is 0 instead. */
	bool no_memory;
};

/* Returns NULL if memory is short. */
struct rcore_profile *rcore_profile_new(void);
void rcore_profile_free(struct rcore_profile *profile); /* NULL-safe */

/* Empties all tables and the samples, and starts a new generation. */
void rcore_profile_clear(struct rcore_profile *profile);

/* Returns how many bytes of memory its tables use. */
size_t rcore_profile_memory(const struct rcore_profile *profile);

/*
 * These return the number of what is added, or of its equal. If memory is
 * short, they return 0 and set `no_memory`, which the caller has to check from
 * time to time.
 */
/* NULL: 0. */
uint32_t rcore_profile_string(struct rcore_profile *profile, const char *text);
uint32_t rcore_profile_function(struct rcore_profile *profile,
				const struct rcore_profile_function *function);
uint32_t rcore_profile_frame(struct rcore_profile *profile, uint32_t function, uint32_t line);
uint32_t rcore_profile_node(struct rcore_profile *profile, uint32_t parent, uint32_t frame);
uint32_t rcore_profile_process(struct rcore_profile *profile,
			       const struct rcore_profile_process *process);
uint32_t rcore_profile_thread(struct rcore_profile *profile,
			      const struct rcore_profile_thread *thread);
uint32_t rcore_profile_fiber(struct rcore_profile *profile,
			     const struct rcore_profile_fiber *fiber);
uint32_t rcore_profile_state(struct rcore_profile *profile,
			     const struct rcore_profile_state *state);
/*
 * `labels` may have any order. Of two with one key, the first is kept; at most
 * RCORE_PROFILE_LABELS_MAX are kept.
 */
uint32_t rcore_profile_labels(struct rcore_profile *profile,
			      const struct rcore_profile_label *labels, size_t count);

/* Sets the title or command line of a process; `title` is a string. */
void rcore_profile_set_title(struct rcore_profile *profile, uint32_t process, uint32_t title);
/* Returns it as a string; 0: unknown. */
uint32_t rcore_profile_title(const struct rcore_profile *profile, uint32_t process);

/*
 * Sets when a process ended. `time` is in nanoseconds since the recording
 * began, and at least 1.
 */
void rcore_profile_end_process(struct rcore_profile *profile, uint32_t process, uint64_t time);
/* Returns that time; 0: it has not ended, or that is not known. */
uint64_t rcore_profile_ended(const struct rcore_profile *profile, uint32_t process);

void rcore_profile_sample(struct rcore_profile *profile,
			  const struct rcore_profile_sample *sample);

/*
 * Writes the id of a process: "4242", or "4242 (2)" for the second one with
 * that id.
 */
enum { RCORE_PROFILE_PROCESS_ID_SIZE = 32 };
const char *rcore_profile_process_id(const struct rcore_profile_process *process,
				     char ret[RCORE_PROFILE_PROCESS_ID_SIZE]);

/* These return the element with a number, which must be one of this profile. */
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
static inline const struct rcore_profile_process *
rcore_profile_process_at(const struct rcore_profile *profile, uint32_t number)
{
	return (const struct rcore_profile_process *)profile->processes.items + number;
}
RCORE_PROFILE_GETTER(fiber)
RCORE_PROFILE_GETTER(state)

/* Returns a constant name, such as "running". */
const char *rcore_sample_state_name(uint32_t state);
/* Returns a constant name: "ruby", "c", "native", "gc", "note",
 * "kernel". */
const char *rcore_function_kind_name(uint32_t kind);

#endif
