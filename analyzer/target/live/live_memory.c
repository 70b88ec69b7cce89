/* SPDX-License-Identifier: MIT */
#include "target/live/live_memory.h"

#include "base/hot.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
	BATCH = 512, /* at most IOV_MAX */
	USER_SPACE_BITS = 56,
};

bool rcore_live_memory_follow(struct rcore_live_memory *memory)
{
	int task;
	if (memory->is_half)
		return false;
	int home = memory->home >= 0 ? memory->home : memory->folder;
	int found = rcore_live_folder_find(home, memory->pid, &task);
	if (found < 0)
		return false;
	if (memory->home < 0)
		memory->home = fcntl(memory->folder, F_DUPFD_CLOEXEC, 0);
	bool is_set = memory->home >= 0 && dup3(found, memory->folder, O_CLOEXEC) >= 0;
	close(found);
	if (!is_set)
		return false;
	memory->task = task;
	memory->is_gone = false;
	return true;
}

/*
 * When a thread executes another program, it ends all others and then becomes
 * the main thread. So the thread to read through may have to be found twice.
 */
static RCORE_HOT ssize_t read_task(struct rcore_live_memory *memory, const struct iovec *local,
				   const struct iovec *remote, size_t count)
{
	for (int left = 3;; left--) {
		ssize_t got = process_vm_readv(memory->task, local, count, remote, count, 0);
		if (got >= 0 || errno != ESRCH)
			return got;
		if (!left || memory->is_gone || !rcore_live_memory_follow(memory)) {
			errno = ESRCH;
			return -1;
		}
	}
}

/*
 * Returns how many bytes were read, up to the first page that cannot be read;
 * if none were read, -1 and errno. Reading /proc/PID/mem of a process that has
 * ended returns 0.
 */
static RCORE_HOT ssize_t read_vectors(struct rcore_live_memory *memory,
				      const struct iovec *local, const struct iovec *remote,
				      size_t count)
{
	if (memory->file < 0) {
		ssize_t got = read_task(memory, local, remote, count);
		memory->is_gone |= got < 0 && errno == ESRCH;
		if (got >= 0 || (errno != ENOSYS && errno != EPERM))
			return got;
		int errnum = errno;
		memory->file = openat(memory->folder, "mem", O_RDONLY | O_CLOEXEC);
		if (memory->file < 0) {
			errno = errnum;
			return -1;
		}
	}
	ssize_t total = 0;
	for (size_t i = 0; i < count; i++) {
		ssize_t got = pread(memory->file, local[i].iov_base, local[i].iov_len,
				    (off_t)(uintptr_t)remote[i].iov_base);
		memory->is_gone |= !got && local[i].iov_len;
		if (got < 0 && !total)
			return -1;
		total += got > 0 ? got : 0;
		if (got != (ssize_t)local[i].iov_len)
			break;
	}
	return total;
}

/* /proc/PID/mem fails with EIO where process_vm_readv() fails with EFAULT. */
static enum rcore_fault fault_at(struct rcore_live_memory *memory, uint64_t address, int errnum)
{
	if (errnum != EFAULT && errnum != EIO)
		return RCORE_FAULT_IO;
	return rcore_live_region_at(memory->maps, address) ? RCORE_FAULT_NOT_COPIED
							   : RCORE_FAULT_UNMAPPED;
}

/*
 * Whether the page at `address` has contents: it is in memory, or swapped out
 * (proc_pid_pagemap(5)).
 */
static bool is_populated(struct rcore_live_memory *memory, uint64_t address)
{
	const uint64_t present = 1ull << 63, swapped = 1ull << 62;
	uint64_t entry = 0;
	off_t at = (off_t)(address / (uint64_t)sysconf(_SC_PAGESIZE) * sizeof(entry));
	int file = openat(memory->folder, "pagemap", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	bool is_read = pread(file, &entry, sizeof(entry), at) == sizeof(entry);
	close(file);
	return is_read && entry & (present | swapped);
}

/*
 * Reads the rest of one page that the process itself may not read. Returns the
 * number of bytes, 0 for none. GC.compact protects its pages from the program
 * while objects move (lock_page_body() of gc.c), but /proc/PID/mem can read
 * them. Memory that is only reserved, such as a guard page, would read as
 * zeroes that nobody wrote.
 */
static size_t read_protected(struct rcore_live_memory *memory, uint64_t address, void *buffer,
			     size_t size)
{
	size_t left = RCORE_LIVE_PAGE - address % RCORE_LIVE_PAGE;
	if (!rcore_live_region_at(memory->maps, address) || !is_populated(memory, address))
		return 0;
	int file = openat(memory->folder, "mem", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t got = pread(file, buffer, size < left ? size : left, (off_t)address);
	close(file);
	return got > 0 ? (size_t)got : 0;
}

static bool is_constant(struct rcore_live_memory *memory, uint64_t address)
{
	const struct rcore_live_region *region = rcore_live_region_at(memory->maps, address);
	return region && region->is_constant;
}

/*
 * Call it after a read of `address`. Returns true if the process may have run
 * by then, so that the bytes may differ from those at the stop.
 */
static RCORE_HOT bool is_late(struct rcore_live_memory *memory, uint64_t address)
{
	bool late = memory->stop ? !rcore_stop_is_held(memory->stop)
				 : memory->is_released && !is_constant(memory, address);
	memory->late_count += late;
	memory->allowed_count += late && memory->allows_late;
	return late;
}

/* Returns whether a late read has to fail. */
static RCORE_HOT bool is_lost(struct rcore_live_memory *memory, bool late)
{
	bool is_planned = memory->is_released && !memory->is_overdue;
	return late && !memory->reads_late && !is_planned;
}

static enum rcore_fault read_live(struct rcore_memory *base, uint64_t address, void *buffer,
				  size_t size)
{
	struct rcore_live_memory *memory = (struct rcore_live_memory *)base;
	uint64_t end;
	/*
	 * While the VM is searched for, four of ten words that are followed are
	 * no address of any processor's user space (five-level page tables of
	 * x86-64 have 2^56 bytes of it). A system call need not find that out.
	 */
	if (__builtin_add_overflow(address, (uint64_t)size, &end) || address >> USER_SPACE_BITS)
		return RCORE_FAULT_UNMAPPED;
	for (size_t done = 0; done < size;) {
		struct iovec local = {(char *)buffer + done, size - done};
		struct iovec remote = {(void *)(uintptr_t)(address + done), size - done};
		errno = 0;
		ssize_t got = read_vectors(memory, &local, &remote, 1);
		int errnum = errno;
		if (got < 0 && errnum == EFAULT)
			got = (ssize_t)read_protected(memory, address + done, local.iov_base,
						      local.iov_len);
		if (got <= 0)
			return fault_at(memory, address + done, errnum);
		done += (size_t)got;
	}
	return is_lost(memory, is_late(memory, address)) ? RCORE_FAULT_NOT_COPIED
							 : RCORE_FAULT_NONE;
}

void rcore_live_memory_init(struct rcore_live_memory *memory, int pid, int folder,
			    const struct rcore_live_maps *maps)
{
	*memory = (struct rcore_live_memory){
		.memory = {.read = read_live},
		.pid = pid,
		.task = pid,
		.folder = folder,
		.home = -1,
		.file = -1,
		.maps = maps,
	};
}

void rcore_live_memory_deinit(struct rcore_live_memory *memory)
{
	if (memory->file >= 0)
		close(memory->file);
	memory->file = -1;
	if (memory->home >= 0)
		close(memory->home);
	memory->home = -1;
}

/*
 * Adds `got` bytes to ranges[0..count). Returns how many ranges are complete:
 * the one at which the kernel stopped has no more.
 */
static RCORE_HOT size_t account(struct rcore_live_range *ranges, size_t count, size_t got)
{
	for (size_t i = 0; i < count; i++) {
		ranges[i].read = got < ranges[i].size ? got : ranges[i].size;
		got -= ranges[i].read;
		if (ranges[i].read < ranges[i].size)
			return i + 1;
	}
	return count;
}

/*
 * Reads what the kernel did not return of a range: one of its pages may be
 * protected.
 */
static void finish(struct rcore_live_memory *memory, struct rcore_live_range *range)
{
	while (range->read < range->size) {
		struct iovec local = {range->bytes + range->read, range->size - range->read};
		struct iovec remote = {(void *)(uintptr_t)(range->start + range->read),
				       local.iov_len};
		size_t got = read_protected(memory, range->start + range->read, local.iov_base,
					    local.iov_len);
		if (!got) {
			ssize_t more = read_vectors(memory, &local, &remote, 1);
			if (more <= 0)
				return;
			got = (size_t)more;
		}
		range->read += got;
	}
}

static RCORE_HOT void finish_in_time(struct rcore_live_memory *memory,
				     struct rcore_live_range *range)
{
	if (range->read == range->size)
		return;
	finish(memory, range);
	if (is_lost(memory, is_late(memory, range->start)))
		range->read = 0;
}

RCORE_HOT void rcore_live_read_batch(struct rcore_live_memory *memory,
				     struct rcore_live_range *ranges, size_t count)
{
	struct iovec local[BATCH], remote[BATCH];
	for (size_t i = 0; i < count; i++)
		ranges[i].read = 0;
	while (count && !memory->is_gone) {
		size_t now = count < BATCH ? count : BATCH;
		for (size_t i = 0; i < now; i++) {
			local[i] = (struct iovec){ranges[i].bytes, ranges[i].size};
			remote[i] = (struct iovec){(void *)(uintptr_t)ranges[i].start,
						   ranges[i].size};
		}
		ssize_t got = read_vectors(memory, local, remote, now);
		bool lost = is_lost(memory, is_late(memory, ranges->start));
		if (lost)
			got = 0;
		size_t done = account(ranges, now, got < 0 ? 0 : (size_t)got);
		if (done && !memory->is_gone && !lost)
			finish_in_time(memory, &ranges[done - 1]);
		ranges += done;
		count -= done;
	}
}
