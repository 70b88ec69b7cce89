/* SPDX-License-Identifier: MIT */
/*
 * Adds up how long functions of ruby.bpf.h take when a Ruby program writes to
 * file descriptor 99.
 */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <rcore/ruby.bpf.h>

#include "functions.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rcore_ruby_params);
} rubies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rcore_ruby_stack);
} stacks SEC(".maps");

__u64 nanoseconds[FUNCTIONS], calls[FUNCTIONS];
__u32 pid_namespace;
char text[LABEL];

struct pt_regs___x86 {
	long di;
} __attribute__((preserve_access_index));

static __always_inline void add(int function, __u64 begun, __u64 count)
{
	nanoseconds[function] += bpf_ktime_get_ns() - begun;
	calls[function] += count;
}

SEC("raw_tp/sys_enter")
int measure(struct bpf_raw_tracepoint_args *call)
{
	__u32 zero = 0;
	const struct rcore_ruby_params *params = bpf_map_lookup_elem(&rubies, &zero);
	struct rcore_ruby_stack *stack = bpf_map_lookup_elem(&stacks, &zero);
	struct pt_regs___x86 *registers = (void *)call->args[0];
	__u64 value, begun;

	if (!params || !stack || call->args[1] != WRITE ||
	    BPF_CORE_READ(registers, di) != MARKED ||
	    rcore_ruby_pid(pid_namespace) != params->pid)
		return 0;
	begun = bpf_ktime_get_ns();
	add(CLOCK, begun, 1);
	begun = bpf_ktime_get_ns();
	if (!rcore_ruby_state_lookup(params, params->keys[0], &value) ||
	    rcore_ruby_string(params, value, text, sizeof(text)) <= 0)
		return 0;
	add(LOOKUP, begun, 1);
	begun = bpf_ktime_get_ns();
	if (rcore_ruby_stack(params, stack) < DEPTH)
		return 0;
	add(STACK, begun, 1);
	begun = bpf_ktime_get_ns();
	for (__u32 i = 0; i < LABELS; i++) {
		struct rcore_ruby_frame frame;
		if (rcore_ruby_frame(params, stack, i, &frame))
			rcore_ruby_label(params, &frame, text, sizeof(text));
	}
	add(LABELLED, begun, LABELS);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
