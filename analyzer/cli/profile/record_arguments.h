/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORD_ARGUMENTS_H
#define RCORE_CLI_RECORD_ARGUMENTS_H

/*
 * cli/profile/ has `rcore record`, `rcore top` and `rcore report`. Start with
 * record.c.
 */

#include "command/profile_output.h"
#include "sampler/bpf/engine.h"

/* --ebpf. If it is not given, --system decides. */
enum rcore_ebpf {
	RCORE_EBPF_UNSAID = -1,
	RCORE_EBPF_NO,
	RCORE_EBPF_AUTO,
	RCORE_EBPF_REQUIRE,
};

/* The options of `rcore record`. */
struct rcore_record_arguments {
	int pid, ebpf; /* enum rcore_ebpf */
	bool children, system, native, kernel, off_cpu;
	struct rcore_strings events;
	size_t rate, fiber_rate, seconds;
	struct rcore_strings labels, command;
	const char *recognizers;
	struct rcore_profile_arguments profile;
};

extern const struct rcore_record_arguments rcore_record_defaults;
extern const struct rcore_option rcore_record_options[];

/* Returns whether each event is recorded, so that there is no rate. */
bool rcore_record_is_of_events(const struct rcore_record_arguments *asked);

/* Returns whether BPF may be used to sample, or must be. */
enum rcore_ebpf rcore_record_ebpf(const struct rcore_record_arguments *asked);

/* Returns how often to sample. */
size_t rcore_record_rate(const struct rcore_record_arguments *asked, bool has_bpf);

/*
 * Checks that the options fit together; `how` is what rcore_record_events()
 * made of them. Error: USAGE.
 */
struct rcore_error *rcore_record_check(const struct rcore_record_arguments *asked,
				       const struct rcore_bpf_options *how);

#endif
