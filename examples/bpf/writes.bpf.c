/* SPDX-License-Identifier: MIT */
#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <rcore/ruby.bpf.h>

#include "writes.h"

/* By process: what `rcore bpf-params --key request_id` prints. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, struct rcore_ruby_params);
} rubies SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 10000);
	__type(key, struct request);
	__type(value, struct count);
} counts SEC(".maps");

/* The pid namespace of the ids in `rubies`; the loader sets it. */
__u32 pid_namespace;

struct pt_regs___x86 {
	long orig_ax;
} __attribute__((preserve_access_index));

/*
 * Runs at the end of each system call: args[0] points to the registers, and
 * args[1] is the result.
 */
SEC("raw_tp/sys_exit")
int count_write(struct bpf_raw_tracepoint_args *call)
{
	long number = BPF_CORE_READ((struct pt_regs___x86 *)call->args[0], orig_ax);
	long written = call->args[1];
	struct request request = {};
	struct count none = {}, *count;
	struct rcore_ruby_params *params;
	__u64 value;
	__u32 pid;

	if (number != WRITE)
		return 0;
	pid = rcore_ruby_pid(pid_namespace);
	params = bpf_map_lookup_elem(&rubies, &pid);
	if (!params)
		return 0;
	if (rcore_ruby_state_lookup(params, params->keys[0], &value))
		rcore_ruby_string(params, value, request.id, sizeof(request.id));
	bpf_map_update_elem(&counts, &request, &none, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&counts, &request);
	if (count) {
		__sync_fetch_and_add(&count->calls, 1);
		__sync_fetch_and_add(&count->bytes, written > 0 ? written : 0);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
