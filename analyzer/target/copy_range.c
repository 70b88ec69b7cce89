/* SPDX-License-Identifier: MIT */
#include "target/copy_range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page_buffer.h"

enum { BUFFER = 1 << 20, LARGEST = 1 << 30 };

int rcore_write_at(int to, const void *bytes, uint64_t size, uint64_t offset)
{
	const char *next = bytes;
	while (size) {
		ssize_t written =
			pwrite(to, next, size < LARGEST ? size : LARGEST, (off_t)offset);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? errno : ENOSPC;
		next += written;
		offset += (uint64_t)written;
		size -= (uint64_t)written;
	}
	return 0;
}

static int copy_by_hand(int from, uint64_t start, uint64_t end, int to, uint64_t shift)
{
	char *buffer = rcore_page_buffer(BUFFER);
	int errnum = buffer ? 0 : ENOMEM;
	while (!errnum && start < end) {
		size_t wanted = end - start < BUFFER ? end - start : BUFFER;
		ssize_t got = pread(from, buffer, wanted, (off_t)start);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			errnum = got ? errno : EIO;
		else
			errnum = rcore_write_at(to, buffer, (uint64_t)got, start + shift);
		start += got > 0 ? (uint64_t)got : 0;
	}
	free(buffer);
	return errnum;
}

/*
 * Whether the error means that these two files cannot be copied in this way,
 * and not that copying failed.
 */
static bool is_refusal(int errnum)
{
	return errnum == EXDEV || errnum == EINVAL || errnum == ENOSYS ||
	       errnum == EOPNOTSUPP || errnum == EBADF;
}

static int copy_data(int from, uint64_t start, uint64_t end, int to, uint64_t shift)
{
	while (start < end) {
		off_t in = (off_t)start, out = (off_t)(start + shift);
		size_t wanted = end - start < LARGEST ? end - start : LARGEST;
		ssize_t got = copy_file_range(from, &in, to, &out, wanted, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 || (got < 0 && is_refusal(errno)))
			return copy_by_hand(from, start, end, to, shift);
		if (got < 0)
			return errno;
		start += (uint64_t)got;
	}
	return 0;
}

int rcore_copy_range(int from, uint64_t start, uint64_t end, int to, uint64_t shift)
{
	while (start < end) {
		off_t data = lseek(from, (off_t)start, SEEK_DATA);
		if (data < 0 && errno == ENXIO)
			return 0;
		off_t hole = data < 0 ? -1 : lseek(from, data, SEEK_HOLE);
		uint64_t begin = data < 0 ? start : (uint64_t)data;
		uint64_t stop = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
		if (begin >= end)
			return 0;
		int errnum = copy_data(from, begin, stop, to, shift);
		if (errnum)
			return errnum;
		start = stop;
	}
	return 0;
}
