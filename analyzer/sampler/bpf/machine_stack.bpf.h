/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_MACHINE_STACK_BPF_H
#define RCORE_SAMPLER_BPF_MACHINE_STACK_BPF_H

/* Copies the machine stack of the current thread, and its registers. */

#include "sampler/bpf/shared.bpf.h"

/*
 * Copies a part of the machine stack to the end of the record, which has `at`
 * bytes. If a page is not present, leaves out the first `spare` bytes, which
 * may be on a page that was never used; then copies the first pages, or one.
 * Returns the new size of the record; 0 only if a bound is exceeded.
 */
static __always_inline __u64 read_part(struct scratch *scratch,
				       struct rcore_bpf_machine *machine, __u64 at, __u64 start,
				       __u64 spare, __u64 end, __u64 most,
				       enum rcore_bpf_part part)
{
	__u64 bytes, page;
	machine->parts[part].start = start;
	if (start >= end || end - start <= spare)
		return at;
	for (__u32 i = 0; i < ATTEMPTS; i++) {
		page = PAGE - (start & (PAGE - 1)) + (i == 2 ? FEW_PAGES : 0);
		bytes = end - start > most ? most : end - start;
		if (i >= 2 && bytes > page)
			bytes = page;
		asm volatile("" : "+r"(bytes), "+r"(at));
		if (at > RECORD_MAX - most || bytes > most)
			return 0;
		if (!bpf_probe_read_user((char *)&scratch->record + at, bytes,
					 (const void *)start)) {
			machine->parts[part].start = start;
			machine->parts[part].bytes = bytes;
			return at + bytes;
		}
		if (!i)
			start += spare;
	}
	return at;
}

static __always_inline __u64 member_of_ec(const struct rcore_bpf_record *record, __s32 offset)
{
	return record->ec && offset >= 0 ? rcore_ruby_word(record->ec + offset) : 0;
}

static __always_inline __u64 lower(__u64 end, __u64 other, __u64 above)
{
	return other > above && other < end ? other : end;
}

/*
 * Copies the registers and the used part of the machine stack to the end of the
 * record. The stack ends at the VM stack if it contains that, where Ruby says
 * that it began, where libc keeps the thread's struct, or where the kernel put
 * the arguments of the program, whichever comes first.
 */
static __always_inline __u64 read_machine(const struct rcore_bpf_process *process,
					  struct scratch *scratch, __u64 at)
{
	struct rcore_bpf_record *record = &scratch->record;
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs *registers = (const void *)bpf_task_pt_regs(task);
	const struct task_struct___rcore *kernel = (const void *)task;
	__u32 bytes = register_bytes, index = register_sp;
	__u64 sp, end, begun, first, thread = scratch->pointer;
	struct rcore_bpf_machine *machine;
	RCORE_RUBY_OPAQUE(at);
	if (at > RECORD_MAX - sizeof(*machine))
		return 0;
	machine = (void *)((char *)record + at);
	at += sizeof(*machine);
	record->machine_bytes = sizeof(*machine);
	machine->parts[RCORE_BPF_INNER].bytes = machine->parts[RCORE_BPF_OUTER].bytes = 0;
	machine->stack_start = member_of_ec(record, process->ec_stack_start);
	machine->fiber_stack = member_of_ec(record, process->fiber_stack);
	machine->fiber_stack_size = member_of_ec(record, process->fiber_stack_size);
	if (bytes > sizeof(machine->registers) || index >= RCORE_BPF_REGISTERS ||
	    bpf_probe_read_kernel(machine->registers, bytes, registers))
		return at;
	sp = machine->registers[index];
	if (sp < RCORE_BPF_RED_ZONE)
		return at;
	begun = machine->stack_start ? machine->stack_start + RCORE_BPF_OUTER_SLACK : 0;
	first = BPF_CORE_READ(kernel, mm, start_stack);
	end = lower(lower(lower(-1ull, thread, sp), begun, sp), first, sp);
	at = read_part(scratch, machine, at, sp - RCORE_BPF_RED_ZONE, RCORE_BPF_RED_ZONE,
		       lower(end, record->bottom, sp), RCORE_BPF_MACHINE_MAX, RCORE_BPF_INNER);
	/* A fiber has no frames there. */
	if (!at || machine->fiber_stack || sp >= record->bottom || record->top >= end)
		return at;
	return read_part(scratch, machine, at, record->top, 0, end, RCORE_BPF_OUTER_MAX,
			 RCORE_BPF_OUTER);
}

#endif
