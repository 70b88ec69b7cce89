/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/hot.h"
#include "sampler/sampler_private.h"
#include "sampler/work_words.h"
#include "vm/work/work.h"

/*
 * Makes labels of what a thread works on (vm/work/). To find a value, rcore
 * follows references through the running process, which takes some ten to a
 * hundred system calls. So it looks only for the fields that the user asked
 * for, and only in stacks with a frame that can have them. It keeps the values
 * until the stack changes, or a variable from which they come (work_words.h).
 *
 * The stack is a copy. The objects that it refers to are read later, when the
 * method may have returned. So rcore reads afterwards whether the frame still
 * runs, and still has the variables from which the fields come. If not, it
 * drops what it found. Other variables of the frame may change.
 */

enum {
	PLACES = 200, /* frames of one stack */
	/* Looks after which the memory that they allocated is freed. */
	LOOKS = 1000,
	ATTEMPTS = 3, /* to find labels that belong together */
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
	free(sampler->works.ranges.items);
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

/* If several frames have a field of one name, the innermost one's is kept. */
static uint32_t labels_of(struct rcore_sampler *sampler, struct rcore_track *track,
			  const struct rcore_works *works)
{
	struct rcore_profile_label labels[RCORE_PROFILE_LABELS_MAX];
	size_t count = 0;
	for (size_t i = works->count; i--;) {
		const struct rcore_work *work = &works->items[i];
		size_t place = track->work.places.items[work->frame];
		if (!rcore_work_words_hold(sampler, track, place)) {
			track->work.is_known = false;
			track->work.is_gone = true;
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
	struct rcore_error *err = rcore_work_words_find(sampler, track, &fiber);
	if (!err && !rcore_work_words_read(sampler, track, false)) {
		track->work.is_known = false;
		track->work.is_gone = true;
		track->work.labels = 0;
		return NULL;
	}
	/* Words of the process now are newer than the pages of the tick. */
	if (!err && works->ranges.count)
		rcore_cache_drop(sampler->pages);
	if (!err)
		err = rcore_vm_work(&works->ruby, &works->chosen, &inspect, &snapshot);
	track->work.labels = err ? 0 : labels_of(sampler, track, &fiber.works);
	rcore_arena_deinit(&snapshot.arena);
	return err;
}

/*
 * Returns whether the labels of the last look are still right: those of the
 * stack that was copied, or with `is_late`, those of the process now.
 */
static RCORE_HOT bool is_same(struct rcore_sampler *sampler, struct rcore_track *track,
			      bool is_late)
{
	const struct rcore_work_watch *watch = &track->work;
	return watch->is_known && !track->has_changed &&
	       rcore_work_words_read(sampler, track, is_late) &&
	       watch->key == rcore_work_words_key(sampler, track);
}

/* Returns whether the work was looked up anew. */
static RCORE_HOT bool look_at_work(struct rcore_sampler *sampler, struct rcore_track *track,
				   bool is_late)
{
	struct rcore_sampler_work_labels *works = &sampler->works;
	struct rcore_work_watch *watch = &track->work;
	bool is_known;
	watch->is_gone = false;
	if (!works->chosen.count)
		return false;
	if (works->drops != sampler->codes.drops || works->looks == LOOKS) {
		end(sampler);
		begin(sampler);
	}
	if (!find_places(sampler, track) || !watch->places.count) {
		watch->is_known = false;
		watch->labels = 0;
		return false;
	}
	works->copies.stack = &track->stack;
	is_known = is_same(sampler, track, is_late);
	if (!is_known) {
		watch->is_known = true;
		works->looks++;
		/* Neither searches for what the other has found. */
		works->ruby.statics = sampler->codes.ruby.statics;
		struct rcore_error *err = look(sampler, track);
		sampler->codes.ruby.statics = works->ruby.statics;
		sampler->profile->no_memory |= err != NULL;
		rcore_error_free(err);
		watch->key = rcore_work_words_key(sampler, track);
		watch->is_known = watch->is_known && watch->key;
	}
	works->copies.stack = NULL;
	return !is_known;
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
	look_at_work(sampler, track, false);
	sampler->statistics.unlabelled += track->work.is_gone;
	track->labels = join(sampler, track->labels, track->work.labels);
}

/*
 * The context and the work are read after the stack was copied, and not at the
 * same time. The thread may have begun its next request in between. So each is
 * read again after the other. If neither has changed, there was a moment at
 * which the thread had both.
 */
RCORE_HOT void rcore_sampler_labels(struct rcore_sampler *sampler, struct rcore_track *track,
				    uint64_t now)
{
	bool holds = false;
	for (int attempt = 0; attempt < ATTEMPTS && !holds; attempt++) {
		bool has_looked = rcore_sampler_context(sampler, track, now) || attempt;
		has_looked |= look_at_work(sampler, track, has_looked);
		holds = !has_looked || !track->context.labels || !track->work.labels ||
			rcore_sampler_context_holds(sampler, track);
	}
	track->labels = track->context.labels;
	if (holds)
		track->labels = join(sampler, track->labels, track->work.labels);
	sampler->statistics.unlabelled += !holds || track->work.is_gone;
}
