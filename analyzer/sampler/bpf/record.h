/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SAMPLER_BPF_RECORD_H
#define RCORE_SAMPLER_BPF_RECORD_H

#include "model/ruby.bpf.h"

/*
 * What the BPF program and rcore send each other. Both include this.
 *
 * The program copies the memory of the thread that runs, at the moment of the
 * event. rcore decodes the copies later, with the decoders that it has.
 */

enum {
	/*
	 * Bytes that are copied of a stack: all frames of 2,000 calls. Of a
	 * deeper stack, the innermost ones are copied.
	 */
	RCORE_BPF_FRAMES_MAX = 128 << 10,
	RCORE_BPF_VALUES_MAX = 128 << 10,
	/* Read above the innermost sp: a new frame's environment is there. */
	RCORE_BPF_VALUE_SLACK = 256,
	/* Slots of a context, and Strings among its values. */
	RCORE_BPF_SLOTS = 32,
	RCORE_BPF_STRINGS = 8,
	RCORE_BPF_STRING_WORDS = 5, /* of a RString */
	/* Of an execution context: what says where its stack is. */
	RCORE_BPF_EC_WORDS = 4,
	/* Bytes of a String's text: as many as a label has. */
	RCORE_BPF_TEXT = 256,
};

/* What the program knows of one process. */
struct rcore_bpf_process {
	struct rcore_ruby_params params;
	/* Offset of rb_control_frame_t.sp. */
	__s32 frame_sp;
	/*
	 * The word that names the holder of the GVL: of the thread's Ractor, or
	 * at this address before 3.0. -1: not in the Ractor.
	 */
	__s32 thread_ractor, ractor_holder;
	__u64 holder;
	/* The word with during_gc; 0: not known. */
	__u64 gc;
};

/* A String in a context: its RString, and the first bytes of its text. */
struct rcore_bpf_string {
	__u64 value, address;
	__u64 words[RCORE_BPF_STRING_WORDS];
	__u32 length; /* of `text` */
	__u32 unused;
	char text[RCORE_BPF_TEXT];
};

/*
 * After `string_count` strings follow the bytes of the frames, from `cfp` on,
 * and those of the values, from `bottom` on.
 */
struct rcore_bpf_record {
	__u64 time;       /* CLOCK_MONOTONIC */
	__u32 pid, tid;   /* as rcore sees them */
	__u64 thread, ec; /* 0: the thread runs no Ruby */
	__u64 bottom, top, cfp;
	__u64 holder, gc; /* the words */
	__u32 frame_bytes, value_bytes;
	/* The context: its table, or 0; and the table's words. */
	__u64 table, size, capacity;
	__u64 slots[2 * RCORE_BPF_SLOTS];
	__u32 string_count;
	__u32 has_slots; /* otherwise it has too many, or cannot be read */
	struct rcore_bpf_string strings[RCORE_BPF_STRINGS];
};

#endif
