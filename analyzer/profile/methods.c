/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "profile/tree.h"

static uint32_t function_of(const struct rcore_profile *profile, uint32_t node)
{
	uint32_t frame = rcore_profile_node_at(profile, node)->frame;
	return rcore_profile_frame_at(profile, frame)->function;
}

/*
 * A walk over the stack of one total, from the innermost frame to the
 * outermost.
 */
struct walk {
	const struct rcore_totals *totals;
	enum rcore_measure measure;
	/* For each function, the last total that contains it, plus one. */
	uint32_t *seen;
	struct rcore_method *methods; /* by function */
};

static void add_function(const struct walk *walk, size_t index, uint32_t function, bool is_self)
{
	struct rcore_method *method = &walk->methods[function];
	for (int side = 0; side < RCORE_SIDES; side++) {
		struct rcore_amounts amounts = rcore_totals_amounts(walk->totals, index, side);
		uint64_t amount = rcore_measured(amounts, walk->measure);
		if (is_self)
			method->self[side] += amount;
		if (walk->seen[function] == index + 1)
			continue;
		method->total[side] += amount;
		method->samples[side] += amounts.count;
	}
	walk->seen[function] = (uint32_t)index + 1;
}

/*
 * Adds one total to each function on its stack, once. Function 0 stands for the
 * empty stack, and for a stack that only has the frame of its group.
 */
static void add_stack(const struct walk *walk, size_t index, bool is_grouped)
{
	const struct rcore_profile *profile = walk->totals->profile;
	uint32_t node = rcore_totals_key(walk->totals, index)->node;
	for (bool is_self = true;; is_self = false) {
		uint32_t parent = rcore_profile_node_at(profile, node)->parent;
		bool is_end = !node || (is_grouped && !parent);
		if (!is_end || is_self)
			add_function(walk, index, is_end ? 0 : function_of(profile, node),
				     is_self);
		if (is_end || !parent)
			return;
		node = parent;
	}
}

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int compare(const void *x, const void *y)
{
	const struct rcore_method *a = x, *b = y;
	int order = descending(rcore_both_sides(a->self), rcore_both_sides(b->self));
	if (!order)
		order = descending(rcore_both_sides(a->total), rcore_both_sides(b->total));
	return order ? order : (a->function > b->function) - (a->function < b->function);
}

/*
 * Returns the function of each node's outermost frame, which is 0 for the empty
 * stack. Returns NULL if memory is short.
 */
static uint32_t *find_roots(const struct rcore_profile *profile)
{
	uint32_t *roots = calloc(profile->nodes.count, sizeof(*roots));
	for (uint32_t i = 1; roots && i < profile->nodes.count; i++) {
		uint32_t parent = rcore_profile_node_at(profile, i)->parent;
		roots[i] = parent ? roots[parent] : function_of(profile, i);
	}
	return roots;
}

/* What both kinds of lists need while they are built. */
struct work {
	struct rcore_method *methods; /* by function */
	uint32_t *seen, *roots;
};

static bool work_init(struct work *work, const struct rcore_profile *profile)
{
	size_t count = profile->functions.count;
	*work = (struct work){
		.methods = calloc(count, sizeof(*work->methods)),
		.seen = calloc(count, sizeof(*work->seen)),
		.roots = find_roots(profile),
	};
	for (uint32_t i = 0; work->methods && i < count; i++)
		work->methods[i].function = i;
	return work->methods && work->seen && work->roots;
}

/* Keeps the methods that occurred, in order, and frees the rest. */
static struct rcore_error *finish(struct work *work, size_t count, bool is_ready,
				  struct rcore_methods *ret)
{
	free(work->seen);
	free(work->roots);
	ret->items = is_ready ? work->methods : NULL;
	if (!is_ready) {
		free(work->methods);
		return rcore_error_no_memory();
	}
	for (uint32_t i = 0; i < count; i++)
		if (rcore_both_sides(work->methods[i].samples))
			ret->items[ret->count++] = work->methods[i];
	qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return NULL;
}

static void add_whole(struct rcore_methods *methods, const struct rcore_totals *totals,
		      size_t index, enum rcore_measure measure)
{
	for (int side = 0; side < RCORE_SIDES; side++) {
		struct rcore_amounts amounts = rcore_totals_amounts(totals, index, side);
		methods->whole[side] += rcore_measured(amounts, measure);
		methods->samples[side] += amounts.count;
	}
}

static bool has_label(const struct rcore_profile *profile, uint32_t labels,
		      const struct rcore_profile_label *wanted)
{
	size_t count;
	const struct rcore_profile_label *set =
		rcore_profile_label_set(profile, labels, &count);
	for (size_t i = 0; i < count; i++)
		if (set[i].key == wanted->key && set[i].value == wanted->value)
			return true;
	return false;
}

/* Whether the group contains what total `index` counts. */
static bool is_member(const struct rcore_totals *totals, const uint32_t *roots, size_t index,
		      const struct rcore_methods_group *group)
{
	const struct rcore_total_key *key = rcore_totals_key(totals, index);
	if (group->is_one && roots[key->node] != group->function)
		return false;
	return !group->label || has_label(totals->profile, key->labels, group->label);
}

struct rcore_error *rcore_methods_init(const struct rcore_totals *totals,
				       enum rcore_measure measure,
				       const struct rcore_methods_group *group,
				       struct rcore_methods *ret)
{
	struct work work;
	bool is_grouped = group->is_one || totals->options.by != RCORE_BY_NOTHING;
	bool is_ready = work_init(&work, totals->profile);
	const struct walk walk = {totals, measure, work.seen, work.methods};
	*ret = (struct rcore_methods){0};
	for (size_t i = 0; is_ready && i < totals->keys.count; i++) {
		if (!is_member(totals, work.roots, i, group))
			continue;
		add_stack(&walk, i, is_grouped);
		add_whole(ret, totals, i, measure);
	}
	return finish(&work, totals->profile->functions.count, is_ready, ret);
}

struct rcore_error *rcore_owners_init(const struct rcore_totals *totals,
				      enum rcore_measure measure,
				      const struct rcore_methods_group *group,
				      const uint32_t *owners, struct rcore_methods *ret)
{
	struct work work;
	bool is_ready = work_init(&work, totals->profile);
	const struct walk walk = {totals, measure, work.seen, work.methods};
	*ret = (struct rcore_methods){0};
	for (size_t i = 0; is_ready && i < totals->keys.count; i++) {
		if (!is_member(totals, work.roots, i, group))
			continue;
		add_function(&walk, i, owners[rcore_totals_key(totals, i)->node], true);
		add_whole(ret, totals, i, measure);
	}
	return finish(&work, totals->profile->functions.count, is_ready, ret);
}

struct rcore_error *rcore_groups_init(const struct rcore_totals *totals,
				      enum rcore_measure measure, struct rcore_methods *ret)
{
	struct work work;
	bool is_ready = work_init(&work, totals->profile);
	*ret = (struct rcore_methods){0};
	for (size_t i = 0; is_ready && i < totals->keys.count; i++) {
		struct rcore_method *method =
			&work.methods[work.roots[rcore_totals_key(totals, i)->node]];
		for (int side = 0; side < RCORE_SIDES; side++) {
			struct rcore_amounts amounts = rcore_totals_amounts(totals, i, side);
			method->total[side] += rcore_measured(amounts, measure);
			method->samples[side] += amounts.count;
		}
		add_whole(ret, totals, i, measure);
	}
	return finish(&work, totals->profile->functions.count, is_ready, ret);
}

void rcore_methods_deinit(struct rcore_methods *methods)
{
	free(methods->items);
	*methods = (struct rcore_methods){0};
}
