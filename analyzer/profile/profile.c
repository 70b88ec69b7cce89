/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/hot.h"
#include "base/text.h"

static void init(struct rcore_profile *profile)
{
	profile->functions.record_size = sizeof(struct rcore_profile_function);
	profile->frames.record_size = sizeof(struct rcore_profile_frame);
	profile->nodes.record_size = sizeof(struct rcore_profile_node);
	profile->processes.record_size = sizeof(struct rcore_profile_process);
	profile->threads.record_size = sizeof(struct rcore_profile_thread);
	profile->fibers.record_size = sizeof(struct rcore_profile_fiber);
	profile->states.record_size = sizeof(struct rcore_profile_state);
}

static void deinit(struct rcore_profile *profile)
{
	rcore_bytes_set_deinit(&profile->strings);
	rcore_record_set_deinit(&profile->functions);
	rcore_record_set_deinit(&profile->frames);
	rcore_record_set_deinit(&profile->nodes);
	rcore_record_set_deinit(&profile->processes);
	free(profile->changes.items);
	profile->changes = (struct rcore_profile_changes){0};
	rcore_record_set_deinit(&profile->threads);
	rcore_record_set_deinit(&profile->fibers);
	rcore_record_set_deinit(&profile->states);
	rcore_bytes_set_deinit(&profile->labels);
	free(profile->samples.items);
	profile->samples = (struct rcore_profile_samples){0};
}

static uint32_t add_record(struct rcore_profile *profile, struct rcore_record_set *set,
			   const void *record)
{
	uint32_t number = 0;
	profile->no_memory |= !rcore_record_set_add(set, record, &number);
	return number;
}

static uint32_t add_bytes(struct rcore_profile *profile, struct rcore_bytes_set *set,
			  const void *bytes, size_t size)
{
	uint32_t number = 0;
	profile->no_memory |= !rcore_bytes_set_add(set, bytes, size, &number);
	return number;
}

/* Adds the entries for "none". */
static void add_zeroes(struct rcore_profile *profile)
{
	static const struct rcore_profile_function nothing;
	add_bytes(profile, &profile->strings, NULL, 0);
	add_bytes(profile, &profile->labels, NULL, 0);
	add_record(profile, &profile->functions, &nothing);
	add_record(profile, &profile->frames, &nothing);
	add_record(profile, &profile->nodes, &nothing);
	add_record(profile, &profile->processes, &nothing);
	add_record(profile, &profile->threads, &nothing);
	add_record(profile, &profile->fibers, &nothing);
	add_record(profile, &profile->states, &nothing);
}

struct rcore_profile *rcore_profile_new(void)
{
	struct rcore_profile *profile = calloc(1, sizeof(*profile));
	if (!profile)
		return NULL;
	init(profile);
	add_zeroes(profile);
	if (profile->no_memory) {
		rcore_profile_free(profile);
		return NULL;
	}
	return profile;
}

void rcore_profile_free(struct rcore_profile *profile)
{
	if (!profile)
		return;
	deinit(profile);
	free(profile);
}

void rcore_profile_clear(struct rcore_profile *profile)
{
	deinit(profile);
	profile->generation++;
	add_zeroes(profile);
}

size_t rcore_profile_memory(const struct rcore_profile *profile)
{
	return rcore_bytes_set_memory(&profile->strings) +
	       rcore_record_set_memory(&profile->functions) +
	       rcore_record_set_memory(&profile->frames) +
	       rcore_record_set_memory(&profile->nodes) +
	       rcore_record_set_memory(&profile->processes) +
	       profile->changes.count * sizeof(*profile->changes.items) +
	       rcore_record_set_memory(&profile->threads) +
	       rcore_record_set_memory(&profile->fibers) +
	       rcore_record_set_memory(&profile->states) +
	       rcore_bytes_set_memory(&profile->labels);
}

/* Adds as much as fits, without cutting a character. */
static uint32_t add_cut(struct rcore_profile *profile, const char *text)
{
	static const char more[] = "...";
	char cut[RCORE_PROFILE_TEXT_MAX + 1];
	size_t size = rcore_utf8_cut(text, RCORE_PROFILE_TEXT_MAX - (sizeof(more) - 1));
	memcpy(cut, text, size);
	memcpy(cut + size, more, sizeof(more));
	return rcore_profile_string(profile, cut);
}

uint32_t rcore_profile_string(struct rcore_profile *profile, const char *text)
{
	size_t size = text ? strnlen(text, RCORE_PROFILE_TEXT_MAX + 1) : 0;
	return size > RCORE_PROFILE_TEXT_MAX
		       ? add_cut(profile, text)
		       : add_bytes(profile, &profile->strings, text, size);
}

uint32_t rcore_profile_function(struct rcore_profile *profile,
				const struct rcore_profile_function *function)
{
	return add_record(profile, &profile->functions, function);
}

RCORE_HOT uint32_t rcore_profile_frame(struct rcore_profile *profile, uint32_t function,
				       uint32_t line)
{
	const struct rcore_profile_frame frame = {function, line};
	return add_record(profile, &profile->frames, &frame);
}

RCORE_HOT uint32_t rcore_profile_node(struct rcore_profile *profile, uint32_t parent,
				      uint32_t frame)
{
	const struct rcore_profile_node node = {parent, frame};
	return add_record(profile, &profile->nodes, &node);
}

uint32_t rcore_profile_process(struct rcore_profile *profile,
			       const struct rcore_profile_process *process)
{
	return add_record(profile, &profile->processes, process);
}

const char *rcore_profile_process_id(const struct rcore_profile_process *process,
				     char ret[RCORE_PROFILE_PROCESS_ID_SIZE])
{
	if (!process->pid)
		snprintf(ret, RCORE_PROFILE_PROCESS_ID_SIZE, "(unknown)");
	else if (process->use > 1)
		snprintf(ret, RCORE_PROFILE_PROCESS_ID_SIZE, "%u (%u)", process->pid,
			 process->use);
	else
		snprintf(ret, RCORE_PROFILE_PROCESS_ID_SIZE, "%u", process->pid);
	return ret;
}

/* Returns NULL if memory is short. */
static struct rcore_profile_change *change_of(struct rcore_profile *profile, uint32_t process)
{
	struct rcore_profile_changes *changes = &profile->changes;
	size_t count = profile->processes.count;
	if (process < changes->count)
		return &changes->items[process];
	struct rcore_profile_change *grown =
		reallocarray(changes->items, count, sizeof(*grown));
	profile->no_memory |= !grown;
	if (!grown)
		return NULL;
	memset(grown + changes->count, 0, (count - changes->count) * sizeof(*grown));
	changes->items = grown;
	changes->count = count;
	return &grown[process];
}

void rcore_profile_set_title(struct rcore_profile *profile, uint32_t process, uint32_t title)
{
	struct rcore_profile_change *change = change_of(profile, process);
	if (change)
		change->title = title;
}

uint32_t rcore_profile_title(const struct rcore_profile *profile, uint32_t process)
{
	return process < profile->changes.count ? profile->changes.items[process].title : 0;
}

void rcore_profile_end_process(struct rcore_profile *profile, uint32_t process, uint64_t time)
{
	struct rcore_profile_change *change = change_of(profile, process);
	if (change)
		change->ended = time ? time : 1;
}

uint64_t rcore_profile_ended(const struct rcore_profile *profile, uint32_t process)
{
	return process < profile->changes.count ? profile->changes.items[process].ended : 0;
}

uint32_t rcore_profile_thread(struct rcore_profile *profile,
			      const struct rcore_profile_thread *thread)
{
	return add_record(profile, &profile->threads, thread);
}

uint32_t rcore_profile_fiber(struct rcore_profile *profile,
			     const struct rcore_profile_fiber *fiber)
{
	return add_record(profile, &profile->fibers, fiber);
}

uint32_t rcore_profile_state(struct rcore_profile *profile,
			     const struct rcore_profile_state *state)
{
	return add_record(profile, &profile->states, state);
}

/* Inserts into `sorted` unless its key is there. Returns the new count. */
static size_t insert(struct rcore_profile_label *sorted, size_t count,
		     struct rcore_profile_label label)
{
	size_t at = count;
	while (at && sorted[at - 1].key > label.key)
		at--;
	if (at && sorted[at - 1].key == label.key)
		return count;
	memmove(sorted + at + 1, sorted + at, (count - at) * sizeof(*sorted));
	sorted[at] = label;
	return count + 1;
}

uint32_t rcore_profile_labels(struct rcore_profile *profile,
			      const struct rcore_profile_label *labels, size_t count)
{
	struct rcore_profile_label sorted[RCORE_PROFILE_LABELS_MAX];
	size_t kept = 0;
	for (size_t i = 0; i < count && kept < RCORE_PROFILE_LABELS_MAX; i++)
		kept = insert(sorted, kept, labels[i]);
	return add_bytes(profile, &profile->labels, sorted, kept * sizeof(*sorted));
}

RCORE_HOT void rcore_profile_sample(struct rcore_profile *profile,
				    const struct rcore_profile_sample *sample)
{
	struct rcore_profile_sample *added_sample = rcore_push(&profile->samples);
	if (added_sample)
		*added_sample = *sample;
	else
		profile->no_memory = true;
}

const char *rcore_profile_text(const struct rcore_profile *profile, uint32_t string)
{
	return rcore_bytes_set_get(&profile->strings, string, NULL);
}

const struct rcore_profile_label *rcore_profile_label_set(const struct rcore_profile *profile,
							  uint32_t labels, size_t *ret_count)
{
	size_t size;
	const void *items = rcore_bytes_set_get(&profile->labels, labels, &size);
	*ret_count = size / sizeof(struct rcore_profile_label);
	return items;
}

const char *rcore_sample_state_name(uint32_t state)
{
	static const char *const names[] = {
		[RCORE_SAMPLE_UNKNOWN] = "unknown", [RCORE_SAMPLE_RUNNING] = "running",
		[RCORE_SAMPLE_GVL] = "gvl",         [RCORE_SAMPLE_BLOCKED] = "blocked",
		[RCORE_SAMPLE_GC] = "gc",           [RCORE_SAMPLE_PARKED] = "parked",
	};
	return names[state < RCORE_SAMPLE_STATES ? state : RCORE_SAMPLE_UNKNOWN];
}

const char *rcore_function_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[RCORE_FUNCTION_NONE] = "none",     [RCORE_FUNCTION_RUBY] = "ruby",
		[RCORE_FUNCTION_C] = "c",           [RCORE_FUNCTION_NATIVE] = "native",
		[RCORE_FUNCTION_GC] = "gc",         [RCORE_FUNCTION_NOTE] = "note",
		[RCORE_FUNCTION_KERNEL] = "kernel",
	};
	return names[kind < RCORE_FUNCTION_KINDS ? kind : RCORE_FUNCTION_NONE];
}
