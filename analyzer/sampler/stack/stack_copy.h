/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_STACK_COPY_H
#define RCORE_SAMPLER_STACK_COPY_H

#include "sampler/bpf/record.h"
#include "target/live/live.h"

/*
 * Memory for unwinding a stack that the BPF program has copied: the copy, and
 * the running process for code and everything else. The process has run since
 * the copy was made, so what is near the copied stack, but not in it, is not
 * read from the process: it would be of another moment.
 */
struct rcore_stack_copy {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_memory *below;
	const struct rcore_live *live;
	/* The parts of one record; all empty: there is none. */
	struct rcore_stack_part {
		uint64_t start;
		size_t size;
		const uint8_t *bytes;
	} parts[RCORE_BPF_PARTS];
};

/* All reads go to `below` until set() is called. */
void rcore_stack_copy_init(struct rcore_stack_copy *copy, struct rcore_memory *below,
			   const struct rcore_live *live);

/*
 * Sets the copy to that of a record, which must outlive it; NULL: none. Returns
 * false if the record has none.
 */
bool rcore_stack_copy_set(struct rcore_stack_copy *copy, const struct rcore_bpf_record *record);

#endif
