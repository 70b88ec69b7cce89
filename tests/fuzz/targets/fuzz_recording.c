/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "profile/format.h"
#include "report/profile/profile_report.h"
#include "target.h"

/*
 * A recording, and all that is written of it. If the first byte is odd, the
 * rest is the payload of a block: no fuzzer finds checksums.
 */

static void make_file(const uint8_t *payload, size_t size, struct fuzz_file *file)
{
	const struct rcore_recording_header header = {RCORE_RECORDING_MAGIC,
						      RCORE_RECORDING_FORMAT, 0};
	struct rcore_block_header block = {
		.mark = RCORE_BLOCK_MARK,
		.kind = RCORE_BLOCK_DATA,
		.coding = RCORE_BLOCK_PLAIN,
		.stored_size = (uint32_t)size,
		.plain_size = (uint32_t)size,
	};
	uint8_t *bytes = malloc(sizeof(header) + sizeof(block) + size);
	XXH64_state_t state;
	if (!bytes)
		abort();
	XXH64_reset(&state, 0);
	XXH64_update(&state, &block, RCORE_BLOCK_CHECKED);
	XXH64_update(&state, payload, size);
	block.checksum = XXH64_digest(&state);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + sizeof(header), &block, sizeof(block));
	memcpy(bytes + sizeof(header) + sizeof(block), payload, size);
	fuzz_file_open(file, bytes, sizeof(header) + sizeof(block) + size);
	free(bytes);
}

static void write_all(const struct rcore_totals *totals,
		      const struct rcore_recording_facts *facts)
{
	const struct rcore_profile_report report = {.totals = totals, .facts = {facts, facts}};
	const struct rcore_profile_format *format = rcore_profile_formats;
	for (; format->ending; format++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		if (!out)
			abort();
		rcore_error_free(format->write(&report, out));
		fclose(out);
		free(text);
	}
}

static void read_all(struct rcore_recording *recording)
{
	const struct rcore_totals_options options = {
		.redact = RCORE_REDACT_SECRETS,
		.by = RCORE_BY_STATE,
		.keeps_threads = true,
		.keeps_labels = true,
		.keeps_lines = true,
		.keeps_times = true,
	};
	struct rcore_totals *totals;
	struct rcore_error *err = rcore_totals_new(&options, &totals);
	if (err) {
		rcore_error_free(err);
		return;
	}
	for (bool more = true; more && !err;) {
		err = rcore_recording_next(recording, &more);
		if (!err && more)
			err = rcore_totals_add(totals, recording->profile, RCORE_SIDE_NEW);
	}
	if (!err)
		write_all(totals, &recording->facts);
	rcore_error_free(err);
	rcore_totals_free(totals);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_file file;
	struct rcore_recording *recording;
	if (!size)
		return 0;
	if (bytes[0] & 1)
		make_file(bytes + 1, size - 1, &file);
	else
		fuzz_file_open(&file, bytes + 1, size - 1);
	struct rcore_error *err = rcore_recording_open(file.path, &recording);
	if (!err) {
		read_all(recording);
		rcore_recording_close(recording);
	}
	rcore_error_free(err);
	fuzz_file_close(&file);
	return 0;
}
