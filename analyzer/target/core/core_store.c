/* SPDX-License-Identifier: MIT */
#include "target/core/core_store.h"

#include <archive.h>
#include <archive_entry.h>
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/page_buffer.h"
#include "target/core/spool.h"

enum { BLOCK = 1 << 20 };

struct copy {
	const struct rcore_core_store *store;
	struct archive *archive; /* NULL: the kept file is cut off */
	uint64_t kept, room;
	struct rcore_spool_file plain;
	struct rcore_stored_core *result;
};

/* ARCHIVE_WARN would mean that libarchive starts an external program. */
static bool add_filter(struct archive *archive, const char **ret)
{
	if (archive_write_add_filter_zstd(archive) == ARCHIVE_OK) {
		archive_write_set_filter_option(archive, "zstd", "compression-level", "1");
		*ret = ".zst";
		return true;
	}
	*ret = ".gz";
	return archive_write_add_filter_gzip(archive) == ARCHIVE_OK;
}

const char *rcore_core_store_ending(void)
{
	const char *ending = ".gz";
	struct archive *archive = archive_write_new();
	if (archive)
		add_filter(archive, &ending);
	archive_write_free(archive);
	return ending;
}

static la_ssize_t put(struct archive *archive, void *context, const void *bytes, size_t size)
{
	struct copy *copy = context;
	const struct rcore_core_store *store = copy->store;
	while (copy->kept + size > copy->room) {
		uint64_t more = store->more ? store->more(store->context) : 0;
		if (!more) {
			archive_set_error(archive, ENOSPC, "no room");
			return -1;
		}
		copy->room += more;
	}
	ssize_t written;
	do
		written = write(store->kept, bytes, size);
	while (written < 0 && errno == EINTR);
	if (written < 0) {
		archive_set_error(archive, errno, "cannot write");
		return -1;
	}
	copy->kept += (uint64_t)written;
	return written;
}

static bool open_kept(struct copy *copy)
{
	const char *ending;
	struct archive_entry *entry = archive_entry_new();
	copy->archive = archive_write_new();
	if (!entry || !copy->archive) {
		archive_entry_free(entry);
		return false;
	}
	archive_write_set_format_raw(copy->archive);
	/* No padding at the end. */
	archive_write_set_bytes_in_last_block(copy->archive, 1);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "core");
	bool fine = add_filter(copy->archive, &ending) &&
		    archive_write_open(copy->archive, copy, NULL, put, NULL) == ARCHIVE_OK &&
		    archive_write_header(copy->archive, entry) == ARCHIVE_OK;
	archive_entry_free(entry);
	return fine;
}

/* What was written so far can still be decompressed. */
static void give_up_kept(struct copy *copy)
{
	archive_write_free(copy->archive);
	copy->archive = NULL;
	copy->result->is_kept_cut = true;
}

static void add(struct copy *copy, const char *block, size_t size)
{
	if (copy->archive && archive_write_data(copy->archive, block, size) < 0)
		give_up_kept(copy);
	if (!copy->result->is_plain_cut && !rcore_spool_file_add(&copy->plain, block, size))
		copy->result->is_plain_cut = true;
	copy->result->size += size;
}

/* Returns false if there is nothing more to read, with *ret 0 or errno. */
static bool read_block(struct copy *copy, double deadline, char *block, size_t *size, int *ret)
{
	struct pollfd wait = {.fd = copy->store->in, .events = POLLIN};
	double left = deadline - rcore_clock_seconds();
	*ret = 0;
	int ready = deadline && left <= 0
			    ? 0
			    : poll(&wait, 1, deadline ? (int)(left * 1000) + 1 : -1);
	if (!ready) {
		copy->result->is_late = true;
		return false;
	}
	ssize_t got = ready < 0 ? -1 : read(copy->store->in, block + *size, BLOCK - *size);
	if (got < 0 && errno == EINTR)
		return true;
	if (got < 0)
		*ret = errno;
	*size += got > 0 ? (size_t)got : 0;
	return got > 0;
}

static struct rcore_error *not_elf(const char *block, size_t size)
{
	if (!size)
		return rcore_error_create(RCORE_ERROR_FORMAT, "standard input: is empty");
	if (size < SELFMAG || memcmp(block, ELFMAG, SELFMAG) != 0)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "standard input: is not an ELF file (expected a core "
					  "from the kernel)");
	return NULL;
}

static struct rcore_error *copy_all(struct copy *copy, char *block)
{
	double deadline =
		copy->store->seconds ? rcore_clock_seconds() + copy->store->seconds : 0;
	struct rcore_error *err = NULL;
	bool more = true;
	int errnum = 0;
	while (!err && more) {
		size_t size = 0;
		do
			more = read_block(copy, deadline, block, &size, &errnum);
		while (more && size < BLOCK);
		if (!copy->result->size && !copy->result->is_late && !errnum)
			err = not_elf(block, size);
		if (!err && size)
			add(copy, block, size);
	}
	if (!err && errnum)
		err = rcore_error_os(errnum, "standard input");
	return err;
}

struct rcore_error *rcore_core_store(const struct rcore_core_store *store,
				     struct rcore_stored_core *ret)
{
	*ret = (struct rcore_stored_core){0};
	struct copy copy = {.store = store, .room = store->room, .result = ret};
	char *block = rcore_page_buffer(BLOCK);
	if (!block)
		return rcore_error_no_memory();
	rcore_spool_file_init(&copy.plain, store->plain);
	if (!open_kept(&copy))
		give_up_kept(&copy);
	struct rcore_error *err = copy_all(&copy, block);
	if (copy.archive && archive_write_close(copy.archive) != ARCHIVE_OK)
		ret->is_kept_cut = true;
	archive_write_free(copy.archive);
	if (fsync(store->kept) || ftruncate(store->plain, (off_t)copy.plain.size))
		ret->is_kept_cut = true;
	ret->kept = copy.kept;
	free(block);
	return err;
}
