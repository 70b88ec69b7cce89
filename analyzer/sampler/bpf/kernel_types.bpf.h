/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_KERNEL_TYPES_BPF_H
#define RCORE_SAMPLER_BPF_KERNEL_TYPES_BPF_H

/* Members of the kernel's structs; libbpf finds their offsets with BTF. */
struct sched_entity___rcore {
	__u64 sum_exec_runtime;
} __attribute__((preserve_access_index));

struct mm_struct___rcore {
	unsigned long start_stack;
} __attribute__((preserve_access_index));

struct task_struct___rcore {
	struct mm_struct___rcore *mm;
	struct task_struct___rcore *group_leader;
	int pid, tgid;
	unsigned int __state; /* `state` before 5.14 */
	unsigned long nvcsw, nivcsw;
	struct sched_entity___rcore se;
} __attribute__((preserve_access_index));

struct task_struct___rcore_old {
	long state;
} __attribute__((preserve_access_index));

/* The kernel keeps the number of the call among the saved registers. */
struct pt_regs___rcore_x86 {
	long orig_ax;
} __attribute__((preserve_access_index));

struct pt_regs___rcore_arm64 {
	int syscallno;
} __attribute__((preserve_access_index));

#endif
