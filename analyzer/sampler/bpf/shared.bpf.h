/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_SHARED_BPF_H
#define RCORE_SAMPLER_BPF_SHARED_BPF_H

/* The maps of the BPF programs, and what the loader sets. */

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "sampler/bpf/kernel_types.bpf.h"
#include "sampler/bpf/record.h"

enum {
	PROCESSES = 4096,
	RING_BYTES = 8 << 20,
	PAGE = 4096,  /* divides the page size of each machine */
	ATTEMPTS = 4, /* to read a part of the machine stack */
	FEW_PAGES = 12 << 10,
	FEW_SLOTS = 8,
	TASK_DEAD = 0x80, /* task_struct.state of the kernel, from 4.14 on */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROCESSES);
	__type(key, __u32);
	__type(value, struct rcore_bpf_process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} records SEC(".maps");

struct scratch {
	/* Of the current thread; not sent. */
	__u64 pointer; /* its thread pointer */
	__u64 ec[RCORE_BPF_EC_WORDS], thread[RCORE_BPF_THREAD_WORDS];
	struct rcore_bpf_record record;
	char bytes[sizeof(struct rcore_bpf_machine) + RCORE_BPF_FRAMES_MAX +
		   RCORE_BPF_VALUES_MAX + RCORE_BPF_MACHINE_MAX + RCORE_BPF_OUTER_MAX +
		   RCORE_BPF_KERNEL_MAX * 8];
};

enum { RECORD_MAX = sizeof(struct scratch) - __builtin_offsetof(struct scratch, record) };

/*
 * The loader makes one element for each processor. It is not a per-CPU map,
 * because the values of these are limited to 32 KiB (PCPU_MIN_UNIT_SIZE).
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Inode number of rcore's pid namespace; set by the loader. */
const volatile __u32 pid_namespace = 0;

/* A bit for each system call, set if it is recorded; set by the loader. */
const volatile __u8 calls[RCORE_BPF_CALLS / 8] = {0};
/* Those from which a thread that they start returns as well. */
const volatile __u8 starters[RCORE_BPF_CALLS / 8] = {0};

/*
 * Whether records have registers and machine stacks; then how many bytes of
 * registers the kernel saves for a thread, and which of them is the stack
 * pointer. Set by the loader.
 */
const volatile bool native = false;
/* Whether records have frames of the kernel. */
const volatile bool kernel = false;
const volatile __u32 register_bytes = 0, register_sp = 0;

/* Each record that has a stack wakes rcore. Set by the loader at any time. */
bool wakes = false;

/* See struct rcore_bpf_counts. */
__u64 overruns = 0, unread = 0;

#endif
