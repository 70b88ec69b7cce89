/* SPDX-License-Identifier: MIT */
#include "profile/recording.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/text.h"
#include "profile/decode.h"
#include "profile/format.h"
#include "target/file_kind.h"

/* Reads up to `size` bytes at `offset`. */
static struct rcore_error *read_at(int fd, uint64_t offset, void *bytes, size_t size,
				   size_t *ret)
{
	size_t done = 0;
	while (done < size) {
		ssize_t got =
			pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return rcore_error_os(errno, "cannot read the recording");
		if (!got)
			break;
		done += (size_t)got;
	}
	*ret = done;
	return NULL;
}

static struct rcore_error *check_header(int fd)
{
	struct rcore_recording_header header;
	char start[RCORE_FILE_KIND_SIZE];
	size_t size;
	struct rcore_error *err = read_at(fd, 0, start, sizeof(start), &size);
	if (err)
		return err;
	if (size < sizeof(header.magic) ||
	    memcmp(start, RCORE_RECORDING_MAGIC, sizeof(header.magic)) != 0) {
		const char *kind = rcore_file_kind(start, size);
		return rcore_error_create(RCORE_ERROR_FORMAT, "not a recording of rcore%s%s",
					  kind ? ", but " : "",
					  kind ? kind
					       : "; `rcore record -o FILE.rec` writes one");
	}
	if (size < sizeof(header))
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "the recording is cut off within its header");
	memcpy(&header, start, sizeof(header));
	uint32_t format = le32toh(header.format);
	if (format != RCORE_RECORDING_FORMAT)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"the recording has version %" PRIu32
			", but this rcore reads version %d; use a newer rcore",
			format, RCORE_RECORDING_FORMAT);
	return NULL;
}

/* Merely opening a device can have effects. */
static struct rcore_error *open_regular(const char *path, int *ret, struct stat *ret_status)
{
	if (stat(path, ret_status))
		return rcore_error_os(errno, "cannot open it");
	if (!S_ISREG(ret_status->st_mode))
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "not a regular file; name a recording");
	*ret = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*ret < 0 || fstat(*ret, ret_status))
		return rcore_error_os(errno, "cannot open it");
	return NULL;
}

struct rcore_error *rcore_recording_open(const char *path, struct rcore_recording **ret)
{
	char escaped[256];
	struct rcore_recording *recording = calloc(1, sizeof(*recording));
	if (!recording)
		return rcore_error_no_memory();
	recording->fd = -1;
	recording->offset = sizeof(struct rcore_recording_header);
	recording->profile = rcore_profile_new();
	struct rcore_error *err =
		recording->profile ? open_regular(path, &recording->fd, &recording->status)
				   : rcore_error_no_memory();
	if (!err)
		err = check_header(recording->fd);
	if (!err) {
		*ret = recording;
		return NULL;
	}
	rcore_recording_close(recording);
	return rcore_error_wrap(err, "%s", rcore_escape(escaped, sizeof(escaped), path));
}

static void forget_block(struct rcore_recording *recording)
{
	free(recording->stored);
	free(recording->plain);
	recording->stored = recording->plain = NULL;
}

void rcore_recording_close(struct rcore_recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->facts.count; i++) {
		free(recording->facts.items[i].key);
		free(recording->facts.items[i].value);
	}
	free(recording->facts.items);
	rcore_profile_free(recording->profile);
	rcore_error_free(recording->problem);
	free(recording->later.records);
	forget_block(recording);
	if (recording->fd >= 0)
		close(recording->fd);
	free(recording);
}

const char *rcore_recording_fact(const struct rcore_recording *recording, const char *key)
{
	for (size_t i = 0; i < recording->facts.count; i++)
		if (strcmp(recording->facts.items[i].key, key) == 0)
			return recording->facts.items[i].value;
	return NULL;
}

/* Returns a block header in host order. */
static struct rcore_block_header host_order(struct rcore_block_header header)
{
	return (struct rcore_block_header){
		.mark = le32toh(header.mark),
		.kind = le16toh(header.kind),
		.coding = le16toh(header.coding),
		.stored_size = le32toh(header.stored_size),
		.plain_size = le32toh(header.plain_size),
		.checksum = le64toh(header.checksum),
	};
}

static struct rcore_error *cut_off(void)
{
	return rcore_error_create(RCORE_ERROR_CORRUPT, "the file ends within the block");
}

/*
 * Reads and checks the header and the stored payload. *ret_end is set if there
 * is no further block.
 */
static struct rcore_error *load(struct rcore_recording *recording,
				struct rcore_block_header *ret, bool *ret_end)
{
	struct rcore_block_header raw;
	size_t size;
	struct rcore_error *err =
		read_at(recording->fd, recording->offset, &raw, sizeof(raw), &size);
	*ret_end = !err && !size;
	if (err || !size)
		return err;
	if (size < sizeof(raw))
		return cut_off();
	*ret = host_order(raw);
	if (ret->mark != RCORE_BLOCK_MARK || ret->stored_size > RCORE_BLOCK_SIZE_MAX ||
	    ret->plain_size > RCORE_BLOCK_SIZE_MAX)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "no block begins there");
	recording->stored = malloc(ret->stored_size + 1);
	if (!recording->stored)
		return rcore_error_no_memory();
	err = read_at(recording->fd, recording->offset + sizeof(raw), recording->stored,
		      ret->stored_size, &size);
	if (err)
		return err;
	if (size < ret->stored_size)
		return cut_off();
	XXH64_state_t state;
	XXH64_reset(&state, 0);
	XXH64_update(&state, &raw, RCORE_BLOCK_CHECKED);
	XXH64_update(&state, recording->stored, size);
	return XXH64_digest(&state) == ret->checksum
		       ? NULL
		       : rcore_error_create(RCORE_ERROR_CORRUPT, "its checksum is wrong");
}

static struct rcore_error *decompress(struct rcore_recording *recording,
				      const struct rcore_block_header *header)
{
	uLongf size = header->plain_size;
	if (header->coding == RCORE_BLOCK_PLAIN) {
		if (header->plain_size != header->stored_size)
			return rcore_error_create(RCORE_ERROR_CORRUPT, "its sizes differ");
		recording->plain = recording->stored;
		recording->stored = NULL;
		return NULL;
	}
	if (header->coding != RCORE_BLOCK_ZLIB)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"it is compressed in a way that this rcore does not know");
	recording->plain = malloc(size + 1);
	if (!recording->plain)
		return rcore_error_no_memory();
	if (uncompress(recording->plain, &size, recording->stored, header->stored_size) !=
		    Z_OK ||
	    size != header->plain_size)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "it cannot be decompressed");
	return NULL;
}

static struct rcore_error *next(struct rcore_recording *recording, bool *ret_end)
{
	struct rcore_block_header header = {0};
	struct rcore_error *err = load(recording, &header, ret_end);
	if (err || *ret_end)
		return err;
	bool is_known = header.kind == RCORE_BLOCK_DATA || header.kind == RCORE_BLOCK_END;
	if (is_known)
		err = decompress(recording, &header);
	if (is_known && !err)
		err = rcore_block_decode(recording, recording->plain, header.plain_size);
	if (err)
		return err;
	recording->offset += sizeof(header) + header.stored_size;
	recording->blocks++;
	recording->is_ended = header.kind == RCORE_BLOCK_END;
	return NULL;
}

struct rcore_error *rcore_recording_next(struct rcore_recording *recording, bool *ret_more)
{
	bool is_end = false;
	recording->profile->samples.count = 0;
	struct rcore_error *err = recording->problem ? NULL : next(recording, &is_end);
	forget_block(recording);
	*ret_more = !err && !is_end && !recording->problem;
	if (!err || err->code == RCORE_ERROR_OS || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	recording->profile->samples.count = 0;
	recording->problem =
		rcore_error_wrap(err, "damaged in block %" PRIu64 ", at byte %" PRIu64,
				 recording->blocks + 1, recording->offset);
	return NULL;
}
