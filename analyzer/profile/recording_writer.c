/* SPDX-License-Identifier: MIT */
#include "profile/recording_writer.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/grow.h"
#include "base/text.h"
#include "profile/tables.h"

struct rcore_recording_writer {
	int fd;
	uint64_t size;                /* of the file's whole blocks */
	size_t written[RCORE_TABLES]; /* entries that are in the file */
	/* The titles and ends of processes that are in the file. */
	struct {
		struct rcore_profile_change *items;
		size_t count, capacity;
	} changes;
	uint32_t generation;
	bool is_begun;     /* whether `generation` is set */
	size_t fact_count; /* of `facts` */
	struct rcore_bytes facts, payload, section, block;
};

static void append_text(struct rcore_bytes *bytes, const char *text, size_t size)
{
	rcore_bytes_varint(bytes, size);
	rcore_bytes_append(bytes, text, size);
}

static struct rcore_error *write_all(struct rcore_recording_writer *writer, const void *bytes,
				     size_t size)
{
	const char *at = bytes;
	size_t left = size;
	while (left) {
		ssize_t written = write(writer->fd, at, left);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			int errnum = written ? errno : EIO;
			/* A partial block would be reported as damage. */
			if (left < size && ftruncate(writer->fd, (off_t)writer->size))
				errnum = errno == EINVAL ? errnum : errno;
			return rcore_error_os(errnum, "cannot write the recording");
		}
		at += written;
		left -= (size_t)written;
	}
	writer->size += size;
	return NULL;
}

struct rcore_error *rcore_recording_writer_new(int fd, struct rcore_recording_writer **ret)
{
	struct rcore_recording_writer *writer = calloc(1, sizeof(*writer));
	if (!writer)
		return rcore_error_no_memory();
	const struct rcore_recording_header header = {
		.magic = RCORE_RECORDING_MAGIC,
		.format = htole32(RCORE_RECORDING_FORMAT),
	};
	writer->fd = fd;
	struct rcore_error *err = write_all(writer, &header, sizeof(header));
	if (err)
		free(writer);
	else
		*ret = writer;
	return err;
}

void rcore_recording_writer_free(struct rcore_recording_writer *writer)
{
	if (!writer)
		return;
	free(writer->changes.items);
	rcore_bytes_deinit(&writer->facts);
	rcore_bytes_deinit(&writer->payload);
	rcore_bytes_deinit(&writer->section);
	rcore_bytes_deinit(&writer->block);
	free(writer);
}

struct rcore_error *rcore_recording_writer_fact(struct rcore_recording_writer *writer,
						const char *key, const char *value)
{
	append_text(&writer->facts, key, rcore_utf8_cut(key, RCORE_PROFILE_TEXT_MAX));
	append_text(&writer->facts, value, rcore_utf8_cut(value, RCORE_PROFILE_TEXT_MAX));
	return writer->facts.no_memory ? rcore_error_no_memory() : NULL;
}

/* Moves the section that was built into the payload. */
static void end_section(struct rcore_recording_writer *writer, enum rcore_section tag)
{
	rcore_bytes_varint(&writer->payload, tag);
	append_text(&writer->payload, (const char *)writer->section.items,
		    writer->section.count);
	writer->payload.no_memory |= writer->section.no_memory;
	writer->section.count = 0;
}

/* Writes how many entries of a table are new, and returns that number. */
static size_t begin_table(struct rcore_recording_writer *writer,
			  const struct rcore_profile *profile, enum rcore_table table,
			  size_t *ret_first)
{
	size_t count = rcore_table_count(profile, table);
	*ret_first = writer->written[table];
	writer->written[table] = count;
	if (count > *ret_first)
		rcore_bytes_varint(&writer->section, count - *ret_first);
	return count - *ret_first;
}

static void add_strings(struct rcore_recording_writer *writer,
			const struct rcore_profile *profile)
{
	size_t first, count = begin_table(writer, profile, RCORE_TABLE_STRINGS, &first);
	for (size_t i = first; i < first + count; i++) {
		size_t size;
		const char *text = rcore_bytes_set_get(&profile->strings, (uint32_t)i, &size);
		append_text(&writer->section, text, size);
	}
	if (count)
		end_section(writer, RCORE_SECTION_STRINGS);
}

static void add_labels(struct rcore_recording_writer *writer,
		       const struct rcore_profile *profile)
{
	size_t first, count = begin_table(writer, profile, RCORE_TABLE_LABELS, &first);
	for (size_t i = first; i < first + count; i++) {
		size_t pairs;
		const struct rcore_profile_label *labels =
			rcore_profile_label_set(profile, (uint32_t)i, &pairs);
		rcore_bytes_varint(&writer->section, pairs);
		for (size_t p = 0; p < pairs; p++) {
			rcore_bytes_varint(&writer->section, labels[p].key);
			rcore_bytes_varint(&writer->section, labels[p].value);
		}
	}
	if (count)
		end_section(writer, RCORE_SECTION_LABELS);
}

static void add_records(struct rcore_recording_writer *writer, struct rcore_profile *profile,
			const struct rcore_table_type *type)
{
	size_t first, count = begin_table(writer, profile, type->table, &first);
	if (!count)
		return;
	const char *records =
		(const char *)rcore_table_set(profile, type)->items + first * type->record.size;
	if (type->later_section) {
		rcore_columns_write(&type->later, records, count, &writer->section);
		end_section(writer, type->later_section);
		rcore_bytes_varint(&writer->section, count);
	}
	rcore_columns_write(&type->record, records, count, &writer->section);
	end_section(writer, type->section);
}

/* Returns the title, or the end, of a process. */
static uint64_t value_of(const struct rcore_profile_change *change, enum rcore_section tag)
{
	return tag == RCORE_SECTION_TITLES ? change->title : change->ended;
}

/* Writes the titles or the ends that have changed since the last block. */
static void add_changed(struct rcore_recording_writer *writer,
			const struct rcore_profile *profile, enum rcore_section tag)
{
	const struct rcore_profile_changes *changes = &profile->changes;
	struct rcore_bytes *section = &writer->section;
	size_t changed = 0;
	for (size_t i = 0; i < changes->count; i++)
		changed += value_of(&changes->items[i], tag) !=
			   value_of(&writer->changes.items[i], tag);
	if (!changed)
		return;
	rcore_bytes_varint(section, changed);
	for (size_t i = 0; i < changes->count; i++) {
		uint64_t value = value_of(&changes->items[i], tag);
		if (value == value_of(&writer->changes.items[i], tag))
			continue;
		rcore_bytes_varint(section, i);
		rcore_bytes_varint(section, value);
	}
	end_section(writer, tag);
}

static void add_changes(struct rcore_recording_writer *writer,
			const struct rcore_profile *profile)
{
	while (writer->changes.count < profile->changes.count)
		if (!rcore_push(&writer->changes)) {
			writer->section.no_memory = true;
			return;
		}
	add_changed(writer, profile, RCORE_SECTION_TITLES);
	add_changed(writer, profile, RCORE_SECTION_ENDED);
	if (profile->changes.count)
		memcpy(writer->changes.items, profile->changes.items,
		       profile->changes.count * sizeof(*profile->changes.items));
}

/* Files do not contain the entries for "none". */
static void begin_generation(struct rcore_recording_writer *writer, uint32_t generation)
{
	for (int table = 0; table < RCORE_TABLES; table++)
		writer->written[table] = 1;
	writer->changes.count = 0;
	if (writer->is_begun)
		end_section(writer, RCORE_SECTION_RESET);
	writer->generation = generation;
	writer->is_begun = true;
}

static void add_tables(struct rcore_recording_writer *writer, struct rcore_profile *profile)
{
	if (!writer->is_begun || writer->generation != profile->generation)
		begin_generation(writer, profile->generation);
	add_strings(writer, profile);
	for (size_t i = 0; i < RCORE_TABLE_TYPES; i++)
		add_records(writer, profile, &rcore_table_types[i]);
	add_changes(writer, profile);
	add_labels(writer, profile);
}

/* Returns the checksum of a block whose header and payload are adjacent. */
static uint64_t checksum(const unsigned char *block, size_t stored)
{
	XXH64_state_t state;
	XXH64_reset(&state, 0);
	XXH64_update(&state, block, RCORE_BLOCK_CHECKED);
	XXH64_update(&state, block + sizeof(struct rcore_block_header), stored);
	return XXH64_digest(&state);
}

/* Fills writer->block with a header and the compressed payload. */
static bool make_block(struct rcore_recording_writer *writer, enum rcore_block_kind kind)
{
	const struct rcore_bytes *payload = &writer->payload;
	struct rcore_bytes *block = &writer->block;
	uLongf stored = compressBound(payload->count);
	struct rcore_block_header header = {
		.mark = htole32(RCORE_BLOCK_MARK),
		.kind = htole16((uint16_t)kind),
		.coding = htole16(RCORE_BLOCK_ZLIB),
		.plain_size = htole32((uint32_t)payload->count),
	};
	unsigned char *at = rcore_bytes_reserve(block, sizeof(header) + stored);
	if (!at)
		return false;
	if (compress2(at + sizeof(header), &stored, payload->count ? payload->items : at,
		      payload->count, Z_BEST_SPEED) != Z_OK)
		return false;
	header.stored_size = htole32((uint32_t)stored);
	memcpy(at, &header, sizeof(header));
	header.checksum = htole64(checksum(at, stored));
	memcpy(at, &header, sizeof(header));
	block->count = sizeof(header) + stored;
	return true;
}

static struct rcore_error *write_block(struct rcore_recording_writer *writer,
				       enum rcore_block_kind kind)
{
	struct rcore_error *err = NULL;
	if (writer->payload.no_memory || writer->facts.no_memory)
		err = rcore_error_no_memory();
	else if (writer->payload.count > RCORE_BLOCK_SIZE_MAX)
		err = rcore_error_create(RCORE_ERROR_LIMIT,
					 "a block of the recording would have %zu MiB (at most "
					 "%d), which is more than the samples of one second",
					 writer->payload.count >> 20,
					 RCORE_BLOCK_SIZE_MAX >> 20);
	else if (!make_block(writer, kind))
		err = rcore_error_no_memory();
	else
		err = write_all(writer, writer->block.items, writer->block.count);
	writer->payload.count = 0;
	return err;
}

static void add_samples(struct rcore_recording_writer *writer,
			const struct rcore_profile_sample *samples, size_t count)
{
	rcore_bytes_varint(&writer->section, count);
	rcore_columns_write(&rcore_sample_type, samples, count, &writer->section);
	end_section(writer, RCORE_SECTION_SAMPLES);
}

static struct rcore_error *flush(struct rcore_recording_writer *writer,
				 struct rcore_profile *profile, enum rcore_block_kind kind)
{
	const struct rcore_profile_samples *samples = &profile->samples;
	struct rcore_error *err = NULL;
	if (profile->no_memory)
		return rcore_error_no_memory();
	if (writer->facts.count) {
		rcore_bytes_append(&writer->section, writer->facts.items, writer->facts.count);
		end_section(writer, RCORE_SECTION_FACTS);
		writer->facts.count = 0;
	}
	add_tables(writer, profile);
	for (size_t done = 0; !err;) {
		size_t count = samples->count - done;
		if (count > RCORE_BLOCK_SAMPLES_MAX)
			count = RCORE_BLOCK_SAMPLES_MAX;
		if (count)
			add_samples(writer, samples->items + done, count);
		done += count;
		bool is_last = done == samples->count;
		err = write_block(writer, is_last ? kind : RCORE_BLOCK_DATA);
		if (is_last)
			break;
	}
	profile->samples.count = 0;
	return err;
}

struct rcore_error *rcore_recording_writer_flush(struct rcore_recording_writer *writer,
						 struct rcore_profile *profile)
{
	struct rcore_error *err = flush(writer, profile, RCORE_BLOCK_DATA);
	if (!err && rcore_profile_memory(profile) > RCORE_PROFILE_MEMORY_MAX)
		rcore_profile_clear(profile);
	return err;
}

struct rcore_error *rcore_recording_writer_end(struct rcore_recording_writer *writer,
					       struct rcore_profile *profile)
{
	return flush(writer, profile, RCORE_BLOCK_END);
}
