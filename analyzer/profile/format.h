/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PROFILE_FORMAT_H
#define RCORE_PROFILE_FORMAT_H

#include <stdint.h>

/*
 * The file format of recordings, described in docs/recording.md: a header and
 * blocks. A block's payload is a sequence of sections, each with a tag and its
 * size. Numbers are little-endian here, and varints in sections.
 *
 * Data that an older reader can skip gets a new tag or kind of block, and
 * nothing else changes. Data that it cannot skip gets a new version.
 */
enum { RCORE_RECORDING_FORMAT = 1 };

#define RCORE_RECORDING_MAGIC "RCOREREC"

/* The fact `event` of a recording of --off-cpu. */
#define RCORE_EVENT_OFF_CPU "off-cpu"
/*
 * The start of the fact `event` of a recording of system calls; their names
 * follow. Each sample is a call, and its wall time is how many bytes it moved.
 */
#define RCORE_EVENT_CALLS "syscalls:"
/*
 * The same of functions of the program, such as "uprobe:libc.so.6:malloc"; each
 * sample is a call.
 */
#define RCORE_EVENT_FUNCTIONS "uprobe:"
/* The fact `engine` of a recording that lacks threads that did not run. */
#define RCORE_ENGINE_RUNNING "BPF, in the kernel, running threads only"

struct rcore_recording_header {
	char magic[8];
	uint32_t format;
	uint32_t reserved; /* 0 */
};

enum { RCORE_BLOCK_MARK = 0x4b4c4252 /* "RBLK" */ };

enum rcore_block_kind {
	RCORE_BLOCK_DATA = 1,
	RCORE_BLOCK_END, /* the recording was ended, not cut off */
};

enum rcore_block_coding {
	RCORE_BLOCK_PLAIN,
	RCORE_BLOCK_ZLIB,
};

struct rcore_block_header {
	uint32_t mark;
	uint16_t kind, coding;
	uint32_t stored_size; /* of the payload in the file */
	uint32_t plain_size;  /* of the payload when it is decompressed */
	/* XXH64 with seed 0 of the 16 bytes above and the stored payload. */
	uint64_t checksum;
};

enum {
	/* Bytes of the header that the checksum covers. */
	RCORE_BLOCK_CHECKED = 16,
	RCORE_BLOCK_SIZE_MAX = 32 << 20,
	RCORE_BLOCK_SAMPLES_MAX = 1 << 18,
};

enum rcore_section {
	/* Pairs of strings: size, bytes, size, bytes. */
	RCORE_SECTION_FACTS = 1,
	/* Empty: from this block on, the tables start again. */
	RCORE_SECTION_RESET,
	/*
	 * What was added to a table: the number of entries, then the entries.
	 * Records are written as rcore_columns_write() does it.
	 */
	RCORE_SECTION_STRINGS, /* each: size, bytes */
	RCORE_SECTION_FUNCTIONS,
	RCORE_SECTION_FRAMES,
	RCORE_SECTION_NODES,
	RCORE_SECTION_THREADS,
	RCORE_SECTION_FIBERS,
	RCORE_SECTION_STATES,
	RCORE_SECTION_LABELS, /* each: number of pairs; key, value */
	RCORE_SECTION_SAMPLES,
	RCORE_SECTION_PROCESSES,
	/*
	 * Titles that are new: the number of pairs; process, string. A later
	 * one replaces an earlier one.
	 */
	RCORE_SECTION_TITLES,
	/* Of the entries in the section THREADS that follows. */
	RCORE_SECTION_THREAD_PROCESSES,
	/* Processes that ended: the number of pairs; process, time. */
	RCORE_SECTION_ENDED,
};

#endif
