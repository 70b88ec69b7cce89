/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/json/json_values.h"
#include "report/names.h"

static void add_id(struct rcore_json *json, struct json_object *array, const char *id)
{
	rcore_json_push(json, array, rcore_json_string(json, id));
}

static struct json_object *thread_ids(struct rcore_json *json,
				      const struct rcore_snapshot *snapshot, const int *threads,
				      size_t count, const struct rcore_pick *pick)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		if (rcore_pick_thread(snapshot, pick, (size_t)threads[i]))
			add_id(json, array, snapshot->threads[threads[i]].id);
	return array;
}

static struct json_object *fiber_ids(struct rcore_json *json,
				     const struct rcore_snapshot *snapshot, const int *fibers,
				     size_t count, const struct rcore_pick *pick)
{
	struct json_object *array = json_object_new_array();
	for (size_t i = 0; i < count; i++)
		if (rcore_pick_fiber(snapshot, pick, (size_t)fibers[i]))
			add_id(json, array, snapshot->fibers[fibers[i]].id);
	return array;
}

static void put_ractors(struct rcore_json *json, const struct rcore_snapshot *snapshot,
			const struct rcore_pick *pick)
{
	rcore_json_open(json, "ractors", '[');
	for (size_t i = 0; i < snapshot->ractor_count; i++) {
		const struct rcore_ractor *ractor = &snapshot->ractors[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_int(json, object, "id", (int64_t)ractor->id);
		rcore_json_add_text(json, object, "name", ractor->name);
		rcore_json_add_hex(json, object, "address", ractor->address);
		rcore_json_add(json, object, "threads",
			       thread_ids(json, snapshot, ractor->threads, ractor->thread_count,
					  pick));
		rcore_json_add_text(json, object, "problem", ractor->problem);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static struct json_object *thread_object(struct rcore_json *json,
					 const struct rcore_snapshot *snapshot,
					 const struct rcore_thread *thread,
					 const struct rcore_pick *pick)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "id", thread->id);
	rcore_json_add_count(json, object, "tid", thread->tid);
	rcore_json_add_count(json, object, "outer_tid", thread->outer_tid);
	rcore_json_add_flag(json, object, "parked", thread->is_parked);
	rcore_json_add_text(json, object, "name", thread->name);
	rcore_json_add_text(json, object, "status", rcore_thread_status_name(thread));
	if (thread->gvl != RCORE_GVL_UNKNOWN)
		rcore_json_add_text(json, object, "gvl", rcore_gvl_name(thread->gvl));
	rcore_json_add_count(json, object, "gvl_held_ns", thread->gvl_held_ns);
	rcore_json_add_flag(json, object, "main", thread->is_main);
	rcore_json_add_flag(json, object, "crashed", thread->is_crashed);
	rcore_json_add_flag(json, object, "ended", thread->is_ended);
	rcore_json_add_flag(json, object, "to_kill", thread->to_kill);
	if (thread->ractor >= 0)
		rcore_json_add_int(json, object, "ractor",
				   (int64_t)snapshot->ractors[thread->ractor].id);
	rcore_json_add_hex(json, object, "object", thread->object);
	rcore_json_add_hex(json, object, "address", thread->address);
	if (thread->current_fiber >= 0)
		rcore_json_add_text(json, object, "current_fiber",
				    snapshot->fibers[thread->current_fiber].id);
	rcore_json_add(json, object, "fibers",
		       fiber_ids(json, snapshot, thread->fibers, thread->fiber_count, pick));
	rcore_json_add_variables(json, object, "variables", "variables_problem",
				 &thread->variables);
	rcore_json_add_text(json, object, "problem", thread->problem);
	return object;
}

static void put_groups(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		       const struct rcore_pick *pick)
{
	rcore_json_open(json, "groups", '[');
	for (size_t i = 0; i < snapshot->group_count; i++) {
		const struct rcore_fiber_group *group = &snapshot->groups[i];
		struct json_object *ids =
			fiber_ids(json, snapshot, group->fibers, group->count, pick);
		if (ids && json_object_array_length(ids) < 2) {
			json_object_put(ids);
			continue;
		}
		struct json_object *object = rcore_json_object(json);
		rcore_json_add(json, object, "fibers", ids);
		rcore_json_add_flag(json, object, "differs", group->differs);
		if (group->similar_listed)
			rcore_json_add(json, object, "similar",
				       fiber_ids(json, snapshot, group->similar,
						 group->similar_listed, pick));
		if (group->similar_count > group->similar_listed)
			rcore_json_add_count(json, object, "similar_count",
					     group->similar_count);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_thread_groups(struct rcore_json *json, const struct rcore_snapshot *snapshot,
			      const struct rcore_pick *pick)
{
	rcore_json_open(json, "thread_groups", '[');
	for (size_t i = 0; i < snapshot->thread_group_count; i++) {
		const struct rcore_thread_group *group = &snapshot->thread_groups[i];
		struct json_object *ids =
			thread_ids(json, snapshot, group->threads, group->count, pick);
		if (ids && json_object_array_length(ids) < 2) {
			json_object_put(ids);
			continue;
		}
		struct json_object *object = rcore_json_object(json);
		rcore_json_add(json, object, "threads", ids);
		rcore_json_add_flag(json, object, "idle",
				    snapshot->threads[group->threads[0]].is_idle);
		rcore_json_add_flag(json, object, "differs", group->differs);
		if (group->similar_listed)
			rcore_json_add(json, object, "similar",
				       thread_ids(json, snapshot, group->similar,
						  group->similar_listed, pick));
		if (group->similar_count > group->similar_listed)
			rcore_json_add_count(json, object, "similar_count",
					     group->similar_count);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_others(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_open(json, "other_threads", '[');
	for (size_t i = 0; i < snapshot->other_count; i++) {
		const struct rcore_other_thread *other = &snapshot->others[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_int(json, object, "tid", other->tid);
		rcore_json_add_count(json, object, "outer_tid", other->outer_tid);
		rcore_json_add_text(json, object, "native_problem", other->native_problem);
		rcore_json_open(json, NULL, '{');
		rcore_json_put_members(json, object);
		rcore_json_native(json, other->native, other->native_count);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}

void rcore_json_threads(struct rcore_json *json, const struct rcore_snapshot *snapshot,
			const struct rcore_pick *pick)
{
	put_ractors(json, snapshot, pick);
	rcore_json_open(json, "threads", '[');
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (rcore_pick_thread(snapshot, pick, i))
			rcore_json_put(
				json, NULL,
				thread_object(json, snapshot, &snapshot->threads[i], pick));
	rcore_json_close(json, ']');
	put_others(json, snapshot);
	put_thread_groups(json, snapshot, pick);
	put_groups(json, snapshot, pick);
}
