/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_FILE_KIND_H
#define RCORE_TARGET_FILE_KIND_H

#include <stddef.h>

/* So many bytes of a file are enough for rcore_file_kind(). */
enum { RCORE_FILE_KIND_SIZE = 512 };

/*
 * Returns what a file is that starts with these bytes and was given to a
 * command that cannot read it, and the next step: "a recording; `rcore report`
 * reads it". NULL: unknown. The text is static.
 */
const char *rcore_file_kind(const void *bytes, size_t size);

#endif
