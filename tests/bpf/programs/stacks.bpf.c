/* SPDX-License-Identifier: MIT */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <rcore/ruby.bpf.h>

#include "stacks.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct rcore_ruby_params);
} rubies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct rcore_ruby_stack);
} stacks SEC(".maps");

__u64 lost;
__u32 pid_namespace;

struct pt_regs___x86 {
	long di, si;
} __attribute__((preserve_access_index));

SEC("raw_tp/sys_enter")
int note_stack(struct bpf_raw_tracepoint_args *call)
{
	__u32 pid = rcore_ruby_pid(pid_namespace), zero = 0;
	const struct rcore_ruby_params *params = bpf_map_lookup_elem(&rubies, &pid);
	struct rcore_ruby_stack *stack = bpf_map_lookup_elem(&stacks, &zero);
	struct pt_regs___x86 *registers = (void *)call->args[0];
	struct event *event;
	__u64 value;

	if (!params || !stack || call->args[1] != WRITE ||
	    BPF_CORE_READ(registers, di) != MARKED)
		return 0;
	event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);
	if (!event) {
		__sync_fetch_and_add(&lost, 1);
		return 0;
	}
	bpf_probe_read_user(event->number, sizeof(event->number),
			    (const void *)BPF_CORE_READ(registers, si));
	event->time = bpf_ktime_get_ns();
	event->context_length = -1;
	if (rcore_ruby_state_lookup(params, params->keys[0], &value))
		event->context_length = rcore_ruby_string(params, value, event->context, LABEL);
	event->found = rcore_ruby_stack(params, stack);
	event->depth = stack->depth;
	for (__u32 i = 0; i < FRAMES; i++) {
		struct rcore_ruby_frame frame;
		event->lengths[i] = 0;
		if (rcore_ruby_frame(params, stack, i, &frame))
			event->lengths[i] =
				rcore_ruby_label(params, &frame, event->labels[i], LABEL);
	}
	bpf_ringbuf_submit(event, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
