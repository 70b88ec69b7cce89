/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "base/grow.h"
#include "profile/totals.h"
#include "report/profile/page/page.h"

/*
 * The times of labels: of each key, the values with the most time, and the
 * methods in which the largest of these spent it.
 */

struct pair {
	struct rcore_profile_label label;
	uint64_t amount, cpu, samples, old;
};

struct key {
	struct pair *pairs; /* most first */
	size_t count;
	uint64_t amount;
};

struct labels {
	struct {
		struct pair *items;
		size_t count, capacity;
	} pairs;
	struct {
		struct key *items; /* those that label most first */
		size_t count, capacity;
	} keys;
};

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_labels(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int by_key = order(a->label.key, b->label.key);
	return by_key ? by_key : order(a->label.value, b->label.value);
}

static int compare_amounts(const void *x, const void *y)
{
	const struct pair *a = x, *b = y;
	int by_amount = order(b->amount, a->amount);
	return by_amount ? by_amount : order(a->label.value, b->label.value);
}

/* If amounts are equal, a key with fewer values comes first. */
static int compare_keys(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int by_amount = order(b->amount, a->amount);
	if (by_amount)
		return by_amount;
	int by_count = order(a->count, b->count);
	return by_count ? by_count : order(a->pairs->label.key, b->pairs->label.key);
}

/* Adds up the samples of each set of labels: there are fewer sets than keys. */
static struct pair *add_up_sets(const struct rcore_profile_report *report)
{
	const struct rcore_totals *totals = report->totals;
	struct pair *sets = rcore_calloc(totals->profile->labels.count, sizeof(*sets));
	for (size_t i = 0; sets && i < totals->keys.count; i++) {
		struct pair *set = &sets[rcore_totals_key(totals, i)->labels];
		struct rcore_amounts amounts = rcore_totals_amounts(totals, i, RCORE_SIDE_NEW);
		set->amount += rcore_measured(amounts, report->measure);
		set->old += rcore_measured(rcore_totals_amounts(totals, i, RCORE_SIDE_OLD),
					   report->measure);
		set->cpu += amounts.cpu;
		set->samples += amounts.count;
	}
	return sets;
}

static bool add_pairs(struct labels *labels, const struct rcore_profile *profile,
		      const struct pair *sets)
{
	for (uint32_t i = 0; i < profile->labels.count; i++) {
		size_t count;
		const struct rcore_profile_label *set =
			rcore_profile_label_set(profile, i, &count);
		for (size_t j = 0; j < count && (sets[i].samples || sets[i].old); j++) {
			struct pair *pair = rcore_push(&labels->pairs);
			if (!pair)
				return false;
			*pair = sets[i];
			pair->label = set[j];
		}
	}
	return true;
}

/* Adds up equal pairs, which are next to each other. */
static void fold(struct labels *labels)
{
	struct pair *items = labels->pairs.items;
	size_t kept = 0;
	if (labels->pairs.count)
		qsort(items, labels->pairs.count, sizeof(*items), compare_labels);
	for (size_t i = 0; i < labels->pairs.count; i++) {
		if (!kept || compare_labels(&items[kept - 1], &items[i]) != 0) {
			items[kept++] = items[i];
			continue;
		}
		items[kept - 1].amount += items[i].amount;
		items[kept - 1].cpu += items[i].cpu;
		items[kept - 1].samples += items[i].samples;
		items[kept - 1].old += items[i].old;
	}
	labels->pairs.count = kept;
}

static bool find_keys(struct labels *labels)
{
	struct pair *items = labels->pairs.items;
	for (size_t i = 0; i < labels->pairs.count; i++) {
		struct key *key =
			labels->keys.count ? &labels->keys.items[labels->keys.count - 1] : NULL;
		if (!key || key->pairs->label.key != items[i].label.key) {
			key = rcore_push(&labels->keys);
			if (!key)
				return false;
			key->pairs = &items[i];
		}
		key->count++;
		key->amount += items[i].amount;
	}
	for (size_t i = 0; i < labels->keys.count; i++)
		qsort(labels->keys.items[i].pairs, labels->keys.items[i].count, sizeof(*items),
		      compare_amounts);
	if (labels->keys.count)
		qsort(labels->keys.items, labels->keys.count, sizeof(*labels->keys.items),
		      compare_keys);
	return true;
}

static bool labels_init(struct labels *labels, const struct rcore_profile_report *report)
{
	*labels = (struct labels){0};
	struct pair *sets = add_up_sets(report);
	bool has_memory = sets && add_pairs(labels, report->totals->profile, sets);
	free(sets);
	if (!has_memory)
		return false;
	fold(labels);
	return find_keys(labels);
}

/* By what is shown, without what was before. */
static int compare_methods(const void *x, const void *y)
{
	const struct rcore_method *a = x, *b = y;
	int by_amount = order(b->self[RCORE_SIDE_NEW], a->self[RCORE_SIDE_NEW]);
	if (!by_amount)
		by_amount = order(b->total[RCORE_SIDE_NEW], a->total[RCORE_SIDE_NEW]);
	return by_amount ? by_amount : order(a->function, b->function);
}

/* [function, self, total] */
static struct rcore_error *put_methods(struct rcore_page_writer *writer,
				       const struct rcore_profile_label *label)
{
	const struct rcore_methods_group group = {.label = label};
	struct rcore_methods methods;
	struct rcore_error *err = rcore_methods_init(writer->report->totals,
						     writer->report->measure, &group, &methods);
	if (err)
		return err;
	if (methods.count)
		qsort(methods.items, methods.count, sizeof(*methods.items), compare_methods);
	rcore_json_put_number(&writer->json, "method_count", methods.count);
	rcore_json_open(&writer->json, "methods", '[');
	for (size_t i = 0; i < methods.count && i < RCORE_PAGE_LABEL_METHODS; i++) {
		rcore_json_start(&writer->json, NULL);
		fprintf(writer->json.out, "[%" PRIu32 ",%" PRIu64 ",%" PRIu64 "]",
			rcore_page_function(writer, methods.items[i].function) + 1,
			methods.items[i].self[RCORE_SIDE_NEW],
			methods.items[i].total[RCORE_SIDE_NEW]);
	}
	rcore_json_close(&writer->json, ']');
	rcore_methods_deinit(&methods);
	return NULL;
}

static struct rcore_error *put_value(struct rcore_page_writer *writer, const struct pair *pair,
				     bool has_methods)
{
	const struct rcore_profile *profile = writer->report->totals->profile;
	struct rcore_error *err = NULL;
	rcore_json_open(&writer->json, NULL, '{');
	rcore_json_put(&writer->json, "value",
		       rcore_page_text(writer, rcore_profile_text(profile, pair->label.value)));
	rcore_json_put_number(&writer->json, "amount", pair->amount);
	rcore_json_put_number(&writer->json, "cpu", pair->cpu);
	rcore_json_put_number(&writer->json, "samples", pair->samples);
	if (writer->report->is_diff)
		rcore_json_put_number(&writer->json, "old", pair->old);
	if (has_methods)
		err = put_methods(writer, &pair->label);
	rcore_json_close(&writer->json, '}');
	return err;
}

/* Methods of the first values of each key, until there are enough. */
static struct rcore_error *put_key(struct rcore_page_writer *writer, const struct key *key)
{
	const struct rcore_profile *profile = writer->report->totals->profile;
	struct rcore_error *err = NULL;
	rcore_json_open(&writer->json, NULL, '{');
	rcore_json_put(
		&writer->json, "key",
		rcore_page_text(writer, rcore_profile_text(profile, key->pairs->label.key)));
	rcore_json_put_number(&writer->json, "amount", key->amount);
	rcore_json_put_number(&writer->json, "count", key->count);
	rcore_json_open(&writer->json, "values", '[');
	for (size_t i = 0; i < key->count && i < RCORE_PAGE_VALUES && !err; i++)
		err = put_value(writer, &key->pairs[i],
				i < RCORE_PAGE_DETAILED / RCORE_PAGE_KEYS);
	rcore_json_close(&writer->json, ']');
	rcore_json_close(&writer->json, '}');
	return err;
}

struct rcore_error *rcore_page_put_labels(struct rcore_page_writer *writer)
{
	struct labels labels;
	struct rcore_error *err = NULL;
	if (!labels_init(&labels, writer->report))
		err = rcore_error_no_memory();
	rcore_json_put_number(&writer->json, "key_count", labels.keys.count);
	rcore_json_open(&writer->json, "labels", '[');
	for (size_t i = 0; i < labels.keys.count && i < RCORE_PAGE_KEYS && !err; i++)
		err = put_key(writer, &labels.keys.items[i]);
	rcore_json_close(&writer->json, ']');
	free(labels.pairs.items);
	free(labels.keys.items);
	return err;
}
