/* SPDX-License-Identifier: MIT */
#include "proof/shift.h"

#include <string.h>

#include "base/count.h"
#include "proof/field_check.h"

enum { STEP = 8, FIELD_LIMIT = 64 };

/* Each struct is reached through one that precedes it. */
static const char *const structs[] = {"vm", "ractor", "thread", "native_thread",
				      "ec", "fiber",  "mutex"};
_Static_assert(RCORE_COUNT(structs) <= RCORE_SHIFT_COUNT, "shifts fit");

/* The fields of a struct that this Ruby has, by offset. */
struct fields {
	const struct rcore_item *items[FIELD_LIMIT], *of;
	/* at their offsets of the layout */
	enum rcore_verdict as_is[FIELD_LIMIT];
	size_t count;
};

/*
 * How many fields of a struct hold and fail, and how many fields that held were
 * moved.
 */
struct score {
	int held, failed, disturbed;
};

static void collect(struct rcore_layout *layout, const char *group, struct fields *ret)
{
	*ret = (struct fields){0};
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (strcmp(item->group, group))
			continue;
		if (item->kind == RCORE_ITEM_STRUCT)
			ret->of = item;
		if (item->kind != RCORE_ITEM_FIELD || ret->count == FIELD_LIMIT ||
		    !rcore_has_place(rcore_item_field(layout, item)))
			continue;
		int32_t offset = rcore_item_field(layout, item)->offset;
		size_t at = ret->count++;
		for (; at && rcore_item_field(layout, ret->items[at - 1])->offset > offset;
		     at--)
			ret->items[at] = ret->items[at - 1];
		ret->items[at] = item;
	}
}

static void move(struct rcore_layout *layout, const struct fields *fields, size_t first, int by)
{
	for (size_t i = first; i < fields->count; i++)
		rcore_item_field(layout, fields->items[i])->offset += by;
	*rcore_item_size(layout, fields->of) += (uint32_t)by;
}

static struct score prove(const struct rcore_samples *samples, const struct fields *fields)
{
	struct score score = {0};
	for (size_t i = 0; i < fields->count; i++) {
		enum rcore_verdict verdict =
			rcore_check_field(samples, rcore_check_row(fields->items[i]->where));
		score.held += verdict == RCORE_HOLDS;
		score.failed += verdict == RCORE_FAILS;
	}
	return score;
}

/*
 * Members after an inserted one have moved, all of them. So if more hold than
 * fail as they are, a corrupt instance causes the failures.
 */
static bool stands(const struct fields *fields, size_t first)
{
	size_t held = 0, failed = 0;
	for (size_t i = first; i < fields->count; i++) {
		held += fields->as_is[i] == RCORE_HOLDS;
		failed += fields->as_is[i] == RCORE_FAILS;
	}
	return held > failed;
}

/* Tries to move the fields from `first` on, and moves them back. */
static struct score try(const struct rcore_samples *samples, struct rcore_layout *layout,
			const struct fields *fields, size_t first, int by)
{
	struct score none = {.failed = INT32_MAX};
	/* They must stay in the struct and not overlap the field before. */
	int32_t offset = rcore_item_field(layout, fields->items[first])->offset + by;
	if (offset < 0)
		return none;
	if (first) {
		const struct rcore_field *before =
			rcore_item_field(layout, fields->items[first - 1]);
		if (offset < before->offset + (int32_t)rcore_field_width(before))
			return none;
	}
	move(layout, fields, first, by);
	struct score score = prove(samples, fields);
	move(layout, fields, first, -by);
	for (size_t i = first; i < fields->count; i++)
		score.disturbed += fields->as_is[i] == RCORE_HOLDS;
	return score;
}

/* More fields hold; or as many, and fewer that held were moved. */
static bool better(const struct score *score, const struct score *best)
{
	return !score->failed &&
	       (score->held > best->held || (score->held == best->held && !best->failed &&
					     score->disturbed < best->disturbed));
}

/* Bit-fields of one word move together. */
static bool shares_word(struct rcore_layout *layout, const struct fields *fields, size_t index)
{
	const struct rcore_field *field = rcore_item_field(layout, fields->items[index]);
	return index && field->bits &&
	       rcore_item_field(layout, fields->items[index - 1])->offset / STEP ==
		       field->offset / STEP;
}

static bool fit(const struct rcore_samples *samples, struct rcore_layout *layout,
		const char *group, struct rcore_shift *ret)
{
	struct fields fields;
	collect(layout, group, &fields);
	struct score as_is = prove(samples, &fields), best = as_is;
	for (size_t i = 0; as_is.failed && i < fields.count; i++)
		fields.as_is[i] =
			rcore_check_field(samples, rcore_check_row(fields.items[i]->where));
	size_t best_first = 0;
	int best_by = 0;

	for (int distance = STEP; as_is.failed && !best_by && distance <= RCORE_SHIFT_LIMIT;
	     distance += STEP) {
		for (int by = distance; by >= -distance; by -= 2 * distance) {
			for (size_t first = 0; first < fields.count; first++) {
				struct score score;
				if (stands(&fields, first) ||
				    shares_word(layout, &fields, first))
					continue;
				score = try(samples, layout, &fields, first, by);
				if (!better(&score, &best))
					continue;
				best = score;
				best_first = first;
				best_by = by;
			}
		}
	}
	if (!best_by)
		return false;
	move(layout, &fields, best_first, best_by);
	*ret = (struct rcore_shift){.group = group,
				    .from = fields.items[best_first]->id,
				    .by = best_by,
				    .held = best.held - as_is.held};
	return true;
}

size_t rcore_shift_fields(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout,
			  struct rcore_shift ret[RCORE_SHIFT_COUNT])
{
	size_t count = 0;
	for (size_t i = 0; i < RCORE_COUNT(structs); i++) {
		struct rcore_samples samples;
		rcore_samples_take(ruby, process, vm, &samples);
		count += fit(&samples, layout, structs[i], &ret[count]);
	}
	return count;
}

bool rcore_shift_objspace(struct rcore_ruby *ruby, const struct rcore_process *process,
			  uint64_t vm, struct rcore_layout *layout, struct rcore_shift *ret)
{
	struct rcore_samples samples;
	rcore_samples_take(ruby, process, vm, &samples);
	return fit(&samples, layout, "objspace", ret);
}

size_t rcore_shift_misfits(struct rcore_ruby *ruby, const struct rcore_process *process,
			   uint64_t vm, struct rcore_layout *layout)
{
	struct rcore_samples samples;
	size_t count = 0;
	rcore_samples_take(ruby, process, vm, &samples);
	for (size_t i = 0; i < RCORE_COUNT(structs); i++) {
		struct fields fields;
		collect(layout, structs[i], &fields);
		count += (size_t)prove(&samples, &fields).failed;
	}
	return count;
}
