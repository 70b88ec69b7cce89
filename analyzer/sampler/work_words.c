/* SPDX-License-Identifier: MIT */
#include "sampler/work_words.h"

#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/hot.h"
#include "sampler/sampler_private.h"
#include "vm/work/work.h"

enum { WORDS = 64 /* from which the fields of one frame come */ };

/* What was copied of a stack, and nothing else. */
static RCORE_HOT struct rcore_copies copies_of(const struct rcore_track *track)
{
	struct rcore_copies copies;
	rcore_copies_init(&copies, NULL);
	copies.stack = &track->stack;
	return copies;
}

RCORE_HOT bool rcore_work_words_read(struct rcore_sampler *sampler, struct rcore_track *track,
				     bool is_late)
{
	struct rcore_work_watch *watch = &track->work;
	struct rcore_sampler_work_labels *works = &sampler->works;
	struct rcore_copies copies = copies_of(track);
	works->ranges.count = 0;
	for (size_t i = 0; i < watch->words.count; i++) {
		struct rcore_work_word *word = &watch->words.items[i];
		struct rcore_live_range *range;
		bool is_on_stack = word->address >= track->stack.bottom &&
				   word->address < track->stack.top;
		if (!is_late && !track->stack.is_light && is_on_stack) {
			if (rcore_read_u64(&copies.memory, word->address, &word->value))
				return false;
			continue;
		}
		range = rcore_push(&works->ranges);
		if (!range)
			return false;
		*range = (struct rcore_live_range){.start = word->address,
						   .size = sizeof(word->value),
						   .bytes = (uint8_t *)&word->value};
	}
	if (works->ranges.count)
		rcore_live_read(sampler->live, works->ranges.items, works->ranges.count);
	for (size_t i = 0; i < works->ranges.count; i++)
		if (works->ranges.items[i].read < works->ranges.items[i].size)
			return false;
	return true;
}

/* What does not change while the method of a frame runs: iseq, self, ep. */
enum { FRAME_WORDS = 3 };

struct frame_words {
	uint64_t addresses[FRAME_WORDS], values[FRAME_WORDS];
};

/* Reads them from the copied stack. Returns false if they are not in it. */
static bool read_frame(const struct rcore_layout *layout, const struct rcore_track *track,
		       size_t place, struct frame_words *ret)
{
	const struct rcore_field *const fields[FRAME_WORDS] = {
		&layout->cfp.iseq, &layout->cfp.self, &layout->cfp.ep};
	uint64_t cfp = track->stack.top - (place + 2) * layout->cfp.size;
	struct rcore_copies copies = copies_of(track);
	for (size_t i = 0; i < FRAME_WORDS; i++) {
		ret->addresses[i] = cfp + (uint64_t)fields[i]->offset;
		if (rcore_read_u64(&copies.memory, ret->addresses[i], &ret->values[i]))
			return false;
	}
	return true;
}

RCORE_HOT uint64_t rcore_work_words_key(const struct rcore_sampler *sampler,
					const struct rcore_track *track)
{
	const struct rcore_work_watch *watch = &track->work;
	uint64_t hash = 0;
	for (size_t i = 0; i < watch->places.count; i++) {
		struct frame_words frame;
		if (!read_frame(sampler->layout, track, watch->places.items[i], &frame))
			return 0;
		hash = XXH64(frame.values, sizeof(frame.values), hash);
	}
	for (size_t i = 0; i < watch->words.count; i++)
		hash = XXH64(&watch->words.items[i].value, sizeof(uint64_t), hash);
	return hash;
}

bool rcore_work_words_hold(struct rcore_sampler *sampler, const struct rcore_track *track,
			   size_t place)
{
	const struct rcore_work_watch *watch = &track->work;
	struct rcore_live_range ranges[FRAME_WORDS + WORDS];
	uint64_t copied[RCORE_COUNT(ranges)], now[RCORE_COUNT(ranges)];
	struct frame_words frame;
	size_t count = 0;
	if (!read_frame(sampler->layout, track, place, &frame))
		return false;
	for (; count < FRAME_WORDS; count++) {
		ranges[count].start = frame.addresses[count];
		copied[count] = frame.values[count];
	}
	for (size_t i = 0; i < watch->words.count && count < RCORE_COUNT(ranges); i++) {
		const struct rcore_work_word *word = &watch->words.items[i];
		if (word->place != place)
			continue;
		ranges[count].start = word->address;
		copied[count++] = word->value;
	}
	for (size_t i = 0; i < count; i++) {
		ranges[i].size = sizeof(now[i]);
		ranges[i].bytes = (uint8_t *)&now[i];
		ranges[i].read = 0;
	}
	rcore_live_read(sampler->live, ranges, count);
	for (size_t i = 0; i < count; i++)
		if (ranges[i].read < ranges[i].size)
			return false;
	return !memcmp(copied, now, count * sizeof(*now));
}

/* Adds the word from which a field comes, unless it is known. */
static struct rcore_error *add_word(struct rcore_track *track, size_t place, uint64_t address)
{
	struct rcore_work_watch *watch = &track->work;
	size_t count = 0;
	if (!address)
		return NULL;
	for (size_t i = 0; i < watch->words.count; i++) {
		if (watch->words.items[i].place != place)
			continue;
		if (watch->words.items[i].address == address || ++count == WORDS)
			return NULL;
	}
	struct rcore_work_word *word = rcore_push(&watch->words);
	if (!word)
		return rcore_error_no_memory();
	*word = (struct rcore_work_word){.place = place, .address = address};
	return NULL;
}

static struct rcore_error *add_words_of(struct rcore_sampler *sampler,
					struct rcore_track *track,
					const struct rcore_fiber *fiber, size_t index,
					const struct rcore_recognizer *recognizer)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < recognizer->field_count && !err; i++) {
		const struct rcore_recognizer_field *field = &recognizer->fields[i];
		for (size_t j = 0; j < field->path_count && !err; j++) {
			uint64_t address;
			err = rcore_error_forgive(rcore_value_path_start(
				&sampler->works.ruby, fiber, &fiber->frames[index],
				field->paths[j], &address));
			if (!err)
				err = add_word(track, track->work.places.items[index], address);
		}
	}
	return err;
}

struct rcore_error *rcore_work_words_find(struct rcore_sampler *sampler,
					  struct rcore_track *track,
					  const struct rcore_fiber *fiber)
{
	const struct rcore_recognizers *chosen = &sampler->works.chosen;
	struct rcore_error *err = NULL;
	track->work.words.count = 0;
	for (size_t i = 0; i < fiber->frame_count; i++)
		for (size_t j = 0; j < chosen->count && !err; j++)
			if (rcore_recognizer_matches(&chosen->items[j], fiber->frames[i].label))
				err = add_words_of(sampler, track, fiber, i, &chosen->items[j]);
	return err;
}
