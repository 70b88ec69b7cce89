/* SPDX-License-Identifier: MIT */
#include "target/core/spool.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/count.h"
#include "base/page_buffer.h"
#include "target/copy_range.h"
#include "target/output/output.h"

enum {
	BLOCK = 64 << 10,
	PAGE = 4096,
	/* Of the disk's free space; the rest stays for the other programs. */
	MAX_PERCENT = 90,
};

/*
 * No process has this much memory, but a few bytes of compressed zeroes can
 * claim it.
 */
#define MAX_CORE (UINT64_C(1) << 42)

static const struct {
	const char *magic;
	size_t size;
	const char *name;
	int (*support)(struct archive *);
} compressions[] = {
	{"\x28\xb5\x2f\xfd", 4, "zstd", archive_read_support_filter_zstd},
	{"\xfd\x37zXZ", 6, "xz", archive_read_support_filter_xz},
	{"\x04\x22\x4d\x18", 4, "lz4", archive_read_support_filter_lz4},
	{"\x1f\x8b", 2, "gzip", archive_read_support_filter_gzip},
	{"BZh", 3, "bzip2", archive_read_support_filter_bzip2},
};

const char *rcore_compression_of(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < RCORE_COUNT(compressions); i++)
		if (size >= compressions[i].size &&
		    !memcmp(bytes, compressions[i].magic, compressions[i].size))
			return compressions[i].name;
	return NULL;
}

/* Skips pages of zeroes: holes read as zeroes. */
static bool write_sparse(struct rcore_spool_file *file, const char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		uint64_t at = file->size + done;
		size_t step = PAGE - at % PAGE;
		step = step < size - done ? step : size - done;
		if (!rcore_is_zero(bytes + done, step)) {
			errno = rcore_write_at(file->fd, bytes + done, step, at);
			if (errno)
				return false;
			file->written += step;
		}
		done += step;
	}
	return true;
}

void rcore_spool_file_init(struct rcore_spool_file *file, int fd)
{
	struct statvfs found;
	*file = (struct rcore_spool_file){.fd = fd, .room = UINT64_MAX};
	if (!fstatvfs(fd, &found))
		file->room = (uint64_t)found.f_bavail * found.f_frsize / 100 * MAX_PERCENT;
}

bool rcore_spool_file_add(struct rcore_spool_file *file, const char *bytes, size_t size)
{
	if (!write_sparse(file, bytes, size))
		return false;
	file->size += size;
	errno = ENOSPC;
	return file->written <= file->room;
}

struct spool {
	struct rcore_spool_file file;
	const char *name; /* of the core, for messages */
	unsigned char head[sizeof(Elf64_Ehdr)];
};

static struct rcore_error *full(const char *name)
{
	return rcore_error_os(
		errno,
		"%s: no space for a copy of the core in %s; set TMPDIR to another folder", name,
		rcore_temporary_folder());
}

static struct rcore_error *too_large(const struct spool *spool)
{
	return rcore_error_create(
		RCORE_ERROR_LIMIT,
		"%s: a copy of the core needs more than the %" PRIu64
		" MiB that rcore may take of %s (%d %% of its free space); set "
		"TMPDIR to another folder",
		spool->name, spool->file.room >> 20, rcore_temporary_folder(), MAX_PERCENT);
}

/* Returns false as soon as the contents are certainly not a core. */
static bool take_head(struct spool *spool, const char *bytes, size_t size)
{
	size_t room = sizeof(spool->head);
	if (spool->file.size >= room)
		return true;
	size_t known = spool->file.size, step = room - known < size ? room - known : size;
	memcpy(spool->head + known, bytes, step);
	known += step;
	if (memcmp(spool->head, ELFMAG, known < SELFMAG ? known : SELFMAG) != 0)
		return false;
	Elf64_Ehdr header;
	memcpy(&header, spool->head, sizeof(header));
	return known < room || header.e_type == ET_CORE;
}

/*
 * Copies only the first block of a file that is not a core, which is enough to
 * detect that.
 */
static struct rcore_error *copy_all(struct archive *archive, struct spool *spool,
				    bool *ret_cut_off)
{
	char *block = rcore_page_buffer(BLOCK);
	struct rcore_error *err = block ? NULL : rcore_error_no_memory();
	bool may_be_core = true;
	while (!err && may_be_core) {
		la_ssize_t got = archive_read_data(archive, block, BLOCK);
		if (!got)
			break;
		if (got < 0) {
			*ret_cut_off = true;
			break;
		}
		may_be_core = take_head(spool, block, (size_t)got);
		if (spool->file.size + (uint64_t)got > MAX_CORE)
			err = rcore_error_create(RCORE_ERROR_LIMIT,
						 "%s: is larger than 4 TiB when decompressed",
						 spool->name);
		else if (!rcore_spool_file_add(&spool->file, block, (size_t)got))
			err = spool->file.written > spool->file.room ? too_large(spool)
								     : full(spool->name);
	}
	free(block);
	return err;
}

static struct rcore_error *map(int fd, uint64_t size, const char *name,
			       struct rcore_mapped_file *ret)
{
	struct rcore_mapped_file file = {.size = size, .mode = S_IFREG};
	if (ftruncate(fd, (off_t)size))
		return full(name);
	if (size) {
		void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
		if (bytes == MAP_FAILED)
			return rcore_error_os(errno, "%s: cannot map the copy of the core",
					      name);
		file.bytes = bytes;
	}
	*ret = file;
	return NULL;
}

static struct archive *new_archive(void)
{
	struct archive *archive = archive_read_new();
	if (!archive)
		return NULL;
	/* Any other result is a filter that would start a program. */
	for (size_t i = 0; i < RCORE_COUNT(compressions); i++)
		if (compressions[i].support(archive) != ARCHIVE_OK)
			archive_clear_error(archive);
	archive_read_support_format_raw(archive);
	archive_read_support_format_empty(archive);
	return archive;
}

static struct rcore_error *open_stream(struct archive *archive, int fd, const char *name,
				       bool *ret_empty)
{
	struct archive_entry *entry;
	int status = archive_read_open_fd(archive, fd, BLOCK);
	if (status == ARCHIVE_OK)
		status = archive_read_next_header(archive, &entry);
	*ret_empty = status == ARCHIVE_EOF;
	if (status == ARCHIVE_OK || status == ARCHIVE_EOF)
		return NULL;
	const char *why = archive_error_string(archive);
	return rcore_error_create(
		RCORE_ERROR_FORMAT,
		"%s: cannot be decompressed (%s); copy the core again, or get a new one", name,
		why ? why : "damaged");
}

struct rcore_error *rcore_spool(int fd, const char *name, struct rcore_mapped_file *ret,
				bool *ret_cut_off)
{
	struct archive *archive = new_archive();
	if (!archive)
		return rcore_error_no_memory();
	*ret_cut_off = false;
	bool is_empty = false;
	struct spool spool = {.name = name};
	int out = rcore_temporary_open();
	struct rcore_error *err =
		out < 0 ? full(name) : open_stream(archive, fd, name, &is_empty);
	rcore_spool_file_init(&spool.file, out);
	if (!err && !is_empty)
		err = copy_all(archive, &spool, ret_cut_off);
	if (!err)
		err = map(out, spool.file.size, name, ret);
	if (out >= 0)
		close(out);
	archive_read_free(archive);
	return err;
}
