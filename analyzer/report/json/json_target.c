/* SPDX-License-Identifier: MIT */
#include "base/signal_name.h"
#include "report/json/json.h"
#include "report/redaction.h"
#include "report/names.h"
#include "target/machine.h"

static void put_live(struct rcore_json *json, const struct rcore_live_facts *live)
{
	if (!live->present)
		return;
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_flag(json, object, "stopped", live->stopped);
	if (live->stopped)
		rcore_json_add(json, object, "pause_ns",
			       json_object_new_uint64(live->pause_ns));
	rcore_json_add_count(json, object, "stopped_threads", live->thread_count);
	rcore_json_add_count(json, object, "inner_pid", live->inner_pid);
	rcore_json_put(json, "live", object);
}

void rcore_json_origin(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "source", snapshot->source);
	rcore_json_add_count(json, object, "pid", snapshot->pid);
	rcore_json_put_members(json, object);
}

static void put_process(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	struct json_object *object = rcore_json_object(json);
	rcore_json_add_text(json, object, "source", snapshot->source);
	rcore_json_add_text(json, object, "producer", snapshot->producer);
	rcore_json_add_count(json, object, "pid", snapshot->pid);
	rcore_json_add_text(json, object, "machine", rcore_machine_name(snapshot->machine));
	rcore_json_add_text(json, object, "arguments", snapshot->arguments);
	rcore_json_put_members(json, object);
	put_live(json, &snapshot->live);
}

static void add_shifts(struct rcore_json *json, struct json_object *layout,
		       const struct rcore_snapshot *snapshot)
{
	struct json_object *shifts = json_object_new_array();
	for (size_t i = 0; shifts && i < snapshot->shift_count; i++) {
		const struct rcore_shift *shift = &snapshot->shifts[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "struct", shift->group);
		rcore_json_add_text(json, object, "from", shift->from);
		rcore_json_add(json, object, "by", json_object_new_int(shift->by));
		rcore_json_push(json, shifts, object);
	}
	rcore_json_add(json, layout, "moved", shifts);
}

static void add_unmeasured(struct rcore_json *json, struct json_object *layout,
			   const struct rcore_snapshot *snapshot)
{
	struct json_object *items = json_object_new_array();
	for (size_t i = 0; items && i < snapshot->unmeasured_count; i++)
		rcore_json_push(json, items, rcore_json_string(json, snapshot->unmeasured[i]));
	rcore_json_add(json, layout, "unmeasured", items);
}

static void put_ruby(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	struct json_object *ruby = rcore_json_object(json);
	rcore_json_add_text(json, ruby, "version", snapshot->ruby_version);
	rcore_json_add_text(json, ruby, "description", snapshot->ruby_description);
	rcore_json_add_text(json, ruby, "found_by", snapshot->version_source);
	rcore_json_put(json, "ruby", ruby);

	struct json_object *layout = rcore_json_object(json);
	rcore_json_add_text(json, layout, "name", snapshot->layout_name);
	rcore_json_add_text(json, layout, "source", snapshot->layout_source);
	rcore_json_add_text(json, layout, "neighbour", snapshot->layout_neighbour);
	if (snapshot->shift_count)
		add_shifts(json, layout, snapshot);
	if (snapshot->unmeasured_count)
		add_unmeasured(json, layout, snapshot);
	rcore_json_put(json, "layout", layout);

	struct json_object *vm = rcore_json_object(json);
	rcore_json_add_hex(json, vm, "address", snapshot->vm);
	if (snapshot->vm)
		rcore_json_add_text(json, vm, "found_by",
				    rcore_vm_method_name(snapshot->vm_found_by));
	rcore_json_add_text(json, vm, "fibers_found_by", snapshot->fiber_source);
	rcore_json_put(json, "vm", vm);

	const struct rcore_activation *activation = &snapshot->activation;
	if (activation->source == RCORE_ACTIVATION_NOT_ASKED)
		return;
	struct json_object *interpreter = rcore_json_object(json);
	rcore_json_add_hex(json, interpreter, "function", activation->address);
	rcore_json_add_text(json, interpreter, "found_by",
			    rcore_activation_source_name(activation->source));
	rcore_json_put(json, "interpreter", interpreter);
}

static void put_proofs(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_open(json, "proofs", '[');
	for (size_t i = 0; i < snapshot->proof_count; i++) {
		const struct rcore_proof *proof = &snapshot->proofs[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "name", proof->name);
		rcore_json_add_text(json, object, "text", proof->text);
		rcore_json_add(json, object, "passed", json_object_new_boolean(proof->passed));
		rcore_json_add_text(json, object, "detail", proof->detail);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

static void put_modules(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_open(json, "modules", '[');
	for (size_t i = 0; i < snapshot->module_count; i++) {
		const struct rcore_module_info *module = &snapshot->modules[i];
		struct json_object *object = rcore_json_object(json);
		rcore_json_add_text(json, object, "path", module->path);
		rcore_json_add_text(json, object, "status", module->status);
		rcore_json_add_text(json, object, "file", module->file);
		rcore_json_add_hex(json, object, "start", module->start);
		rcore_json_add_hex(json, object, "end", module->end);
		rcore_json_add_text(json, object, "build_id", module->build_id);
		rcore_json_add_text(json, object, "file_build_id", module->file_build_id);
		rcore_json_add_flag(json, object, "ruby", module->is_ruby);
		rcore_json_add_text(json, object, "lost", module->lost);
		rcore_json_add_text(json, object, "fix", module->fix);
		rcore_json_put(json, NULL, object);
	}
	rcore_json_close(json, ']');
}

void rcore_json_problems(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_open(json, "problems", '[');
	for (size_t i = 0; i < snapshot->problem_count; i++)
		rcore_json_put_text(json, NULL, snapshot->problems[i]);
	rcore_json_close(json, ']');
}

void rcore_json_target(struct rcore_json *json, const struct rcore_snapshot *snapshot)
{
	rcore_json_put(json, "complete",
		       json_object_new_boolean(!snapshot->incomplete && !snapshot->failure));
	if (snapshot->failure)
		rcore_json_put_text(json, "failure", snapshot->failure);
	put_process(json, snapshot);
	put_ruby(json, snapshot);
	rcore_json_facts(json, snapshot);
	rcore_json_redaction(json, &snapshot->redaction);
	rcore_json_cause(json, snapshot);
	rcore_json_triage(json, snapshot);
	rcore_json_problems(json, snapshot);
	put_proofs(json, snapshot);
	put_modules(json, snapshot);
}
