/* SPDX-License-Identifier: MIT */

/*
 * The BPF programs of `rcore record`: rcore_sample of --ebpf, rcore_switch of
 * --off-cpu, and rcore_call and rcore_function of --event. An event runs one in
 * the thread that causes it, so the thread's stack cannot change while it is
 * copied.
 *
 * The verifier must see that each length has a bound. RCORE_RUBY_OPAQUE before
 * the check of a bound keeps the compiler from dropping the check as redundant.
 */

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

/* See struct rcore_bpf_counts. */
__u64 overruns = 0, unread = 0;

#include "sampler/bpf/machine_stack.bpf.h"

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
 * Copies a String and the start of its text, but nothing after its end. Mirrors
 * RSTRING_PTR() and RSTRING_LEN() of CRuby's rstring.h.
 */
static __always_inline void read_string(const struct rcore_ruby_params *params, __u64 value,
					struct rcore_bpf_record *record)
{
	__u64 flags, length, address;
	__u32 index = record->string_count, length_at = (__u32)params->string_length;
	if (!value || value & 7 || index >= RCORE_BPF_STRINGS)
		return;
	struct rcore_bpf_string *string = &record->strings[index];
	if (bpf_probe_read_user(string->words, sizeof(string->words), (const void *)value))
		return;
	flags = string->words[0];
	if ((flags & RCORE_RUBY_T_MASK) != RCORE_RUBY_T_STRING)
		return;
	address = value + params->string_embedded;
	if (flags & params->string_noembed)
		address = string->words[(params->string_pointer >> 3) & 3];
	else if (params->string_embedded_length >= 0)
		length_at = (__u32)params->string_embedded_length;
	length = string->words[(length_at >> 3) & 3];
	if (!(flags & params->string_noembed) &&
	    params->string_embedded == params->string_length &&
	    params->string_embedded_length < 0)
		length = flags >> 14 & 0x1f; /* RSTRING_EMBED_LEN_SHIFT */
	/*
	 * Cuts a long String in the copy of its RString, too. Otherwise rcore
	 * would read the rest of the text later, when it may be freed.
	 */
	if (length > RCORE_BPF_TEXT) {
		length = RCORE_BPF_TEXT;
		string->words[(length_at >> 3) & 3] = length;
	}
	RCORE_RUBY_OPAQUE(length);
	if (length > RCORE_BPF_TEXT ||
	    bpf_probe_read_user(string->text, length, (const void *)address))
		return;
	string->value = value;
	string->address = address;
	string->length = length;
	string->unused = 0;
	record->string_count = index + 1;
}

/* Copies the table to which the gem's thread-local variable points. */
static __always_inline void read_context(const struct rcore_ruby_params *params,
					 struct scratch *scratch)
{
	struct rcore_bpf_record *record = &scratch->record;
	__u64 bytes, address = rcore_ruby_address(params, &params->state, scratch->pointer);
	record->string_count = record->has_slots = 0;
	record->size = record->capacity = 0;
	record->table = address ? rcore_ruby_word(address) : 0;
	if (!record->table)
		return;
	/* Most tables have few slots; one read is faster than two. */
	if (bpf_probe_read_user(&record->size, (2 + 2 * FEW_SLOTS) * sizeof(__u64),
				(const void *)record->table))
		record->capacity = RCORE_BPF_SLOTS;
	if (record->capacity > FEW_SLOTS) {
		if (bpf_probe_read_user(&record->size, 2 * sizeof(__u64),
					(const void *)record->table)) {
			record->size = record->capacity = 0;
			return;
		}
		if (record->capacity > RCORE_BPF_SLOTS)
			return;
		bytes = record->capacity * 2 * sizeof(__u64);
		RCORE_RUBY_OPAQUE(bytes);
		if (bytes > sizeof(record->slots) ||
		    bpf_probe_read_user(record->slots, bytes,
					(const void *)(record->table + 2 * sizeof(__u64))))
			return;
	}
	record->has_slots = 1;
	for (__u32 i = 0; i < RCORE_BPF_SLOTS && i < record->capacity; i++)
		if (record->slots[2 * i])
			read_string(params, record->slots[2 * i + 1], record);
}

static __always_inline __u64 ec_word(const struct scratch *scratch, __s32 offset)
{
	return scratch->ec[(offset >> 3) & (RCORE_BPF_EC_WORDS - 1)];
}

static __always_inline __u64 thread_word(const struct scratch *scratch, __s32 offset)
{
	return scratch->thread[(offset >> 3) & (RCORE_BPF_THREAD_WORDS - 1)];
}

/*
 * Reads an EC and its thread, which become those of the record. Returns false
 * unless the thread is the one that the current native thread runs, as
 * rcore_ruby_ec() explains.
 */
static __always_inline bool read_ec(const struct rcore_bpf_process *process,
				    struct scratch *scratch, __u64 ec)
{
	const struct rcore_ruby_params *params = &process->params;
	__u64 thread, pthread;
	if (!ec || bpf_probe_read_user(scratch->ec, sizeof(scratch->ec), (const void *)ec))
		return false;
	thread = ec_word(scratch, params->ec_thread);
	if (!thread ||
	    bpf_probe_read_user(scratch->thread, sizeof(scratch->thread), (const void *)thread))
		return false;
	if (params->thread_native >= 0)
		pthread = rcore_ruby_word(thread_word(scratch, params->thread_native) +
					  params->native_pthread);
	else
		pthread = thread_word(scratch, params->thread_pthread);
	if (pthread + params->thread_pointer != scratch->pointer)
		return false;
	scratch->record.ec = ec;
	scratch->record.thread = thread;
	return true;
}

/* Returns false if the current thread runs no Ruby code. */
static __always_inline bool find_ec(const struct rcore_bpf_process *process,
				    struct scratch *scratch)
{
	const struct rcore_ruby_params *params = &process->params;
	__u64 address = rcore_ruby_address(params, &params->ec, scratch->pointer), thread;
	scratch->record.ec = scratch->record.thread = 0;
	if (address && read_ec(process, scratch, rcore_ruby_word(address)))
		return true;
	if (!process->thread_specific || !scratch->pointer)
		return false;
	thread = rcore_ruby_word(scratch->pointer + process->thread_specific);
	return thread &&
	       read_ec(process, scratch, rcore_ruby_word(thread + process->thread_ec));
}

/*
 * Copies the stack after the strings. Returns the size of the whole record in
 * bytes; 0 only if a bound is exceeded.
 */
static __always_inline __u64 read_stack(const struct rcore_bpf_process *process,
					struct scratch *scratch)
{
	const struct rcore_ruby_params *params = &process->params;
	struct rcore_bpf_record *record = &scratch->record;
	__u64 at = rcore_bpf_before_frames(record), bytes, sp, end;
	__u32 step = (__u32)params->frame_size;
	RCORE_RUBY_OPAQUE(at);
	if (at > sizeof(*record))
		return 0;
	record->frame_bytes = record->value_bytes = 0;
	record->machine_bytes = record->kernel_count = 0;
	record->bottom = record->top = record->cfp = 0;
	if (!find_ec(process, scratch) || !step)
		return at;
	record->cfp = ec_word(scratch, params->ec_cfp);
	record->bottom = ec_word(scratch, params->ec_vm_stack);
	record->top = record->bottom + 8 * ec_word(scratch, params->ec_vm_stack_size);
	if (record->cfp <= record->bottom || record->cfp >= record->top)
		return at;
	bytes = record->top - record->cfp;
	if (bytes > RCORE_BPF_FRAMES_MAX)
		bytes = RCORE_BPF_FRAMES_MAX / step * step;
	RCORE_RUBY_OPAQUE(bytes);
	if (bytes > RCORE_BPF_FRAMES_MAX ||
	    bpf_probe_read_user((char *)record + at, bytes, (const void *)record->cfp)) {
		__sync_fetch_and_add(&unread, 1);
		return at;
	}
	record->frame_bytes = bytes;
	sp = *(__u64 *)((char *)record + at + (process->frame_sp & 0x38));
	end = sp >= record->bottom && sp <= record->cfp ? sp + RCORE_BPF_VALUE_SLACK
							: record->cfp;
	if (end > record->cfp)
		end = record->cfp;
	at += bytes;
	RCORE_RUBY_OPAQUE(at);
	if (at > sizeof(*record) + RCORE_BPF_FRAMES_MAX)
		return 0;
	bytes = (end - record->bottom) & ~7ull;
	if (bytes > RCORE_BPF_VALUES_MAX)
		bytes = RCORE_BPF_VALUES_MAX;
	RCORE_RUBY_OPAQUE(bytes);
	if (bytes > RCORE_BPF_VALUES_MAX ||
	    bpf_probe_read_user((char *)record + at, bytes, (const void *)record->bottom)) {
		__sync_fetch_and_add(&unread, 1);
		record->frame_bytes = 0;
		return at;
	}
	record->value_bytes = bytes;
	return at + bytes;
}

/*
 * Reads who holds the GVL, whether the garbage collector runs, and whether the
 * thread has released the GVL, which samples do not need.
 */
static __always_inline void read_state(const struct rcore_bpf_process *process,
				       struct scratch *scratch)
{
	struct rcore_bpf_record *record = &scratch->record;
	__u64 address = process->holder;
	if (process->ractor_holder >= 0 && record->thread)
		address = thread_word(scratch, process->thread_ractor) + process->ractor_holder;
	record->holder = address ? rcore_ruby_word(address) : 0;
	record->gc = process->gc ? rcore_ruby_word(process->gc) : 0;
	record->status = record->region = 0;
	if (!record->thread || (record->kind == RCORE_BPF_SAMPLE && !native))
		return;
	if (process->thread_status >= 0)
		record->status = rcore_ruby_word(record->thread + process->thread_status);
	if (process->thread_region >= 0)
		record->region = rcore_ruby_word(record->thread + process->thread_region);
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
	/* rcore reads the ring buffer at intervals, so do not wake it. */
	if (bytes && bytes <= RECORD_MAX &&
	    bpf_ringbuf_output(&records, &scratch->record, bytes, BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&overruns, 1);
}

/*
 * Begins a record of the current thread. Returns its process; NULL: nobody
 * asked for that.
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
