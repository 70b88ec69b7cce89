/* SPDX-License-Identifier: MIT */
#ifndef CORE_BUILDER_H
#define CORE_BUILDER_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/core/core.h"

/*
 * Makes core files for tests: an ELF header, program headers (the notes first,
 * then the segments in the order in which they were added), notes, memory. The
 * result is plain bytes, which a test can damage before it writes them. All
 * zeroes: an empty x86-64 core. Test helpers end the process when something
 * fails.
 */
struct core_builder {
	unsigned machine; /* 0: EM_X86_64 */
	bool many;        /* count program headers in section 0 (PN_XNUM) */
	unsigned char *notes;
	size_t notes_size;
	struct core_load {
		Elf64_Phdr header; /* p_offset is set by core_build() */
		unsigned char *bytes;
	} * loads;
	size_t load_count;
};

void core_deinit(struct core_builder *builder);

/* `bytes` (may be NULL: zeroes) are copied. */
void core_load(struct core_builder *builder, uint64_t address, const void *bytes,
	       uint64_t file_size, uint64_t memory_size, uint32_t flags);
void core_note(struct core_builder *builder, const char *owner, uint32_t type,
	       const void *bytes, size_t size);

/* The usual notes. */
void core_note_status(struct core_builder *builder, int tid, int signo, uint64_t pc,
		      uint64_t sp, uint64_t thread_pointer);
void core_note_process(struct core_builder *builder, int pid, const char *name,
		       const char *arguments);
void core_note_siginfo(struct core_builder *builder, int signo, int code, uint64_t address);
struct core_mapping {
	uint64_t start, end, offset;
	const char *path;
};
void core_note_files(struct core_builder *builder, const struct core_mapping *mappings,
		     size_t count);

/* The finished file, malloc'ed. */
unsigned char *core_build(const struct core_builder *builder, size_t *size);

/* Returns a path in a new folder, which is removed when the process ends. */
const char *temporary_path(const char *name);
const char *write_file(const char *name, const void *bytes, size_t size);

/* Opens a core. If that fails, ends the test. */
struct rcore_core *core_opened(const char *path);

#endif
