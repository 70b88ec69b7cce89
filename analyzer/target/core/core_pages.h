/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_CORE_PAGES_H
#define RCORE_TARGET_CORE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a core's file with pread(), and keeps the pages that were read last. An
 * analysis reads a few pages of each of thousands of stacks, most of them once,
 * with holes between them. Touching them in a mapping costs more: the kernel
 * handles a fault for each, maps the pages around it, counts them as memory of
 * this process, and unmaps all of them in the end.
 *
 * A walk along references reads the same pages in any order, again and again,
 * and then a mapping is better: see rcore_core_pages_suit(). It takes two reads
 * of most pages to notice that. A walk through a whole heap, with more pages
 * than are kept here, asks for the mapping first (rcore_core_read_mapping()).
 */
struct rcore_core_pages;

/*
 * `size` is that of the file. Keeps a duplicate of `fd`. Returns NULL if memory
 * or descriptors are short.
 */
struct rcore_core_pages *rcore_core_pages_new(int fd, uint64_t size);
void rcore_core_pages_free(struct rcore_core_pages *pages); /* NULL-safe */

/*
 * Returns false, from some time on, if most pages that were read had been read
 * before: read the mapping instead. Also returns false for NULL.
 */
bool rcore_core_pages_suit(const struct rcore_core_pages *pages);

/*
 * Returns false if the file cannot be read, or has become shorter. The buffer
 * is then undefined.
 */
bool rcore_core_pages_read(struct rcore_core_pages *pages, uint64_t offset, void *buffer,
			   size_t size);

#endif
