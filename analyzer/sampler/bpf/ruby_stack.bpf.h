/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_RUBY_STACK_BPF_H
#define RCORE_SAMPLER_BPF_RUBY_STACK_BPF_H

/* Copies the VM stack of the current thread, and its state. */

#include "sampler/bpf/shared.bpf.h"

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
 * rcore_ruby_ec() explains. Sets *is_unread if they could not be read.
 */
static __always_inline bool read_ec(const struct rcore_bpf_process *process,
				    struct scratch *scratch, __u64 ec, bool *is_unread)
{
	const struct rcore_ruby_params *params = &process->params;
	__u64 thread, pthread;
	if (!ec)
		return false;
	if (bpf_probe_read_user(scratch->ec, sizeof(scratch->ec), (const void *)ec)) {
		*is_unread = true;
		return false;
	}
	thread = ec_word(scratch, params->ec_thread);
	if (!thread)
		return false;
	if (bpf_probe_read_user(scratch->thread, sizeof(scratch->thread),
				(const void *)thread)) {
		*is_unread = true;
		return false;
	}
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

/*
 * Returns false if the current thread runs no Ruby code. Counts it once if that
 * is not known, because no EC could be read.
 */
static __always_inline bool find_ec(const struct rcore_bpf_process *process,
				    struct scratch *scratch)
{
	const struct rcore_ruby_params *params = &process->params;
	__u64 address = rcore_ruby_address(params, &params->ec, scratch->pointer), thread = 0;
	bool is_unread = false;
	scratch->record.ec = scratch->record.thread = 0;
	if (address && read_ec(process, scratch, rcore_ruby_word(address), &is_unread))
		return true;
	if (process->thread_specific && scratch->pointer)
		thread = rcore_ruby_word(scratch->pointer + process->thread_specific);
	if (thread &&
	    read_ec(process, scratch, rcore_ruby_word(thread + process->thread_ec), &is_unread))
		return true;
	if (is_unread)
		__sync_fetch_and_add(&unread, 1);
	return false;
}

/*
 * Copies the values of the stack to the end of the record, which has `at`
 * bytes. They end at `sp`. What is copied beyond may be on a page that was
 * never used: then only the page of the last value is. Returns the number of
 * bytes, 0 if the values could not be read.
 */
static __always_inline __u64 read_values(struct scratch *scratch, __u64 at, __u64 sp)
{
	struct rcore_bpf_record *record = &scratch->record;
	__u64 end = record->cfp, bytes;
	if (sp >= record->bottom && sp + RCORE_BPF_VALUE_SLACK < end)
		end = sp + RCORE_BPF_VALUE_SLACK;
	for (__u32 i = 0; i < 2; i++) {
		bytes = (end - record->bottom) & ~7ull;
		if (bytes > RCORE_BPF_VALUES_MAX)
			bytes = RCORE_BPF_VALUES_MAX;
		RCORE_RUBY_OPAQUE(bytes);
		RCORE_RUBY_OPAQUE(at);
		if (at > sizeof(*record) + RCORE_BPF_FRAMES_MAX || bytes > RCORE_BPF_VALUES_MAX)
			return 0;
		if (!bpf_probe_read_user((char *)record + at, bytes,
					 (const void *)record->bottom))
			return bytes;
		sp = (sp + PAGE - 1) & ~(__u64)(PAGE - 1);
		if (sp <= record->bottom || sp >= end)
			return 0;
		end = sp;
	}
	return 0;
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
	__u64 at = rcore_bpf_before_frames(record), bytes, sp;
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
	at += bytes;
	RCORE_RUBY_OPAQUE(at);
	if (at > sizeof(*record) + RCORE_BPF_FRAMES_MAX)
		return 0;
	bytes = read_values(scratch, at, sp);
	RCORE_RUBY_OPAQUE(bytes);
	if (!bytes || bytes > RCORE_BPF_VALUES_MAX) {
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

#endif
