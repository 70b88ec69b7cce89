/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_ENGINE_H
#define RCORE_SAMPLER_BPF_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sampler/bpf/record.h"

/*
 * sampler/bpf/ copies stacks in the kernel, while their threads run.
 * sample.bpf.c is the BPF program; loader.c loads it and reads its records.
 * Both need clang, bpftool and libbpf when rcore is built. Without these,
 * missing.c takes the place of loader.c. Start with record.h. This folder may
 * include what sampler/ may include.
 *
 * Only the rcore command links it, and passes its functions to
 * rcore_sampling_run() as a struct rcore_bpf_engine. So a debugger that loads
 * librcore does not need libbpf.
 */

struct rcore_bpf;

/* Counts since open(). */
struct rcore_bpf_counts {
	uint64_t overruns; /* records lost because the ring buffer was full */
	uint64_t unread;   /* stacks whose memory was not present */
};

/* What the program records. */
enum rcore_bpf_event {
	RCORE_BPF_EVENT_CPU,       /* SAMPLE: threads on a processor */
	RCORE_BPF_EVENT_OFF_CPU,   /* LEFT, RETURNED, ENDED: each switch */
	RCORE_BPF_EVENT_CALLS,     /* CALLED: each system call */
	RCORE_BPF_EVENT_FUNCTIONS, /* ENTERED: each call of a function */
};

enum { RCORE_BPF_FUNCTIONS = 64 };

/* A function of a program or library, for a uprobe. */
struct rcore_bpf_function {
	/* A path, or the name of a library in the linker's folders. */
	const char *file;
	const char *name; /* in its symbol table, .symtab or .dynsym */
};

struct rcore_bpf_options {
	enum rcore_bpf_event event;
	double rate; /* of EVENT_CPU: samples of each processor per second */
	bool native; /* records have registers and machine stacks */
	bool kernel; /* records have frames of the kernel */
	/*
	 * Of EVENT_CALLS: a bit for each system call, by its number, and one
	 * for each that counts only if its result is not 0.
	 */
	uint8_t calls[RCORE_BPF_CALLS / 8], starters[RCORE_BPF_CALLS / 8];
	/* Of EVENT_FUNCTIONS. */
	struct rcore_bpf_function functions[RCORE_BPF_FUNCTIONS];
	size_t function_count;
};

struct rcore_bpf_engine {
	/*
	 * Loads the program of an event. It runs at each event of this kind
	 * until close(). Errors: UNSUPPORTED if rcore was built without BPF,
	 * the kernel lacks it or does not allow it, or its verifier refuses the
	 * program; OS if a file or function does not exist; NO_MEMORY.
	 */
	struct rcore_error *(*open)(const struct rcore_bpf_options *options,
				    struct rcore_bpf **ret);
	/*
	 * Adds a process to those that are sampled, or replaces what the
	 * program knows about it. `pid` is that of rcore's pid namespace;
	 * `process` is copied. Errors: LIMIT (too many processes), OS.
	 */
	struct rcore_error *(*add)(struct rcore_bpf *bpf, int pid,
				   const struct rcore_bpf_process *process);
	void (*remove)(struct rcore_bpf *bpf, int pid);
	/*
	 * Calls `each` for all records in the ring buffer, without waiting for
	 * more. It does not end while records come faster than `each` takes
	 * them. A record is valid until `each` returns, and its counts fit into
	 * its `size` in bytes, which is RCORE_BPF_HEAD if it has no stack.
	 * `each` returns false to stop; that record and those before it are
	 * then consumed.
	 */
	void (*consume)(struct rcore_bpf *bpf,
			bool (*each)(const struct rcore_bpf_record *record, size_t size,
				     void *context),
			void *context);
	/*
	 * Waits until there is a record, or until a time (nanoseconds of
	 * CLOCK_MONOTONIC), or a signal. From the first call on, each record
	 * that has a stack wakes rcore.
	 */
	void (*wait)(struct rcore_bpf *bpf, uint64_t until);
	void (*counts)(struct rcore_bpf *bpf, struct rcore_bpf_counts *ret);
	/* Unloads the program. NULL-safe. */
	void (*close)(struct rcore_bpf *bpf);
};

extern const struct rcore_bpf_engine rcore_bpf_engine;

#endif
