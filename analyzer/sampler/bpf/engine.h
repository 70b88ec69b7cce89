/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_ENGINE_H
#define RCORE_SAMPLER_BPF_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "sampler/bpf/record.h"

/*
 * sampler/bpf/ copies stacks in the kernel, at the moment at which their
 * threads run: sample.bpf.c is the program, loader.c puts it into the kernel
 * and reads its records. Both need clang, bpftool and libbpf when rcore is
 * built; without them, missing.c stands in. It may include what sampler/ may.
 * Start with record.h.
 *
 * Only the command links it, and gives rcore_sampling_run() its functions, so
 * that no debugger that loads librcore needs libbpf.
 */

struct rcore_bpf;

struct rcore_bpf_counts {
	uint64_t overruns; /* records for which there was no room */
	uint64_t unread;   /* stacks whose memory was not there */
};

struct rcore_bpf_engine {
	/*
	 * Starts to sample all processors `rate` times a second. Errors:
	 * UNSUPPORTED if rcore was built without it, the kernel does not allow
	 * it, or its verifier refuses the program; NO_MEMORY.
	 */
	struct rcore_error *(*open)(double rate, struct rcore_bpf **ret);
	/*
	 * Adds a process, or replaces what the program knows of it. Errors:
	 * LIMIT, OS.
	 */
	struct rcore_error *(*add)(struct rcore_bpf *bpf, int pid,
				   const struct rcore_bpf_process *process);
	void (*remove)(struct rcore_bpf *bpf, int pid);
	/*
	 * Calls `each` for all records that have arrived. `each` returns false
	 * to stop.
	 */
	void (*consume)(struct rcore_bpf *bpf,
			bool (*each)(const struct rcore_bpf_record *record, size_t size,
				     void *context),
			void *context);
	void (*counts)(struct rcore_bpf *bpf, struct rcore_bpf_counts *ret);
	void (*close)(struct rcore_bpf *bpf); /* NULL-safe */
};

extern const struct rcore_bpf_engine rcore_bpf_engine;

#endif
