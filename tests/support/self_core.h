/* SPDX-License-Identifier: MIT */
#ifndef SELF_CORE_H
#define SELF_CORE_H

#include <stdbool.h>

#include "core_builder.h"

/*
 * Makes a core of the calling process, as the kernel would write it: of a file,
 * the first page and the pages that were written; of the rest, what is small.
 * The process's own memory is the truth to compare with. All options zero:
 * exactly this.
 */
struct self_core_options {
	const char *prefix, *suffix; /* put around each path in NT_FILE */
	bool no_headers;             /* leave the first pages of files out */
	bool everything;             /* keep all pages of files */
	bool no_file_note;
	const void *look_at; /* this file is mapped once more, whole, to look into it */
};

/* `builder` must be empty. */
void self_core(struct core_builder *builder, const struct self_core_options *options);

unsigned self_machine(void);

/*
 * Reads the process's memory, even if a sanitizer forbids it. Returns false if
 * nothing is there.
 */
bool self_read(uint64_t address, void *buffer, size_t size);

/* Whether this range of a file's mapping was never written to. */
bool self_is_constant(uint64_t start, uint64_t end);

#endif
