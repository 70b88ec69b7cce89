/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/names.h"
#include "triage/origin.h"

static void put_blame(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	const struct rcore_blame *blame = &snapshot->blame;
	if (!blame->present)
		return;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "origin", rcore_origin_name(blame->origin));
	rcore_json_add_text(json, object, "name", blame->name);
	rcore_json_add_text(json, object, "path", blame->path);
	rcore_json_add_count(json, object, "line", blame->line);
	rcore_json_add_text(json, object, "gem", blame->gem);
	rcore_json_add_text(json, object, "module", blame->module);
	rcore_json_add_text(json, object, "native", blame->native);
	if (rcore_index_valid(blame->fiber, snapshot->fiber_count))
		rcore_json_add_text(json, object, "fiber", snapshot->fibers[blame->fiber].id);
	rcore_json_add_text(json, object, "why", blame->why);
	rcore_json_put(json, "blame", object);
}

void rcore_json_triage(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	const struct rcore_signature *signature = &snapshot->signature;
	put_blame(json, snapshot);
	if (!signature->strict)
		return;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "loose", signature->loose);
	rcore_json_add_text(json, object, "strict", signature->strict);
	rcore_json_put(json, "signature", object);
}

void rcore_json_signature(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	const struct rcore_signature *signature = &snapshot->signature;
	rcore_json_open(json, "frames", '[');
	for (size_t i = 0; i < signature->frame_count; i++) {
		const struct rcore_signature_frame *frame = &signature->frames[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "name", frame->name);
		rcore_json_add_text(json, object, "place", frame->place);
		rcore_json_add_text(json, object, "origin", rcore_origin_name(frame->origin));
		rcore_json_add_text(json, object, "strict", frame->strict);
		rcore_json_add_text(json, object, "loose", frame->loose);
		rcore_json_add_text(json, object, "why", frame->why);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}
