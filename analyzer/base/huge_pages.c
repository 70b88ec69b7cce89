/* SPDX-License-Identifier: MIT */
#include "base/huge_pages.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

void rcore_prefer_huge_pages(void *array, size_t size)
{
	enum { LEAST = 8 << 20 };
	if (!array || size < LEAST)
		return;
	/*
	 * All pages of a large chunk of malloc() must have the same advice:
	 * otherwise realloc() cannot move them with mremap(), and copies them.
	 */
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t start = (uintptr_t)array & -page;
	const uintptr_t end = ((uintptr_t)array + size + page - 1) & -page;
	const int errnum = errno;
	madvise((void *)start, end - start, MADV_HUGEPAGE);
	errno = errnum;
}
