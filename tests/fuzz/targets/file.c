/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.h"

void fuzz_file_open(struct fuzz_file *file, const uint8_t *bytes, size_t size)
{
	file->fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (file->fd < 0 || (size && write(file->fd, bytes, size) != (ssize_t)size) ||
	    lseek(file->fd, 0, SEEK_SET))
		abort();
	snprintf(file->path, sizeof(file->path), "/proc/self/fd/%d", file->fd);
}

void fuzz_file_close(struct fuzz_file *file)
{
	close(file->fd);
}
