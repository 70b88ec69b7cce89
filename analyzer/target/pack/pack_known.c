/* SPDX-License-Identifier: MIT */
#include "target/pack/pack_known.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"

enum { MORE = 0x80, BITS = 7 };

static bool put(struct rcore_known_writer *writer, uint64_t number)
{
	do {
		uint8_t *byte = rcore_push(writer);
		if (!byte)
			return false;
		*byte = number & (MORE - 1);
		number >>= BITS;
		*byte |= number ? MORE : 0;
	} while (number);
	return true;
}

bool rcore_known_add(struct rcore_known_writer *writer, uint64_t start, uint64_t size)
{
	if (!put(writer, start - writer->end) || !put(writer, size))
		return false;
	writer->end = start + size;
	return true;
}

void rcore_known_writer_deinit(struct rcore_known_writer *writer)
{
	free(writer->items);
	*writer = (struct rcore_known_writer){0};
}

static bool get(const uint8_t *note, size_t size, size_t *at, uint64_t *ret)
{
	*ret = 0;
	for (int shift = 0; *at < size && shift < 64; shift += BITS) {
		uint8_t byte = note[(*at)++];
		*ret |= (uint64_t)(byte & (MORE - 1)) << shift;
		if (!(byte & MORE))
			return true;
	}
	return false;
}

bool rcore_known_read(const uint8_t *note, size_t size, uint64_t limit,
		      struct rcore_known_runs *ret)
{
	uint64_t end = 0, gap, length;
	for (size_t at = 0; get(note, size, &at, &gap) && get(note, size, &at, &length);) {
		if (gap >= limit - end)
			return true;
		/* A truncated file has the beginning of a run. */
		bool is_cut = length > limit - end - gap;
		if (is_cut)
			length = limit - end - gap;
		struct rcore_known_run *last = ret->count ? &ret->items[ret->count - 1] : NULL;
		end += gap + length;
		bool joins = last && !gap;
		struct rcore_known_run *run = joins ? last : rcore_push(ret);
		if (!run)
			return false;
		if (!joins)
			run->start = end - length;
		run->end = end;
		if (is_cut)
			return true;
	}
	return true;
}

void rcore_known_deinit(struct rcore_known_runs *runs)
{
	free(runs->items);
	*runs = (struct rcore_known_runs){0};
}

size_t rcore_known_find(const struct rcore_known_runs *runs, uint64_t offset)
{
	size_t low =
		RCORE_PARTITION_POINT(runs->count, middle, runs->items[middle].end <= offset);
	return low;
}
