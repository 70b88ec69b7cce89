/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_RECORD_H
#define RCORE_SAMPLER_BPF_RECORD_H

#ifndef __bpf__
#include <stddef.h>
#endif

#include "model/ruby.bpf.h"

/*
 * What rcore and its BPF program send each other; both include this file.
 *
 * An event runs a program, which copies the stack and the context of the
 * current thread into a record. The event is a perf event on each processor, a
 * context switch, the return of a system call, or the call of a function of the
 * program. rcore decodes the records later, in bpf_records.c, with its usual
 * decoders.
 */

enum rcore_bpf_kind {
	RCORE_BPF_SAMPLE,  /* a perf event interrupted the thread */
	RCORE_BPF_LEFT,    /* the thread leaves its processor */
	RCORE_BPF_CALLED,  /* a system call of the thread returns */
	RCORE_BPF_ENTERED, /* the thread calls a function (uprobe) */
	/* These have no stack: they end after RCORE_BPF_HEAD bytes. */
	RCORE_BPF_RETURNED, /* the thread is back on a processor */
	RCORE_BPF_ENDED,    /* the thread has ended */
};

enum {
	/*
	 * Bytes of control frames: some 2,000 frames. Of a deeper stack, only
	 * the innermost frames are copied.
	 */
	RCORE_BPF_FRAMES_MAX = 128 << 10,
	/* Bytes of the values at the start of the VM stack. */
	RCORE_BPF_VALUES_MAX = 128 << 10,
	/*
	 * Bytes after the innermost frame's sp that are copied as well. A frame
	 * that is just being pushed has its environment there.
	 */
	RCORE_BPF_VALUE_SLACK = 256,
	/* Slots of a context, and Strings among their values. */
	RCORE_BPF_SLOTS = 32,
	RCORE_BPF_STRINGS = 8,
	RCORE_BPF_STRING_WORDS = 5, /* size of struct RString */
	/*
	 * Words at the start of rb_execution_context_t: vm_stack,
	 * vm_stack_size, cfp and thread_ptr are among them; and of rb_thread_t:
	 * ractor, and nt or thread_id. Powers of two.
	 */
	RCORE_BPF_EC_WORDS = 8,
	RCORE_BPF_THREAD_WORDS = 16,
	/* System calls have lower numbers. */
	RCORE_BPF_CALLS = 1024,
	/* Bytes of a String's text; labels are cut at the same length. */
	RCORE_BPF_TEXT = 256,
	/*
	 * Bytes of the machine stack, from its innermost end: some 60 native
	 * calls of Ruby code. Of a deeper stack, the outer frames are unknown.
	 */
	RCORE_BPF_MACHINE_MAX = 64 << 10,
	/*
	 * A thread that Ruby started has its VM stack on its machine stack, and
	 * a few native frames outside of it: at most this many bytes of these.
	 */
	RCORE_BPF_OUTER_MAX = 4 << 10,
	/* Bytes outside of ec->machine.stack_start, with frames of libc. */
	RCORE_BPF_OUTER_SLACK = 1 << 10,
	/* Bytes below the stack pointer that a function may use. */
	RCORE_BPF_RED_ZONE = 128,
	RCORE_BPF_REGISTERS = 34, /* RCORE_MAX_REGISTERS */
	/* Frames of the kernel: sysctl kernel.perf_event_max_stack. */
	RCORE_BPF_KERNEL_MAX = 127,
};

/* Parts of the machine stack in a record. */
enum rcore_bpf_part {
	RCORE_BPF_INNER, /* from the red zone, or the stack pointer, on */
	RCORE_BPF_OUTER, /* outside of a VM stack that is on it */
	RCORE_BPF_PARTS,
};

/*
 * What the program knows about one process. rcore_sampler_bpf_process() fills
 * it in.
 */
struct rcore_bpf_process {
	struct rcore_ruby_params params;
	__s32 frame_sp; /* offset of rb_control_frame_t.sp */
	/*
	 * Where to find the rb_thread_t that holds the GVL. From 3.0 on, it is
	 * in the thread's Ractor: these are the offsets of rb_thread_t.ractor,
	 * and of threads.gvl.owner (from 3.2 on threads.sched.running) in the
	 * rb_ractor_t. Before, both are -1, and `holder` is the address of
	 * vm->gvl.owner, or 0 if it is unknown.
	 */
	__s32 thread_ractor, ractor_holder;
	__u64 holder;
	__u64 gc; /* address of the word that has during_gc; 0: unknown */
	/*
	 * Offsets of rb_thread_t.status and blocking_region_buffer; -1: none.
	 */
	__s32 thread_status, thread_region;
	/*
	 * Before 3.0, the EC is known only of the thread with the GVL. Others
	 * have their rb_thread_t at this offset from the thread pointer, where
	 * pthread_setspecific(3) puts it; 0: unknown. `thread_ec` is the offset
	 * of th->ec.
	 */
	__s32 thread_specific, thread_ec;
	/*
	 * Offsets of ec->machine.stack_start, and of the bounds of a fiber's
	 * machine stack, from the EC; -1: none.
	 */
	__s32 ec_stack_start, fiber_stack, fiber_stack_size;
};

/* A String in a context. */
struct rcore_bpf_string {
	__u64 value;   /* address of its struct RString */
	__u64 address; /* of its text */
	/* The RString, with its length cut to that of `text`. */
	__u64 words[RCORE_BPF_STRING_WORDS];
	__u32 length; /* bytes in `text` */
	__u32 unused; /* 0 */
	char text[RCORE_BPF_TEXT];
};

/* The machine stack of a sample with native frames. */
struct rcore_bpf_machine {
	/*
	 * The thread's registers when it last ran in user mode, in the order of
	 * the kernel's struct pt_regs, with which elf_gregset_t begins.
	 */
	__u64 registers[RCORE_BPF_REGISTERS];
	struct {
		__u64 start;
		__u64 bytes; /* 0: it has no such part, or it is not present */
	} parts[RCORE_BPF_PARTS];
	/* The members that struct rcore_bpf_process says where to find. */
	__u64 stack_start, fiber_stack, fiber_stack_size;
};

/*
 * One sample. In the ring buffer, it ends after `string_count` strings, or
 * before `slots` if it has none. Then follow `frame_bytes` bytes of control
 * frames, copied from `cfp` on, `value_bytes` bytes of values, copied from
 * `bottom` on, `machine_bytes` of a struct rcore_bpf_machine and the parts of
 * the machine stack, and the addresses of `kernel_count` frames of the kernel,
 * the innermost first. All of these are multiples of 8 bytes.
 */
struct rcore_bpf_record {
	__u64 time;     /* CLOCK_MONOTONIC, in nanoseconds */
	__u32 pid, tid; /* in rcore's pid namespace */
	__u32 kind;     /* enum rcore_bpf_kind */
	/* LEFT: 1 if it could run on, but the kernel runs another thread. */
	__u32 is_preempted;
	/*
	 * LEFT, RETURNED, ENDED: how often the thread has left a processor, and
	 * its CPU time in nanoseconds. `switches` of RETURNED is that of LEFT.
	 */
	__u64 switches, ran;
	/*
	 * CALLED: the number of the system call, and what it returned. ENTERED:
	 * the index of the function in struct rcore_bpf_options, and 0.
	 */
	__s64 number, result;
	/* rb_thread_t and EC; 0: the thread runs no Ruby code. */
	__u64 thread, ec;
	/* The VM stack, and its innermost control frame. */
	__u64 bottom, top, cfp;
	/*
	 * The words that struct rcore_bpf_process says where to find. Samples
	 * without native frames do not have the last two.
	 */
	__u64 holder, gc, status, region;
	/* Both 0: the thread has no stack, or it could not be read. */
	__u32 frame_bytes, value_bytes;
	__u32 machine_bytes; /* 0: it has no native frames */
	__u32 kernel_count;
	/* The context's table (0: none), and its first words. */
	__u64 table;
	__u32 string_count;
	__u32 has_slots; /* 0: there are too many, or they cannot be read */
	__u64 size, capacity;
	__u64 slots[2 * RCORE_BPF_SLOTS]; /* `capacity` pairs: key, value */
	struct rcore_bpf_string strings[RCORE_BPF_STRINGS];
};

/* What a record without a stack has: all members before `thread`. */
#define RCORE_BPF_HEAD __builtin_offsetof(struct rcore_bpf_record, thread)

/* How many bytes of a sample are before its control frames. */
static inline __attribute__((always_inline)) __u64
rcore_bpf_before_frames(const struct rcore_bpf_record *record)
{
	return record->has_slots ? __builtin_offsetof(struct rcore_bpf_record, strings) +
					   record->string_count * sizeof(record->strings[0])
				 : __builtin_offsetof(struct rcore_bpf_record, slots);
}

#ifndef __bpf__
/* What follows the strings of a sample. */
static inline const __u8 *rcore_bpf_frames(const struct rcore_bpf_record *record)
{
	return (const __u8 *)record + rcore_bpf_before_frames(record);
}

/* Returns NULL if the sample has no machine stack. */
static inline const struct rcore_bpf_machine *
rcore_bpf_machine(const struct rcore_bpf_record *record)
{
	const __u8 *bytes = rcore_bpf_frames(record) + record->frame_bytes;
	return record->machine_bytes
		       ? (const struct rcore_bpf_machine *)(bytes + record->value_bytes)
		       : NULL;
}
#endif

#endif
