/* SPDX-License-Identifier: MIT */

/*
 * The BPF programs of `rcore record`: rcore_sample of --ebpf, rcore_switch of
 * --off-cpu, and rcore_call and rcore_function of --event. The kernel runs each
 * in the thread that causes the event, so the thread's stack cannot change
 * while it is copied.
 *
 * The verifier must see that each length has a bound. RCORE_RUBY_OPAQUE before
 * the check of a bound keeps the compiler from dropping the check as redundant.
 */

#include "sampler/bpf/shared.bpf.h"
#include "sampler/bpf/context.bpf.h"
#include "sampler/bpf/machine_stack.bpf.h"
#include "sampler/bpf/ruby_stack.bpf.h"

/* Sets the ids of a thread in rcore's pid namespace. */
static __always_inline void ids_of(const struct task_struct___rcore *task, __u32 *pid,
				   __u32 *tid)
{
	if (pid_namespace == RCORE_RUBY_FIRST_NAMESPACE) {
		*pid = BPF_CORE_READ(task, tgid);
		*tid = BPF_CORE_READ(task, pid);
		return;
	}
	*pid = rcore_ruby_id_in(BPF_CORE_READ(task, group_leader), pid_namespace);
	*tid = rcore_ruby_id_in(task, pid_namespace);
}

/*
 * Copies the kernel's stack to the end of the record, which has `at` bytes.
 * Returns the new size of the record; 0 only if a bound is exceeded.
 */
static __always_inline __u64 read_kernel(void *context, struct scratch *scratch, __u64 at)
{
	long bytes;
	RCORE_RUBY_OPAQUE(at);
	if (at > RECORD_MAX - RCORE_BPF_KERNEL_MAX * sizeof(__u64))
		return 0;
	bytes = bpf_get_stack(context, (char *)&scratch->record + at,
			      RCORE_BPF_KERNEL_MAX * sizeof(__u64), 0);
	if (bytes <= 0 || bytes > RCORE_BPF_KERNEL_MAX * (long)sizeof(__u64))
		return at;
	scratch->record.kernel_count = bytes / sizeof(__u64);
	return at + bytes;
}

/*
 * Completes the record of the current thread and sends it to rcore. `context`
 * is that of the program.
 */
static __always_inline void copy(void *context, const struct rcore_bpf_process *process,
				 struct scratch *scratch)
{
	__u64 bytes;
	scratch->pointer = rcore_ruby_thread_pointer();
	read_context(&process->params, scratch);
	bytes = read_stack(process, scratch);
	if (native && bytes)
		bytes = read_machine(process, scratch, bytes);
	if (kernel && bytes)
		bytes = read_kernel(context, scratch, bytes);
	read_state(process, scratch);
	RCORE_RUBY_OPAQUE(bytes);
	/* Usually, rcore reads the ring buffer at intervals. */
	if (bytes && bytes <= RECORD_MAX &&
	    bpf_ringbuf_output(&records, &scratch->record, bytes,
			       wakes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&overruns, 1);
}

/*
 * Begins a record of the current thread. Returns its process, or NULL if the
 * process is not to be sampled.
 */
static __always_inline struct rcore_bpf_process *begin(__u32 kind, struct scratch **ret)
{
	__u32 cpu = bpf_get_smp_processor_id(), pid, tid;
	struct rcore_bpf_process *process;
	struct scratch *scratch;
	if (pid_namespace == RCORE_RUBY_FIRST_NAMESPACE) {
		__u64 ids = bpf_get_current_pid_tgid();
		pid = ids >> 32;
		tid = (__u32)ids;
	} else {
		ids_of((const void *)bpf_get_current_task(), &pid, &tid);
	}
	process = bpf_map_lookup_elem(&processes, &pid);
	scratch = bpf_map_lookup_elem(&scratches, &cpu);
	if (!process || !scratch)
		return NULL;
	scratch->record.time = bpf_ktime_get_ns();
	scratch->record.pid = pid;
	scratch->record.tid = tid;
	scratch->record.kind = kind;
	*ret = scratch;
	return process;
}

SEC("perf_event")
int rcore_sample(void *context)
{
	struct scratch *scratch;
	struct rcore_bpf_process *process = begin(RCORE_BPF_SAMPLE, &scratch);
	if (process)
		copy(context, process, scratch);
	return 0;
}

static __always_inline __u32 state_of(const struct task_struct___rcore *task)
{
	const struct task_struct___rcore_old *old = (const void *)task;
	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return (__u32)BPF_CORE_READ(old, state);
}

/*
 * Sets what all records of a switch have. The kernel counts a switch before
 * the tracepoint (__schedule() of sched/core.c), so a thread has the same
 * number when it leaves and when it returns.
 */
static __always_inline void begin_switch(const struct task_struct___rcore *task, __u32 pid,
					 __u32 tid, struct rcore_bpf_record *record)
{
	record->time = bpf_ktime_get_ns();
	record->pid = pid;
	record->tid = tid;
	record->is_preempted = 0;
	record->switches = BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
	record->ran = BPF_CORE_READ(task, se.sum_exec_runtime);
}

static __always_inline void write_head(const struct rcore_bpf_record *record)
{
	if (bpf_ringbuf_output(&records, (void *)record, RCORE_BPF_HEAD, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&overruns, 1);
}

/*
 * sched_switch(preempt, previous, next): the current thread, the address space
 * and the registers are still those of `previous`.
 */
SEC("raw_tp/sched_switch")
int rcore_switch(struct bpf_raw_tracepoint_args *context)
{
	const struct task_struct___rcore *previous = (const void *)context->args[1];
	const struct task_struct___rcore *next = (const void *)context->args[2];
	__u32 cpu = bpf_get_smp_processor_id(), pid, tid, state;
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &cpu);
	struct rcore_bpf_process *process;
	if (!scratch)
		return 0;
	ids_of(next, &pid, &tid);
	if (bpf_map_lookup_elem(&processes, &pid)) {
		begin_switch(next, pid, tid, &scratch->record);
		scratch->record.kind = RCORE_BPF_RETURNED;
		write_head(&scratch->record);
	}
	ids_of(previous, &pid, &tid);
	process = bpf_map_lookup_elem(&processes, &pid);
	if (!process)
		return 0;
	begin_switch(previous, pid, tid, &scratch->record);
	state = state_of(previous);
	if (state & TASK_DEAD) {
		scratch->record.kind = RCORE_BPF_ENDED;
		write_head(&scratch->record);
		return 0;
	}
	scratch->record.kind = RCORE_BPF_LEFT;
	scratch->record.is_preempted = (context->args[0] & 1) || !state;
	copy(context, process, scratch);
	return 0;
}

static __always_inline long number_of(const void *registers)
{
	const struct pt_regs___rcore_x86 *x86 = registers;
	const struct pt_regs___rcore_arm64 *arm64 = registers;
	if (bpf_core_field_exists(x86->orig_ax))
		return BPF_CORE_READ(x86, orig_ax);
	if (bpf_core_field_exists(arm64->syscallno))
		return BPF_CORE_READ(arm64, syscallno);
	return -1;
}

static __always_inline bool is_in(const volatile __u8 *numbers, __u64 number)
{
	return numbers[number >> 3] & 1 << (number & 7);
}

/*
 * sys_exit(registers, result): the thread has the stack and the context with
 * which it made the call.
 */
SEC("raw_tp/sys_exit")
int rcore_call(struct bpf_raw_tracepoint_args *context)
{
	__u64 number = number_of((const void *)context->args[0]);
	struct rcore_bpf_process *process;
	struct scratch *scratch;
	RCORE_RUBY_OPAQUE(number);
	if (number >= RCORE_BPF_CALLS || !is_in(calls, number))
		return 0;
	/* A new thread begins as if it had made the call that started it. */
	if (!context->args[1] && is_in(starters, number))
		return 0;
	process = begin(RCORE_BPF_CALLED, &scratch);
	if (!process)
		return 0;
	scratch->record.number = number;
	scratch->record.result = context->args[1];
	copy(context, process, scratch);
	return 0;
}

/*
 * The thread is at the first instruction of a function; the loader made the
 * cookie its index.
 */
SEC("uprobe")
int rcore_function(void *context)
{
	struct scratch *scratch;
	struct rcore_bpf_process *process = begin(RCORE_BPF_ENTERED, &scratch);
	if (!process)
		return 0;
	scratch->record.number = bpf_get_attach_cookie(context);
	scratch->record.result = 0;
	copy(context, process, scratch);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
