/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/names.h"

static struct json_object *task_object(struct rcore_json *json,
				       const struct rcore_snapshot *snapshot,
				       const struct rcore_task *task)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "class", task->class_name);
	rcore_json_add_hex(json, object, "object", task->object);
	if (task->parent >= 0)
		rcore_json_add_int(json, object, "parent", task->parent);
	rcore_json_add_text(json, object, "status", task->status);
	rcore_json_add_text(json, object, "annotation", task->annotation);
	rcore_json_add_flag(json, object, "transient", task->is_transient);
	if (rcore_index_valid(task->fiber, snapshot->fiber_count))
		rcore_json_add_text(json, object, "fiber", snapshot->fibers[task->fiber].id);
	rcore_json_add_text(json, object, "problem", task->problem);
	return object;
}

void rcore_json_tasks(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	if (!snapshot->task_count)
		return;
	rcore_json_open(json, "tasks", '[');
	for (size_t i = 0; i < snapshot->task_count; i++)
		rcore_json_put(json, NULL, task_object(json, snapshot, &snapshot->tasks[i]));
	rcore_json_close(json, ']');
}
