/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/hot.h"
#include "sampler/sampler_private.h"
#include "vm/context.h"

/*
 * Turns the context of a fiber (from the gem ruby-profiler) into labels of its
 * samples. The way to the context's table, through an instance variable of the
 * Fiber, is long. So the words along that way are compared only now and then.
 * In between, only the variable and the table are read, and what they refer to
 * is read only if they have changed.
 */

enum {
	LOOK_AGAIN_NS = 100000000,
	HEAD_SIZE = 16, /* size, capacity */
	PAIR_SIZE = 16, /* key, value */
	CAPACITY_LIMIT = 4096,
	TEXT_LIMIT = 256, /* bytes of a label's value */
};

bool rcore_sampler_asks_for(const struct rcore_sampler *sampler, const char *key)
{
	const struct rcore_sampler_options *options = &sampler->options;
	size_t length = strlen(key);
	for (size_t i = 0; i < options->label_count; i++)
		if (!strcmp(options->labels[i], key))
			return true;
	for (size_t i = 0; i < options->where_count; i++)
		if (!strncmp(options->where[i], key, length) &&
		    (options->where[i][length] == '=' || !options->where[i][length]))
			return true;
	return options->by_label && !strcmp(options->by_label, key);
}

/* Labels that --where or --by name are kept, too. */
static bool is_chosen(const struct rcore_sampler *sampler, const char *key)
{
	return !sampler->options.label_count || rcore_sampler_asks_for(sampler, key);
}

/*
 * Returns the text as people write it: a String without its quotes, a Symbol
 * without its colon, and without what --redact removes.
 */
static uint32_t value_of(struct rcore_sampler *sampler, const char *key, const char *text)
{
	char plain[TEXT_LIMIT];
	const char *shown = plain;
	struct rcore_arena arena = {0};
	size_t length = strlen(text);
	if (length >= 2 && text[0] == '"' && text[length - 1] == '"') {
		text++;
		length -= 2;
	} else if (text[0] == ':') {
		text++;
		length--;
	}
	if (length >= sizeof(plain))
		length = sizeof(plain) - 1;
	memcpy(plain, text, length);
	plain[length] = '\0';
	struct rcore_error *err = sampler->redactor
					  ? rcore_redact_text(sampler->redactor, &arena,
							      RCORE_PART_VALUE, key, &shown)
					  : NULL;
	uint32_t number = err ? 0 : rcore_profile_string(sampler->profile, shown);
	sampler->profile->no_memory |= err != NULL;
	rcore_error_free(err);
	rcore_arena_deinit(&arena);
	return number;
}

struct rcore_profile_label rcore_sampler_label(struct rcore_sampler *sampler,
					       const struct rcore_variable *variable)
{
	return (struct rcore_profile_label){
		.key = rcore_profile_string(sampler->profile, variable->name),
		.value = value_of(sampler, variable->name, variable->value.text)};
}

static uint32_t labels_of(struct rcore_sampler *sampler, const struct rcore_context *context)
{
	struct rcore_profile_label labels[RCORE_PROFILE_LABELS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < context->pair_count && count < RCORE_PROFILE_LABELS_MAX; i++) {
		const struct rcore_variable *variable = &context->pairs[i].variable;
		if (!variable->name || !variable->value.text ||
		    !is_chosen(sampler, variable->name))
			continue;
		labels[count++] = rcore_sampler_label(sampler, variable);
	}
	return count ? rcore_profile_labels(sampler->profile, labels, count) : 0;
}

static bool read_table(struct rcore_memory *memory, struct rcore_context_watch *watch,
		       uint64_t capacity)
{
	if (!watch->table || capacity > CAPACITY_LIMIT ||
	    !rcore_piece_set(&watch->piece, watch->table, HEAD_SIZE + capacity * PAIR_SIZE))
		return false;
	return !rcore_read(memory, watch->table, watch->piece.bytes, watch->piece.size);
}

static void keep_table(struct rcore_context_watch *watch)
{
	uint8_t *grown = realloc(watch->last, watch->piece.size);
	watch->last_size = 0;
	if (!grown)
		return;
	watch->last = grown;
	watch->last_size = watch->piece.size;
	memcpy(grown, watch->piece.bytes, watch->piece.size);
}

RCORE_HOT size_t rcore_sampler_aim_context(struct rcore_context_watch *watch,
					   struct rcore_piece **ret)
{
	struct rcore_piece *head = &watch->head, *piece = &watch->piece;
	watch->is_copied =
		watch->is_known && watch->place &&
		(!watch->table || watch->last_size >= HEAD_SIZE) &&
		rcore_piece_set(head, watch->place, sizeof(watch->word)) &&
		rcore_piece_set(piece, watch->table, watch->table ? watch->last_size : 0);
	if (!watch->is_copied)
		return 0;
	ret[0] = head;
	ret[1] = piece;
	return piece->size ? 2 : 1;
}

/* Whether the Fiber still has the same table, with the same pairs. */
static RCORE_HOT bool is_same(struct rcore_sampler *sampler, struct rcore_context_watch *watch)
{
	struct rcore_piece *pieces[RCORE_CONTEXT_PIECES];
	const struct rcore_piece *head = &watch->head, *piece = &watch->piece;
	if (!watch->is_copied) {
		struct rcore_live_range ranges[RCORE_CONTEXT_PIECES];
		size_t count = rcore_sampler_aim_context(watch, pieces);
		for (size_t i = 0; i < count; i++)
			ranges[i] = (struct rcore_live_range){pieces[i]->start, pieces[i]->size,
							      pieces[i]->bytes, 0};
		if (!count)
			return false;
		rcore_live_read(sampler->live, ranges, count);
		for (size_t i = 0; i < count; i++)
			pieces[i]->read = ranges[i].read;
	}
	return head->read == head->size && piece->read == piece->size &&
	       !memcmp(head->bytes, &watch->word, sizeof(watch->word)) &&
	       (!piece->size || !memcmp(piece->bytes, watch->last, piece->size));
}

/*
 * Looks up anew which context the Fiber has. Reads everything from one copy of
 * the pages. So the words that are kept for comparisons match the labels, and a
 * search in the data of a stripped Ruby takes only one system call for each
 * page. Drops the copies that the tick has made before: if the table was set
 * after that, its texts in them would be older than the table.
 */
static void look(struct rcore_sampler *sampler, struct rcore_track *track)
{
	struct rcore_context_watch *watch = &track->context;
	struct rcore_ruby *ruby = &sampler->codes.ruby;
	struct rcore_context context = {0};
	struct rcore_memory *memory = ruby->memory, *noted = &watch->log.memory;
	struct rcore_memory *process = sampler->copies.below;
	uint64_t flags = 0;
	rcore_cache_drop(sampler->pages);
	sampler->copies.below = rcore_cache_memory(sampler->pages);
	watch->forgets = sampler->codes.forgets;
	rcore_read_log_begin(&watch->log, memory);
	ruby->memory = noted;
	if (rcore_read_u64(noted, watch->object, &flags))
		flags = 0;
	struct rcore_error *err = rcore_context_load(ruby, watch->object, &context);
	watch->table = err ? 0 : context.table;
	watch->last_size = 0;
	if (read_table(memory, watch, context.capacity))
		keep_table(watch);
	watch->labels = err ? 0 : labels_of(sampler, &context);
	watch->place = 0;
	if (!err)
		err = rcore_context_place(ruby, watch->object, &context, &watch->place);
	/* A variable that is nil exists, but leads to no table. */
	watch->word = watch->place == watch->object ? flags : context.object;
	if (watch->place != watch->object && !context.object &&
	    rcore_read_u64(noted, watch->place, &watch->word))
		watch->place = 0;
	ruby->memory = memory;
	sampler->copies.below = process;
	rcore_error_free(err);
}

RCORE_HOT bool rcore_sampler_context(struct rcore_sampler *sampler, struct rcore_track *track,
				     uint64_t now)
{
	struct rcore_context_watch *watch = &track->context;
	if (!watch->object)
		watch->labels = 0;
	bool is_known = !watch->object || (watch->is_known && is_same(sampler, watch));
	watch->is_copied = false;
	if (is_known && (!watch->object || now - watch->looked < LOOK_AGAIN_NS))
		return false;
	if (is_known && watch->forgets == sampler->codes.forgets &&
	    rcore_read_log_holds(&watch->log, sampler->live, &watch->head)) {
		watch->looked = now;
		return false;
	}
	watch->is_known = true;
	watch->looked = now;
	look(sampler, track);
	return true;
}

bool rcore_sampler_context_holds(struct rcore_sampler *sampler, struct rcore_track *track)
{
	struct rcore_context_watch *watch = &track->context;
	uint32_t labels = watch->labels;
	bool holds = is_same(sampler, watch);
	watch->is_copied = false;
	if (holds)
		return true;
	/* The pages that the tick has read are older than the change. */
	rcore_cache_drop(sampler->pages);
	look(sampler, track);
	return watch->labels == labels;
}

/* Returns the new size of `buffer`, which must have room for the bytes. */
static size_t append(uint8_t *buffer, size_t used, const void *bytes, size_t size)
{
	memcpy(buffer + used, bytes, size);
	return used + size;
}

/*
 * Writes the context of a record to `buffer`, which has the size of a record,
 * and returns its size in bytes. Skips unused members, because these have bytes
 * of earlier records.
 */
static size_t context_of(const struct rcore_bpf_record *record, uint8_t *buffer)
{
	const uint64_t head[] = {record->table, record->size, record->capacity,
				 record->has_slots};
	size_t used = append(buffer, 0, head, sizeof(head));
	if (record->has_slots)
		used = append(buffer, used, record->slots, record->capacity * PAIR_SIZE);
	for (size_t i = 0; i < record->string_count; i++) {
		const struct rcore_bpf_string *string = &record->strings[i];
		used = append(buffer, used, string, offsetof(struct rcore_bpf_string, text));
		used = append(buffer, used, string->text, string->length);
	}
	return used;
}

/*
 * Returns the labels of the context in a record. Memory that the record does
 * not have is read from the process.
 */
static uint32_t look_up_copied(struct rcore_sampler *sampler,
			       const struct rcore_bpf_record *record)
{
	struct rcore_live_range ranges[1 + 2 * RCORE_BPF_STRINGS];
	struct rcore_context context = {0};
	size_t count = 0;
	if (record->has_slots) {
		size_t size = HEAD_SIZE + record->capacity * PAIR_SIZE;
		ranges[count++] = (struct rcore_live_range){record->table, size,
							    (uint8_t *)&record->size, size};
	}
	for (size_t i = 0; i < record->string_count; i++) {
		const struct rcore_bpf_string *string = &record->strings[i];
		ranges[count++] = (struct rcore_live_range){
			string->value, sizeof(string->words), (uint8_t *)string->words,
			sizeof(string->words)};
		ranges[count++] =
			(struct rcore_live_range){string->address, string->length,
						  (uint8_t *)string->text, string->length};
	}
	sampler->copies.others = ranges;
	sampler->copies.other_count = count;
	struct rcore_error *err =
		rcore_context_load_table(&sampler->codes.ruby, record->table, &context);
	uint32_t labels = err ? 0 : labels_of(sampler, &context);
	sampler->copies.others = NULL;
	sampler->copies.other_count = 0;
	rcore_error_free(err);
	return labels;
}

static bool is_copied(const struct rcore_bpf_record *record, uint64_t value)
{
	/* Immediates (special_consts.h): Qnil is 8 up to 3.1, and 4 since. */
	enum { TAG_MASK = 7, QNIL = 8 };
	if (value & TAG_MASK || value <= QNIL)
		return true;
	for (size_t i = 0; i < record->string_count; i++)
		if (record->strings[i].value == value)
			return true;
	return false;
}

bool rcore_sampler_has_whole_context(const struct rcore_bpf_record *record)
{
	if (!record->has_slots)
		return false;
	for (size_t i = 0; i < record->capacity; i++)
		if (record->slots[2 * i] && !is_copied(record, record->slots[2 * i + 1]))
			return false;
	return true;
}

void rcore_sampler_copied_labels(struct rcore_sampler *sampler, struct rcore_track *track,
				 const struct rcore_bpf_record *record)
{
	struct rcore_context_watch *watch = &track->context;
	uint8_t now[sizeof(*record)];
	if (!record->table || record->string_count > RCORE_BPF_STRINGS ||
	    (record->has_slots && record->capacity > RCORE_BPF_SLOTS)) {
		track->labels = watch->labels = 0;
		watch->is_known = false;
		return;
	}
	size_t size = context_of(record, now);
	/* Values that were not copied may have changed. */
	if (watch->is_known && rcore_sampler_has_whole_context(record) &&
	    watch->last_size == size && !memcmp(watch->last, now, size)) {
		track->labels = watch->labels;
		return;
	}
	uint8_t *grown = realloc(watch->last, size);
	watch->last_size = 0;
	if (grown) {
		watch->last = grown;
		watch->last_size = size;
		memcpy(grown, now, size);
	}
	watch->is_known = true;
	track->labels = watch->labels = look_up_copied(sampler, record);
}

static bool matches(const struct rcore_sampler *sampler, const char *condition,
		    const struct rcore_profile_label *labels, size_t count)
{
	const char *equals = strchr(condition, '=');
	size_t length = equals ? (size_t)(equals - condition) : strlen(condition);
	for (size_t i = 0; i < count; i++) {
		const char *key = rcore_profile_text(sampler->profile, labels[i].key);
		if (strlen(key) == length && !strncmp(key, condition, length) &&
		    (!equals || !strcmp(rcore_profile_text(sampler->profile, labels[i].value),
					equals + 1)))
			return true;
	}
	return false;
}

RCORE_HOT bool rcore_sampler_is_wanted(struct rcore_sampler *sampler, uint32_t labels)
{
	size_t count;
	if (!sampler->options.where_count)
		return true;
	const struct rcore_profile_label *set =
		rcore_profile_label_set(sampler->profile, labels, &count);
	for (size_t i = 0; i < sampler->options.where_count; i++)
		if (!matches(sampler, sampler->options.where[i], set, count))
			return false;
	return true;
}
