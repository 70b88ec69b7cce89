/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hot.h"
#include "sampler/sampler_private.h"
#include "vm/work/work.h"

/*
 * Makes labels of what a thread works on (vm/work/). To find a value, rcore
 * follows references through the running process, which takes some ten to a
 * hundred system calls. So it looks only for the fields that the user asked
 * for, and only in stacks with a frame that can have them. It keeps the values
 * until the stack changes.
 *
 * The stack is a copy. The objects that it refers to are read later, when the
 * method may have returned. So rcore reads afterwards whether the frame still
 * runs, and still has the variables from which the fields come. If not, it
 * drops what it found. Other variables of the frame may change.
 */

enum {
	PLACES = 200, /* frames of one stack */
	WORDS = 64,   /* from which the fields of one frame come */
	/* Looks after which the memory that they allocated is freed. */
	LOOKS = 1000,
};

static bool is_asked(const struct rcore_sampler *sampler,
		     const struct rcore_recognizer *recognizer)
{
	for (size_t i = 0; i < recognizer->field_count; i++)
		if (rcore_sampler_asks_for(sampler, recognizer->fields[i].name))
			return true;
	return false;
}

/* Copies an entry with the fields that were asked for, or that it requires. */
static struct rcore_error *choose(struct rcore_sampler *sampler,
				  const struct rcore_recognizer *recognizer)
{
	struct rcore_recognizers *chosen = &sampler->works.chosen;
	struct rcore_recognizer copy = *recognizer, *item;
	copy.fields = rcore_arena_array(&chosen->arena, recognizer->field_count,
					sizeof(*copy.fields));
	copy.field_count = 0;
	if (!copy.fields)
		return rcore_error_no_memory();
	for (size_t i = 0; i < recognizer->field_count; i++) {
		const struct rcore_recognizer_field *field = &recognizer->fields[i];
		if (field->is_required || rcore_sampler_asks_for(sampler, field->name))
			copy.fields[copy.field_count++] = *field;
	}
	item = rcore_push(chosen);
	if (!item)
		return rcore_error_no_memory();
	*item = copy;
	return NULL;
}

static void begin(struct rcore_sampler *sampler)
{
	struct rcore_sampler_work_labels *works = &sampler->works;
	const struct rcore_codes *codes = &sampler->codes;
	rcore_ruby_init(&works->ruby, &works->copies.memory, codes->layout, &works->arena);
	codes->prepare(&works->ruby, codes->context);
	works->drops = codes->drops;
	works->looks = 0;
}

static void end(struct rcore_sampler *sampler)
{
	struct rcore_sampler_work_labels *works = &sampler->works;
	if (!works->chosen.count)
		return;
	rcore_ruby_deinit(&works->ruby);
	rcore_address_map_deinit(&works->matching);
	rcore_arena_deinit(&works->arena);
	works->arena = (struct rcore_arena){0};
}

struct rcore_error *rcore_sampler_work_labels_init(struct rcore_sampler *sampler)
{
	const struct rcore_recognizers *all = &sampler->session->recognizers;
	struct rcore_sampler_work_labels *works = &sampler->works;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < all->count && !err; i++)
		if (is_asked(sampler, &all->items[i]))
			err = choose(sampler, &all->items[i]);
	if (err || !works->chosen.count)
		return err;
	rcore_copies_init(&works->copies, rcore_cache_memory(sampler->pages));
	begin(sampler);
	return NULL;
}

void rcore_sampler_work_labels_deinit(struct rcore_sampler *sampler)
{
	end(sampler);
	rcore_recognizers_deinit(&sampler->works.chosen);
}

/* Compares each frame of the profile with the entries only once. */
static bool is_matching(struct rcore_sampler_work_labels *works,
			const struct rcore_code_frame *code)
{
	if (!code->frame || !code->label)
		return false;
	int known = rcore_address_map_get(&works->matching, code->frame);
	if (known >= 0)
		return known > 0;
	bool matches = false;
	for (size_t i = 0; i < works->chosen.count && !matches; i++)
		matches = rcore_recognizer_matches(&works->chosen.items[i], code->label);
	rcore_address_map_put(&works->matching, code->frame, matches);
	return matches;
}

/* Finds the frames that an entry matches. Returns false if memory is short. */
static bool find_places(struct rcore_sampler *sampler, struct rcore_track *track)
{
	struct rcore_work_watch *watch = &track->work;
	if (watch->node == track->node && watch->depth == track->count &&
	    watch->drops == track->drops)
		return true;
	watch->places.count = watch->words.count = 0;
	watch->is_known = false;
	for (size_t i = track->count; i-- && watch->places.count < PLACES;) {
		if (!is_matching(&sampler->works, &track->known[i].code))
			continue;
		size_t *place = rcore_push(&watch->places);
		if (!place)
			return false;
		*place = i;
	}
	watch->node = track->node;
	watch->depth = track->count;
	watch->drops = track->drops;
	return true;
}

/* What tells whether a frame still runs, and has the same fields. */
struct frame_words {
	uint64_t items[3 + WORDS];
	size_t count;
};

/*
 * Reads iseq, self and ep, which do not change while the method of a frame
 * runs, and the words from which its fields come. Returns false if they cannot
 * be read.
 */
static bool read_words(const struct rcore_layout *layout, struct rcore_memory *memory,
		       const struct rcore_track *track, size_t place, struct frame_words *ret)
{
	const struct rcore_work_watch *watch = &track->work;
	uint64_t cfp = track->stack.top - (place + 2) * layout->cfp.size;
	ret->count = 3;
	if (rcore_read_field(memory, cfp, &layout->cfp.iseq, &ret->items[0]) ||
	    rcore_read_field(memory, cfp, &layout->cfp.self, &ret->items[1]) ||
	    rcore_read_field(memory, cfp, &layout->cfp.ep, &ret->items[2]))
		return false;
	for (size_t i = 0; i < watch->words.count; i++) {
		const struct rcore_work_word *word = &watch->words.items[i];
		if (word->place == place &&
		    rcore_read_u64(memory, word->address, &ret->items[ret->count++]))
			return false;
	}
	return true;
}

/* Returns a hash of all frames that an entry matches; 0 if one is not read. */
static uint64_t key_of(struct rcore_sampler *sampler, const struct rcore_track *track)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < track->work.places.count; i++) {
		struct frame_words words;
		if (!read_words(sampler->layout, &sampler->works.copies.memory, track,
				track->work.places.items[i], &words))
			return 0;
		hash = XXH64(words.items, words.count * sizeof(*words.items), hash);
	}
	return hash;
}

/* Returns whether the process still has the frame that was copied. */
static bool still_has(struct rcore_sampler *sampler, const struct rcore_track *track,
		      size_t place)
{
	struct frame_words copied, now;
	return read_words(sampler->layout, &sampler->works.copies.memory, track, place,
			  &copied) &&
	       read_words(sampler->layout, rcore_live_bare_memory(sampler->live), track, place,
			  &now) &&
	       !memcmp(copied.items, now.items, now.count * sizeof(*now.items));
}

/*
 * Adds the word from which a field comes. Variables that a Proc or Binding has
 * moved to the heap are left out: ep tells them apart.
 */
static struct rcore_error *add_word(struct rcore_track *track, size_t place, uint64_t address)
{
	struct rcore_work_watch *watch = &track->work;
	size_t count = 0;
	if (address < track->stack.bottom || address >= track->stack.top)
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

/* Finds the words from which the fields of all matching frames come. */
static struct rcore_error *find_words(struct rcore_sampler *sampler, struct rcore_track *track,
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

/* If several frames have a field of one name, the innermost one's is kept. */
static uint32_t labels_of(struct rcore_sampler *sampler, struct rcore_track *track,
			  const struct rcore_works *works)
{
	struct rcore_profile_label labels[RCORE_PROFILE_LABELS_MAX];
	size_t count = 0;
	bool is_gone = false;
	for (size_t i = works->count; i--;) {
		const struct rcore_work *work = &works->items[i];
		size_t place = track->work.places.items[work->frame];
		if (!still_has(sampler, track, place)) {
			track->work.is_known = false;
			is_gone = true;
			continue;
		}
		for (size_t j = 0; j < work->fields.count; j++) {
			const struct rcore_variable *field = &work->fields.items[j];
			if (count == RCORE_PROFILE_LABELS_MAX || !field->value.text ||
			    !rcore_sampler_asks_for(sampler, field->name))
				continue;
			labels[count++] = rcore_sampler_label(sampler, field);
		}
	}
	sampler->statistics.unlabelled += is_gone;
	return count ? rcore_profile_labels(sampler->profile, labels, count) : 0;
}

static struct rcore_error *look(struct rcore_sampler *sampler, struct rcore_track *track)
{
	static const struct rcore_inspect_options inspect = {.max_string = 256};
	struct rcore_sampler_work_labels *works = &sampler->works;
	const struct rcore_work_watch *watch = &track->work;
	struct rcore_fiber fiber = {
		.vm_stack = track->stack.bottom,
		.vm_stack_size = track->stack.top - track->stack.bottom,
		.frame_count = watch->places.count,
		.frames = rcore_arena_array(&works->arena, watch->places.count,
					    sizeof(*fiber.frames)),
	};
	struct rcore_snapshot snapshot = {.fibers = &fiber, .fiber_count = 1};
	if (!fiber.frames)
		return rcore_error_no_memory();
	for (size_t i = 0; i < watch->places.count; i++)
		fiber.frames[i] = rcore_sampler_frame(sampler, track, watch->places.items[i]);
	struct rcore_error *err = find_words(sampler, track, &fiber);
	if (!err)
		err = rcore_vm_work(&works->ruby, &works->chosen, &inspect, &snapshot);
	track->work.labels = err ? 0 : labels_of(sampler, track, &fiber.works);
	rcore_arena_deinit(&snapshot.arena);
	return err;
}

static RCORE_HOT void look_at_work(struct rcore_sampler *sampler, struct rcore_track *track)
{
	struct rcore_sampler_work_labels *works = &sampler->works;
	struct rcore_work_watch *watch = &track->work;
	if (!works->chosen.count)
		return;
	if (works->drops != sampler->codes.drops || works->looks == LOOKS) {
		end(sampler);
		begin(sampler);
	}
	if (!find_places(sampler, track) || !watch->places.count) {
		watch->is_known = false;
		watch->labels = 0;
		return;
	}
	works->copies.stack = &track->stack;
	if (!watch->is_known || track->has_changed || watch->key != key_of(sampler, track)) {
		watch->is_known = true;
		works->looks++;
		rcore_cache_drop(sampler->pages);
		struct rcore_error *err = look(sampler, track);
		sampler->profile->no_memory |= err != NULL;
		rcore_error_free(err);
		watch->key = key_of(sampler, track);
	}
	works->copies.stack = NULL;
}

/* Joins two sets of labels. If both have a key, the first one's is kept. */
static RCORE_HOT uint32_t join(struct rcore_sampler *sampler, uint32_t first, uint32_t second)
{
	struct rcore_profile_label labels[2 * RCORE_PROFILE_LABELS_MAX];
	size_t counts[2], used = 0;
	const uint32_t numbers[] = {first, second};
	if (!first || !second)
		return first | second;
	for (size_t i = 0; i < 2; i++) {
		const struct rcore_profile_label *set =
			rcore_profile_label_set(sampler->profile, numbers[i], &counts[i]);
		memcpy(labels + used, set, counts[i] * sizeof(*labels));
		used += counts[i];
	}
	return rcore_profile_labels(sampler->profile, labels, used);
}

RCORE_HOT void rcore_sampler_add_work(struct rcore_sampler *sampler, struct rcore_track *track)
{
	look_at_work(sampler, track);
	track->labels = join(sampler, track->labels, track->work.labels);
}

RCORE_HOT void rcore_sampler_labels(struct rcore_sampler *sampler, struct rcore_track *track,
				    uint64_t now)
{
	rcore_sampler_context(sampler, track, now);
	track->labels = track->context.labels;
	rcore_sampler_add_work(sampler, track);
}
