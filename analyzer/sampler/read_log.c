/* SPDX-License-Identifier: MIT */
#include "sampler/read_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Limits of a log. If a decoder reads more, calling it again costs less. */
enum { READS = 64, BYTES = 2048 };

static void note(struct rcore_read_log *log, uint64_t address, const void *bytes, size_t size)
{
	struct rcore_logged_read *read = NULL;
	if (!log->bytes)
		log->bytes = malloc(2 * (size_t)BYTES);
	if (log->bytes && size <= BYTES - log->used && log->reads.count < READS)
		read = rcore_push(&log->reads);
	if (!read) {
		log->is_whole = false;
		return;
	}
	*read = (struct rcore_logged_read){address, size};
	memcpy(log->bytes + log->used, bytes, size);
	log->used += size;
}

static enum rcore_fault read_noted(struct rcore_memory *memory, uint64_t address, void *buffer,
				   size_t size)
{
	struct rcore_read_log *log = (struct rcore_read_log *)memory;
	enum rcore_fault fault = rcore_read(log->below, address, buffer, size);
	if (fault)
		log->is_whole = false;
	else
		note(log, address, buffer, size);
	return fault;
}

void rcore_read_log_begin(struct rcore_read_log *log, struct rcore_memory *below)
{
	log->memory = (struct rcore_memory){.read = read_noted};
	log->below = below;
	log->reads.count = log->used = 0;
	log->is_whole = true;
}

static bool is_within(const struct rcore_logged_read *read, const struct rcore_piece *copied)
{
	uint64_t offset = read->address - copied->start;
	return offset < copied->read && read->size <= copied->read - offset;
}

bool rcore_read_log_holds(struct rcore_read_log *log, struct rcore_live *live,
			  const struct rcore_piece *copied)
{
	struct rcore_live_range ranges[READS];
	size_t at = BYTES, count = 0;
	if (!log->is_whole || !log->reads.count)
		return false;
	for (size_t i = 0; i < log->reads.count; i++) {
		const struct rcore_logged_read *read = &log->reads.items[i];
		if (is_within(read, copied))
			memcpy(log->bytes + at, copied->bytes + (read->address - copied->start),
			       read->size);
		else
			ranges[count++] = (struct rcore_live_range){read->address, read->size,
								    log->bytes + at, 0};
		at += read->size;
	}
	if (count)
		rcore_live_read(live, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].read < ranges[i].size)
			return false;
	return !memcmp(log->bytes, log->bytes + BYTES, log->used);
}

void rcore_read_log_deinit(struct rcore_read_log *log)
{
	free(log->reads.items);
	free(log->bytes);
}
