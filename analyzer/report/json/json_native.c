/* SPDX-License-Identifier: MIT */
#include "report/json/json.h"
#include "report/json/json_line.h"
#include "report/names.h"

static void put_frame(struct rcore_json *json, const struct rcore_native_frame *frame)
{
	struct rcore_json_line line;
	rcore_json_line_begin(json, &line);
	rcore_json_line_text(&line, "function", frame->function);
	rcore_json_line_text(&line, "symbol", frame->symbol);
	if (frame->function)
		rcore_json_line_count(&line, "offset", (int64_t)frame->function_offset);
	rcore_json_line_text(&line, "module", frame->module);
	rcore_json_line_count(&line, "module_offset", (int64_t)frame->module_offset);
	rcore_json_line_text(&line, "gem", frame->gem);
	rcore_json_line_text(&line, "file", frame->file);
	rcore_json_line_count(&line, "line", frame->line);
	rcore_json_line_text(&line, "trust", rcore_trust_name(frame->trust));
	rcore_json_line_flag(&line, "signal", frame->is_signal);
	rcore_json_line_flag(&line, "inlined", frame->is_inlined);
	rcore_json_line_flag(&line, "interpreter", frame->is_interpreter);
	rcore_json_line_hex(&line, "pc", frame->pc);
	rcore_json_line_hex(&line, "sp", frame->sp);
	rcore_json_line_hex(&line, "function_start", frame->function_start);
	rcore_json_line_end(&line);
}

void rcore_json_native(struct rcore_json *json, const struct rcore_native_frame *frames,
		       size_t count)
{
	if (!count)
		return;
	rcore_json_open(json, "native", '[');
	for (size_t i = 0; i < count && !ferror(json->out); i++)
		put_frame(json, &frames[i]);
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
		struct rcore_json_line line;
		rcore_json_line_begin(json, &line);
		if (step->kind == RCORE_STEP_GAP)
			rcore_json_line_text(&line, "gap", step->reason);
		else
			rcore_json_line_int(&line, keys[step->kind], step->index);
		rcore_json_line_end(&line);
	}
	rcore_json_close(json, ']');
}
