/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_doctor.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "heap/share.h"
#include "ruby/object/value.h"
#include "session/heap/heap_graph.h"
#include "session/session.h"

struct doctoring {
	bool with_rules;
	struct rcore_heap_doctor *doctor;
};

static int by_name(const void *a, const void *b)
{
	const struct rcore_doctor_class *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static int by_count(const void *a, const void *b)
{
	const struct rcore_doctor_class *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Classes with the same name have one row; those without objects have none. */
static void merge(struct rcore_heap_doctor *doctor, size_t count)
{
	size_t kept = 0;
	qsort(doctor->missed, count, sizeof(*doctor->missed), by_name);
	for (size_t i = 0; i < count; i++) {
		const struct rcore_doctor_class item = doctor->missed[i];
		if (!item.count)
			continue;
		if (kept && !strcmp(doctor->missed[kept - 1].name, item.name))
			doctor->missed[kept - 1].count += item.count;
		else
			doctor->missed[kept++] = item;
	}
	doctor->missed_count = kept;
	if (kept)
		qsort(doctor->missed, kept, sizeof(*doctor->missed), by_count);
}

static struct rcore_error *list_missed(struct rcore_heap_namer *namer, const bool *missed,
				       struct rcore_heap_doctor *doctor)
{
	const struct rcore_heap *heap = namer->heap;
	size_t capacity = 0, count = 0;
	struct rcore_doctor_class *items = NULL;
	struct rcore_error *err = NULL;
	for (uint32_t node = 0; node < heap->node_count && !err; node++) {
		uint32_t number;
		if (!missed[node])
			continue;
		err = rcore_heap_class_number(namer, node, &number);
		while (!err && count <= number) {
			if (!rcore_grow((void **)&items, count, &capacity, sizeof(*items)))
				err = rcore_error_no_memory();
			else
				items[count++] = (struct rcore_doctor_class){0};
		}
		if (!err)
			items[number].count++;
	}
	doctor->missed = err ? NULL : rcore_arena_array(namer->arena, count, sizeof(*items));
	if (!err && !doctor->missed)
		err = rcore_error_no_memory();
	for (size_t i = 0; i < count && !err; i++) {
		items[i].name = namer->classes.items[i];
		doctor->missed[i] = items[i];
	}
	free(items);
	if (!err && count)
		merge(doctor, count);
	return err;
}

static bool has_references(const struct rcore_heap *heap, unsigned type)
{
	for (uint32_t node = 0; node < heap->node_count; node++)
		for (uint32_t i = heap->first_edge[node];
		     heap->type[node] == type && i < heap->first_edge[node + 1]; i++)
			if (rcore_edge_kind(heap->label[i]) != RCORE_EDGE_CLASS)
				return true;
	return false;
}

static struct rcore_error *try_rules(struct rcore_heap_namer *namer,
				     struct rcore_heap_doctor *doctor)
{
	struct rcore_error *err = NULL;
	doctor->rules =
		rcore_arena_array(namer->arena, RCORE_T_MASK + 1, sizeof(*doctor->rules));
	if (!doctor->rules)
		return rcore_error_no_memory();
	for (unsigned type = 1; type <= RCORE_T_MASK && !err; type++) {
		struct rcore_heap_share share;
		const char *name = rcore_type_name((enum rcore_type)type);
		if (!name || !has_references(namer->heap, type))
			continue;
		err = rcore_heap_count_reached(namer->heap, (int)type, NULL, &share);
		doctor->rules[doctor->rule_count++] =
			(struct rcore_doctor_rule){name, share.reached};
	}
	return err;
}

static struct rcore_error *run(struct rcore_heap_namer *namer, void *context)
{
	const struct doctoring *doctoring = context;
	struct rcore_heap_doctor *doctor = doctoring->doctor;
	bool *missed = rcore_calloc(namer->heap->node_count, sizeof(*missed));
	struct rcore_heap_share share;
	struct rcore_error *err = missed ? NULL : rcore_error_no_memory();
	namer->redaction = &doctor->redaction;
	if (!err)
		err = rcore_heap_count_reached(namer->heap, RCORE_SHARE_ALL, missed, &share);
	if (!err) {
		doctor->marked = share.marked;
		doctor->reached = share.reached;
		err = list_missed(namer, missed, doctor);
	}
	if (!err && doctoring->with_rules)
		err = try_rules(namer, doctor);
	free(missed);
	return err ? err : rcore_heap_describe_gaps(namer, &doctor->gaps);
}

struct rcore_error *rcore_heap_doctor(struct rcore_session *session, bool with_rules,
				      struct rcore_heap_doctor **ret)
{
	struct rcore_heap_doctor *doctor = calloc(1, sizeof(*doctor));
	struct doctoring doctoring = {with_rules, doctor};
	if (!doctor)
		return rcore_error_no_memory();
	doctor->redaction.mode = session->settings.redact;
	struct rcore_error *err = rcore_session_graph(session, &doctor->arena, run, &doctoring);
	if (err)
		rcore_heap_doctor_free(doctor);
	else
		*ret = doctor;
	return err;
}

void rcore_heap_doctor_free(struct rcore_heap_doctor *doctor)
{
	if (!doctor)
		return;
	rcore_arena_deinit(&doctor->arena);
	free(doctor);
}
