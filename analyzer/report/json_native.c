/* SPDX-License-Identifier: MIT */
#include "report/json.h"
#include "report/words.h"

static struct json_object *frame_object(struct rcore_json *json,
					const struct rcore_native_frame *frame)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "function", frame->function);
	if (frame->function)
		rcore_json_add_count(json, object, "offset", (int64_t)frame->function_offset);
	rcore_json_add_text(json, object, "module", frame->module);
	rcore_json_add_text(json, object, "gem", frame->gem);
	rcore_json_add_text(json, object, "file", frame->file);
	rcore_json_add_count(json, object, "line", frame->line);
	rcore_json_add_text(json, object, "trust", rcore_trust_name(frame->trust));
	rcore_json_add_flag(json, object, "signal", frame->is_signal);
	rcore_json_add_flag(json, object, "inlined", frame->is_inlined);
	rcore_json_add_flag(json, object, "interpreter", frame->is_interpreter);
	rcore_json_add_hex(json, object, "pc", frame->pc);
	rcore_json_add_hex(json, object, "sp", frame->sp);
	rcore_json_add_hex(json, object, "function_start", frame->function_start);
	return object;
}

void rcore_json_native(struct rcore_json *json, const struct rcore_native_frame *frames,
		       size_t count)
{
	if (!count)
		return;
	rcore_json_open(json, "native", '[');
	for (size_t i = 0; i < count && !ferror(json->out); i++)
		rcore_json_put(json, NULL, frame_object(json, &frames[i]));
	rcore_json_close(json, ']');
}

void rcore_json_steps(struct rcore_json *json, const struct rcore_fiber *fiber)
{
	static const char *const keys[] = {
		[RCORE_STEP_NATIVE] = "native",
		[RCORE_STEP_RUBY] = "frame",
	};
	if (!fiber->step_count)
		return;
	rcore_json_open(json, "stack", '[');
	for (size_t i = 0; i < fiber->step_count && !ferror(json->out); i++) {
		const struct rcore_step *step = &fiber->steps[i];
		struct json_object *object = rcore_json_object(json);
		if (step->kind == RCORE_STEP_GAP)
			rcore_json_add_text(json, object, "gap", step->reason);
		else
			rcore_json_add_int(json, object, keys[step->kind], step->index);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}
