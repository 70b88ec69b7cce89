/* SPDX-License-Identifier: MIT */
#include "profile/totals.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/text.h"
#include "profile/group.h"
#include "profile/tables.h"
#include "redact/redact.h"

/* Of tables and totals. */
enum { TOTALS_MEMORY_MAX = 256 << 20 };

/* Maps numbers of the profile that is being added to those of the totals. */
struct map {
	uint32_t *items;
	size_t count;
};

struct rcore_totals_merge {
	const struct rcore_profile *from;
	uint32_t generation;
	struct map maps[RCORE_TABLES]; /* not used for STRINGS */
	struct rcore_redactor *redactor;
	struct rcore_arena texts; /* redacted texts, until the next profile */
	struct rcore_group_cache groups;
	struct rcore_error *err;
};

struct rcore_error *rcore_totals_new(const struct rcore_totals_options *options,
				     struct rcore_totals **ret)
{
	struct rcore_totals *totals = calloc(1, sizeof(*totals));
	if (!totals)
		return rcore_error_no_memory();
	totals->options = *options;
	totals->keys.record_size = sizeof(struct rcore_total_key);
	totals->profile = rcore_profile_new();
	totals->merge = calloc(1, sizeof(*totals->merge));
	if (totals->merge)
		totals->merge->redactor = rcore_redactor_new(options->redact);
	if (!totals->profile || !totals->merge || !totals->merge->redactor) {
		rcore_totals_free(totals);
		return rcore_error_no_memory();
	}
	*ret = totals;
	return NULL;
}

static void forget_maps(struct rcore_totals_merge *merge)
{
	for (int table = 0; table < RCORE_TABLES; table++) {
		free(merge->maps[table].items);
		merge->maps[table] = (struct map){0};
	}
	rcore_arena_deinit(&merge->texts);
	merge->texts = (struct rcore_arena){0};
}

void rcore_totals_free(struct rcore_totals *totals)
{
	if (!totals)
		return;
	if (totals->merge) {
		forget_maps(totals->merge);
		rcore_redactor_free(totals->merge->redactor);
		rcore_group_cache_deinit(&totals->merge->groups);
		rcore_error_free(totals->merge->err);
		free(totals->merge);
	}
	rcore_profile_free(totals->profile);
	rcore_record_set_deinit(&totals->keys);
	free(totals->processes.items);
	for (int side = 0; side < RCORE_SIDES; side++) {
		free(totals->amounts[side]);
		free(totals->timelines[side].items);
		free(totals->timelines[side].by_thread.items);
		free(totals->timelines[side].by_parked_fiber.items);
		free(totals->timelines[side].by_key.items);
	}
	free(totals);
}

static void keep_error(struct rcore_totals_merge *merge, struct rcore_error *err)
{
	if (merge->err)
		rcore_error_free(err);
	else
		merge->err = err;
}

/* Adds a string of `from`, redacted, with unprintable characters escaped. */
static uint32_t move_text(struct rcore_totals *totals, const struct rcore_profile *from,
			  uint32_t string, enum rcore_part_kind kind, const char *key)
{
	struct rcore_totals_merge *merge = totals->merge;
	const char *text = rcore_profile_text(from, string);
	if (kind != RCORE_PART_SAFE)
		keep_error(merge,
			   rcore_redact_text(merge->redactor, &merge->texts, kind, key, &text));
	/* Escaping turns one byte into at most four. */
	char escaped[4 * RCORE_PROFILE_TEXT_MAX + RCORE_ESCAPE_SIZE];
	return rcore_profile_string(totals->profile,
				    rcore_escape(escaped, sizeof(escaped), text));
}

/*
 * Names of native code and rcore's own notes are not redacted: see
 * docs/redaction.md.
 */
static enum rcore_part_kind text_kind(const struct rcore_table_type *type,
				      const struct rcore_column *column, const void *record)
{
	const struct rcore_profile_function *function = record;
	if (type->table == RCORE_TABLE_FUNCTIONS && function->kind != RCORE_FUNCTION_RUBY &&
	    function->kind != RCORE_FUNCTION_C)
		return RCORE_PART_SAFE;
	return column->text;
}

/* Translates members of `record` of `from` to numbers of the totals. */
static void translate(struct rcore_totals *totals, const struct rcore_profile *from,
		      const struct rcore_table_type *type,
		      const struct rcore_record_type *members, void *record)
{
	for (size_t c = 0; c < members->column_count; c++) {
		const struct rcore_column *column = &members->columns[c];
		uint64_t number = rcore_column_get(column, record);
		if (column->refers == RCORE_TABLE_STRINGS)
			number = move_text(totals, from, (uint32_t)number,
					   text_kind(type, column, record), NULL);
		else if (column->refers)
			number = totals->merge->maps[column->refers].items[number];
		rcore_column_set(column, record, number);
	}
}

/*
 * Makes room in a table's map for the entries that were added. Returns false if
 * memory is short.
 */
static bool grow_map(struct map *map, size_t count)
{
	uint32_t *grown = reallocarray(map->items, count + 1, sizeof(*grown));
	if (!grown)
		return false;
	map->items = grown;
	return true;
}

/* Returns the stack that represents everything that does not fit. */
static uint32_t note(struct rcore_profile *profile, const char *text)
{
	const struct rcore_profile_function function = {
		.kind = RCORE_FUNCTION_NOTE, .label = rcore_profile_string(profile, text)};
	return rcore_profile_node(
		profile, 0,
		rcore_profile_frame(profile, rcore_profile_function(profile, &function), 0));
}

static void add_table(struct rcore_totals *totals, const struct rcore_profile *from,
		      const struct rcore_table_type *type)
{
	const size_t count = rcore_table_count(from, type->table);
	struct map *map = &totals->merge->maps[type->table];
	union {
		struct rcore_profile_function function;
		struct rcore_profile_frame frame;
		struct rcore_profile_process process;
		struct rcore_profile_thread thread;
		struct rcore_profile_state state;
	} record;
	/*
	 * The tables that have a limit: in these, the target decides how many
	 * entries there are.
	 */
	bool is_open_ended = type->table != RCORE_TABLE_PROCESSES &&
			     type->table != RCORE_TABLE_THREADS &&
			     type->table != RCORE_TABLE_STATES;
	if (!grow_map(map, count)) {
		keep_error(totals->merge, rcore_error_no_memory());
		return;
	}
	for (; map->count < count; map->count++) {
		uint32_t number = 0;
		const struct rcore_record_set *set =
			rcore_table_set((struct rcore_profile *)from, type);
		memcpy(&record, (const char *)set->items + map->count * type->record.size,
		       type->record.size);
		if (map->count && totals->is_full && is_open_ended) {
			if (type->table == RCORE_TABLE_NODES)
				number = note(totals->profile, "(stacks beyond rcore's limit)");
		} else if (map->count) {
			translate(totals, from, type, &type->record, &record);
			translate(totals, from, type, &type->later, &record);
			if (type->table == RCORE_TABLE_FRAMES && !totals->options.keeps_lines)
				record.frame.line = 0;
			totals->profile->no_memory |= !rcore_record_set_add(
				rcore_table_set(totals->profile, type), &record, &number);
		}
		map->items[map->count] = number;
	}
}

static uint32_t move_labels(struct rcore_totals *totals, const struct rcore_profile *from,
			    uint32_t set)
{
	struct rcore_profile_label moved[RCORE_PROFILE_LABELS_MAX];
	size_t count;
	const struct rcore_profile_label *labels = rcore_profile_label_set(from, set, &count);
	for (size_t i = 0; i < count; i++) {
		moved[i].key = move_text(totals, from, labels[i].key, RCORE_PART_NAME, NULL);
		moved[i].value = move_text(totals, from, labels[i].value, RCORE_PART_VALUE,
					   rcore_profile_text(from, labels[i].key));
	}
	return rcore_profile_labels(totals->profile, moved, count);
}

/* Keeps the keys of a set of labels, redacted as move_labels() does. */
static void keep_keys(struct rcore_totals *totals, const struct rcore_profile *from,
		      uint32_t set)
{
	size_t count;
	const struct rcore_profile_label *labels = rcore_profile_label_set(from, set, &count);
	if (totals->is_full || totals->label_keys.has_more)
		return;
	for (size_t i = 0; i < count; i++)
		rcore_label_keys_add(&totals->label_keys, move_text(totals, from, labels[i].key,
								    RCORE_PART_NAME, NULL));
}

static void add_labels(struct rcore_totals *totals, const struct rcore_profile *from)
{
	struct map *map = &totals->merge->maps[RCORE_TABLE_LABELS];
	if (!grow_map(map, from->labels.count)) {
		keep_error(totals->merge, rcore_error_no_memory());
		return;
	}
	for (; map->count < from->labels.count; map->count++) {
		bool is_kept =
			totals->options.keeps_labels || totals->options.by == RCORE_BY_LABEL;
		if (totals->options.where_count || totals->options.by == RCORE_BY_LABEL)
			keep_keys(totals, from, (uint32_t)map->count);
		map->items[map->count] =
			is_kept && !totals->is_full
				? move_labels(totals, from, (uint32_t)map->count)
				: 0;
	}
}

/* Adds the current titles of processes, and when they ended. */
static void add_changes(struct rcore_totals *totals, const struct rcore_profile *from,
			enum rcore_side side)
{
	const struct map *map = &totals->merge->maps[RCORE_TABLE_PROCESSES];
	for (uint32_t i = 1; i < map->count; i++) {
		uint32_t title = rcore_profile_title(from, i);
		uint64_t ended = rcore_profile_ended(from, i);
		if (ended)
			rcore_totals_end_process(totals, side, map->items[i], ended);
		if (title)
			rcore_profile_set_title(
				totals->profile, map->items[i],
				move_text(totals, from, title, RCORE_PART_COMMAND, NULL));
	}
}

static void add_tables(struct rcore_totals *totals, const struct rcore_profile *from,
		       enum rcore_side side)
{
	struct rcore_totals_merge *merge = totals->merge;
	if (merge->from != from || merge->generation != from->generation)
		forget_maps(merge);
	merge->from = from;
	merge->generation = from->generation;
	for (size_t i = 0; i < RCORE_TABLE_TYPES && !merge->err; i++)
		add_table(totals, from, &rcore_table_types[i]);
	if (!merge->err)
		add_labels(totals, from);
	if (!merge->err)
		add_changes(totals, from, side);
}

static void add_amounts(struct rcore_amounts *to, const struct rcore_profile_sample *sample)
{
	to->wall += sample->wall;
	to->cpu += sample->cpu;
	to->count += sample->count;
}

/*
 * Returns the amounts of a key; NULL if memory is short. Those that were not
 * added to yet are 0.
 */
static struct rcore_amounts *amounts_of(struct rcore_totals *totals, enum rcore_side side,
					uint32_t number)
{
	enum { FIRST = 64 };
	struct rcore_amounts **amounts = &totals->amounts[side];
	size_t *capacity = &totals->capacities[side];
	if (number < *capacity)
		return &(*amounts)[number];
	size_t wanted = number < FIRST ? FIRST : (size_t)number + number / 2;
	struct rcore_amounts *grown = reallocarray(*amounts, wanted, sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + *capacity, 0, (wanted - *capacity) * sizeof(*grown));
	*amounts = grown;
	*capacity = wanted;
	return &grown[number];
}

static void add_sample(struct rcore_totals *totals, const struct rcore_profile *from,
		       const struct rcore_profile_sample *sample, enum rcore_side side)
{
	const struct rcore_totals_options *options = &totals->options;
	const struct map *maps = totals->merge->maps;
	const struct rcore_total_key whole = {
		.node = maps[RCORE_TABLE_NODES].items[sample->node],
		.thread = maps[RCORE_TABLE_THREADS].items[sample->thread],
		.fiber = maps[RCORE_TABLE_FIBERS].items[sample->fiber],
		.state = maps[RCORE_TABLE_STATES].items[sample->state],
		.labels = maps[RCORE_TABLE_LABELS].items[sample->labels],
	};
	const struct rcore_total_key key = {
		.node = rcore_group_node(totals->profile, &totals->merge->groups, options->by,
					 options->by_label, &whole),
		.thread = options->keeps_threads ? whole.thread : 0,
		.fiber = options->keeps_labels ? whole.fiber : 0,
		.state = options->keeps_threads ? whole.state : 0,
		.labels = options->keeps_labels ? whole.labels : 0,
	};
	uint32_t number;
	if (options->by == RCORE_BY_LABEL && !totals->has_label)
		totals->has_label = rcore_labels_match(totals->profile, whole.labels,
						       &options->by_label, 1);
	bool has_room = rcore_record_set_add(&totals->keys, &key, &number);
	struct rcore_amounts *amounts = has_room ? amounts_of(totals, side, number) : NULL;
	if (!amounts || !rcore_totals_keep_time(totals, side, number, &whole, sample)) {
		totals->profile->no_memory = true;
		return;
	}
	add_amounts(amounts, sample);
	add_amounts(&totals->sums[side], sample);
	rcore_totals_add_process(totals, side, &whole, sample);
}

static void check_memory(struct rcore_totals *totals)
{
	size_t memory =
		rcore_profile_memory(totals->profile) + rcore_record_set_memory(&totals->keys);
	for (int side = 0; side < RCORE_SIDES; side++)
		memory += totals->capacities[side] * sizeof(*totals->amounts[side]) +
			  totals->timelines[side].count * sizeof(struct rcore_timed);
	if (memory > TOTALS_MEMORY_MAX)
		totals->is_full = true;
}

struct rcore_error *rcore_totals_add(struct rcore_totals *totals,
				     const struct rcore_profile *profile, enum rcore_side side)
{
	struct rcore_totals_merge *merge = totals->merge;
	add_tables(totals, profile, side);
	for (size_t i = 0; i < profile->samples.count && !merge->err; i++) {
		const struct rcore_profile_sample *sample = &profile->samples.items[i];
		rcore_totals_add_time(totals, sample, side);
		if (rcore_labels_match(profile, sample->labels, totals->options.where,
				       totals->options.where_count))
			add_sample(totals, profile, sample, side);
		else
			totals->filtered += sample->count;
		if (totals->profile->no_memory || merge->groups.no_memory)
			keep_error(merge, rcore_error_no_memory());
	}
	check_memory(totals);
	struct rcore_error *err = merge->err;
	merge->err = NULL;
	return err;
}

void rcore_totals_forget_profile(struct rcore_totals *totals)
{
	forget_maps(totals->merge);
	totals->merge->from = NULL;
}

void rcore_totals_name_processes(struct rcore_totals *totals)
{
	rcore_group_name_processes(totals->profile, &totals->merge->groups);
}
