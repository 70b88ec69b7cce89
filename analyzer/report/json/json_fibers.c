/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "report/json/json.h"
#include "report/json/json_line.h"
#include "report/json/json_values.h"
#include "report/names.h"

/*
 * Written only if it differs from the newest Ruby's; most frames of 3.4 and
 * later do not.
 */
static void native(struct rcore_json_line *line, const struct rcore_frame *frame)
{
	if (!frame->native_label && !frame->native_path) {
		rcore_json_line_flag(line, "native_hidden", true);
		return;
	}
	if (!rcore_same_text(frame->native_label, frame->label))
		rcore_json_line_text(line, "native_label", frame->native_label);
	if (!rcore_same_text(frame->native_path, frame->path))
		rcore_json_line_text(line, "native_path", frame->native_path);
	if (frame->native_line != frame->line)
		rcore_json_line_int(line, "native_line", frame->native_line);
}

static void put_frame(struct rcore_json *json, const struct rcore_frame *frame)
{
	struct rcore_json_line line;
	rcore_json_line_begin(json, &line);
	rcore_json_line_text(&line, "kind", rcore_frame_kind_name(frame->kind));
	rcore_json_line_text(&line, "label", frame->label);
	rcore_json_line_text(&line, "path", frame->path);
	rcore_json_line_count(&line, "line", frame->line);
	native(&line, frame);
	rcore_json_line_flag(&line, "under_construction", frame->under_construction);
	rcore_json_line_flag(&line, "pc_stale", frame->pc_stale);
	rcore_json_line_text(&line, "problem", frame->problem);
	rcore_json_line_hex(&line, "cfp", frame->cfp);
	rcore_json_line_hex(&line, "pc", frame->pc);
	rcore_json_line_hex(&line, "iseq", frame->iseq);
	rcore_json_line_hex(&line, "self", frame->self);
	rcore_json_line_hex(&line, "ep", frame->ep);
	rcore_json_line_hex(&line, "method_entry", frame->method_entry);
	rcore_json_line_hex(&line, "cfunc", frame->cfunc);
	rcore_json_line_hex(&line, "flags", frame->flags);
	if (frame->values) {
		struct json_object *values = rcore_json_object(json);
		rcore_json_add_frame_values(json, values, frame->values);
		rcore_json_line_members(&line, values);
	}
	rcore_json_line_end(&line);
}

static struct json_object *fiber_object(struct rcore_json *json,
					const struct rcore_snapshot *snapshot,
					const struct rcore_fiber *fiber)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "id", fiber->id);
	if (fiber->thread >= 0)
		rcore_json_add_text(json, object, "thread",
				    snapshot->threads[fiber->thread].id);
	rcore_json_add_text(json, object, "status", rcore_fiber_status_name(fiber->status));
	rcore_json_add_flag(json, object, "root", fiber->is_root);
	rcore_json_add_flag(json, object, "current", fiber->is_current);
	rcore_json_add_flag(json, object, "continuation", fiber->is_continuation);
	rcore_json_add_flag(json, object, "yielding", fiber->yielding);
	rcore_json_add_flag(json, object, "blocking", fiber->blocking);
	rcore_json_add_flag(json, object, "late", fiber->is_late);
	if (fiber->stack_age_ns)
		rcore_json_add(json, object, "stack_age_ns",
			       json_object_new_uint64(fiber->stack_age_ns));
	if (fiber->resumed_by >= 0)
		rcore_json_add_text(json, object, "resumed_by",
				    snapshot->fibers[fiber->resumed_by].id);
	if (fiber->resuming >= 0)
		rcore_json_add_text(json, object, "resuming",
				    snapshot->fibers[fiber->resuming].id);
	rcore_json_add_hex(json, object, "object", fiber->object);
	rcore_json_add_hex(json, object, "address", fiber->address);
	rcore_json_add_hex(json, object, "ec", fiber->ec);
	rcore_json_add_hex(json, object, "vm_stack", fiber->vm_stack);
	rcore_json_add_count(json, object, "vm_stack_size", (int64_t)fiber->vm_stack_size);
	rcore_json_add_hex(json, object, "machine_stack", fiber->machine_stack);
	rcore_json_add_count(json, object, "machine_stack_size",
			     (int64_t)fiber->machine_stack_size);
	rcore_json_add_flag(json, object, "frames_truncated", fiber->frames_truncated);
	rcore_json_add_text(json, object, "problem", fiber->problem);
	rcore_json_add_text(json, object, "native_problem", fiber->native_problem);
	if (rcore_context_has_any(&fiber->context))
		rcore_json_add(json, object, "context",
			       rcore_json_context(json, &fiber->context));
	rcore_json_add_works(json, object, &fiber->works);
	return object;
}

void rcore_json_fibers(struct rcore_json *json, const struct rcore_snapshot *snapshot,
		       const struct rcore_pick *pick)
{
	rcore_json_open(json, "fibers", '[');
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (!rcore_pick_fiber(snapshot, pick, i))
			continue;
		rcore_json_open(json, NULL, '{');
		rcore_json_put_members(json, fiber_object(json, snapshot, fiber));
		rcore_json_wait(json, snapshot, fiber->wait);
		rcore_json_open(json, "frames", '[');
		for (size_t j = 0; j < fiber->frame_count && !ferror(json->out); j++)
			put_frame(json, &fiber->frames[j]);
		rcore_json_close(json, ']');
		rcore_json_native(json, fiber->native, fiber->native_count);
		rcore_json_steps(json, fiber);
		rcore_json_put_variables(json, "storage", "storage_problem", &fiber->storage);
		rcore_json_put_variables(json, "fiber_locals", "fiber_locals_problem",
					 &fiber->locals);
		rcore_json_exceptions(json, fiber);
		rcore_json_close(json, '}');
	}
	rcore_json_close(json, ']');
}
