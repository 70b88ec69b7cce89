/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_PAGE_BUFFER_H
#define RCORE_BASE_PAGE_BUFFER_H

#include <stddef.h>

enum { RCORE_BUFFER_PAGE = 4096 };

/*
 * Allocates a buffer into which the kernel copies whole pages: of a file, with
 * read(), or of another process, with process_vm_readv(). It starts at a page
 * of 4096 bytes. The caller frees it with free(). Returns NULL if memory is
 * short.
 *
 * What malloc() returns for a large size begins 16 bytes after the start of a
 * page. The kernel copies with `rep movsb`. If the destination is 1 to 31 bytes
 * beyond the source, modulo 4096, some AMD processors copy cached memory at a
 * tenth of their usual speed, and other memory at a third (bug 30994 of glibc).
 */
void *rcore_page_buffer(size_t size);

#endif
