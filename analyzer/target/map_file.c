/* SPDX-License-Identifier: MIT */
#include "target/map_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map(int fd, bool writable, struct rcore_mapped_file *ret)
{
	struct stat status;
	if (fstat(fd, &status))
		return errno;
	ret->mode = status.st_mode;
	ret->device = status.st_dev;
	ret->file = status.st_ino;
	if (!S_ISREG(status.st_mode))
		return EINVAL;
	if (!status.st_size)
		return 0;
	void *bytes = mmap(NULL, (size_t)status.st_size,
			   writable ? PROT_READ | PROT_WRITE : PROT_READ,
			   MAP_PRIVATE | MAP_NORESERVE, fd, 0);
	if (bytes == MAP_FAILED)
		return errno;
	ret->bytes = bytes;
	ret->size = (uint64_t)status.st_size;
	return 0;
}

int rcore_map_descriptor(int fd, bool writable, struct rcore_mapped_file *ret)
{
	*ret = (struct rcore_mapped_file){0};
	return map(fd, writable, ret);
}

int rcore_map_file(const char *path, bool writable, struct rcore_mapped_file *ret)
{
	*ret = (struct rcore_mapped_file){0};
	/* Opening a device can have side effects, and a core may name any. */
	struct stat status;
	if (stat(path, &status))
		return errno;
	ret->mode = status.st_mode;
	if (!S_ISREG(status.st_mode))
		return EINVAL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		ret->mode = 0;
		return errno;
	}
	int errnum = map(fd, writable, ret);
	close(fd);
	return errnum;
}

/*
 * If a file is truncated, its last page is the first to disappear. To populate
 * the page costs no more than to touch it, and fails instead of raising SIGBUS.
 */
bool rcore_mapped_file_is_cut(const struct rcore_mapped_file *file)
{
#ifdef MADV_POPULATE_READ
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	if (!file->size)
		return false;
	return madvise((void *)(file->bytes + ((file->size - 1) & -page)), page,
		       MADV_POPULATE_READ) &&
	       errno == EFAULT;
#else
	return false;
#endif
}

void rcore_mapped_file_release_pages(const struct rcore_mapped_file *file)
{
	if (file->bytes)
		madvise((void *)file->bytes, file->size, MADV_DONTNEED);
}

void rcore_unmap_file(struct rcore_mapped_file *file)
{
	if (file->bytes)
		munmap((void *)file->bytes, file->size);
	*file = (struct rcore_mapped_file){0};
}
