/* SPDX-License-Identifier: MIT */
#include "redact/redact_parts.h"

#include "base/count.h"
#include "model/printed.h"
#include "model/snapshot.h"

#define SAFE(type, member)                                              \
	{                                                               \
		RCORE_PART_SAFE, offsetof(struct type, member), 0, NULL \
	}
#define SAFE_TEXTS(type, member)                                              \
	{                                                                     \
		RCORE_PART_SAFE_TEXTS, offsetof(struct type, member), 0, NULL \
	}
#define OPAQUE(type, member)                                              \
	{                                                                 \
		RCORE_PART_OPAQUE, offsetof(struct type, member), 0, NULL \
	}
#define NAME(type, member)                                              \
	{                                                               \
		RCORE_PART_NAME, offsetof(struct type, member), 0, NULL \
	}
#define TEXT(type, member)                                              \
	{                                                               \
		RCORE_PART_TEXT, offsetof(struct type, member), 0, NULL \
	}
#define INSPECT(type, member)                                              \
	{                                                                  \
		RCORE_PART_INSPECT, offsetof(struct type, member), 0, NULL \
	}
#define COMMAND(type, member)                                              \
	{                                                                  \
		RCORE_PART_COMMAND, offsetof(struct type, member), 0, NULL \
	}
#define VALUE(type, member, key)                                                             \
	{                                                                                    \
		RCORE_PART_VALUE, offsetof(struct type, member), offsetof(struct type, key), \
			NULL                                                                 \
	}
#define TEXTS(type, member, length)                              \
	{                                                        \
		RCORE_PART_TEXTS, offsetof(struct type, member), \
			offsetof(struct type, length), NULL      \
	}
#define WITHIN(type, member, parts)                                           \
	{                                                                     \
		RCORE_PART_WITHIN, offsetof(struct type, member), 0, &(parts) \
	}
#define ONE(type, member, parts)                                           \
	{                                                                  \
		RCORE_PART_ONE, offsetof(struct type, member), 0, &(parts) \
	}
#define MANY(type, member, length, parts)                                                      \
	{                                                                                      \
		RCORE_PART_MANY, offsetof(struct type, member), offsetof(struct type, length), \
			&(parts)                                                               \
	}
#define ARRAY(type, member, parts)                                                             \
	{                                                                                      \
		RCORE_PART_ARRAY, offsetof(struct type, member),                               \
			offsetof(struct type, member) + sizeof(((struct type *)NULL)->member), \
			&(parts)                                                               \
	}
#define CHAIN(type, member, parts)                                           \
	{                                                                    \
		RCORE_PART_CHAIN, offsetof(struct type, member), 0, &(parts) \
	}
#define PARTS(type, list)                                    \
	{                                                    \
		sizeof(struct type), list, RCORE_COUNT(list) \
	}

/*
 * A value is redacted before its key, because the key says what the value is.
 */
static const struct rcore_part value_parts[] = {
	INSPECT(rcore_value, text),
	NAME(rcore_value, class_name),
	TEXT(rcore_value, problem),
};
static const struct rcore_parts value = PARTS(rcore_value, value_parts);

static const struct rcore_part variable_parts[] = {
	VALUE(rcore_variable, value.text, name), NAME(rcore_variable, value.class_name),
	TEXT(rcore_variable, value.problem),     NAME(rcore_variable, name),
	TEXT(rcore_variable, problem),
};
static const struct rcore_parts variable = PARTS(rcore_variable, variable_parts);

static const struct rcore_part element_parts[] = {
	VALUE(rcore_element, value.text, key.text),
	NAME(rcore_element, value.class_name),
	TEXT(rcore_element, value.problem),
	WITHIN(rcore_element, key, value),
};
static const struct rcore_parts element = PARTS(rcore_element, element_parts);

static const struct rcore_part printed_parts[] = {
	WITHIN(rcore_printed, value, value),
	MANY(rcore_printed, variables, variable_count, variable),
	MANY(rcore_printed, items, item_count, element),
	TEXT(rcore_printed, problem),
	SAFE(rcore_printed, type),
	/* A literal in the C code that created the object. */
	SAFE(rcore_printed, data_type),
};
static const struct rcore_parts printed = PARTS(rcore_printed, printed_parts);

static const struct rcore_part print_parts[] = {
	OPAQUE(rcore_print, arena),
	MANY(rcore_print, items, count, printed),
};
const struct rcore_parts rcore_print_parts = PARTS(rcore_print, print_parts);

static const struct rcore_part variables_parts[] = {
	MANY(rcore_variables, items, count, variable),
	TEXT(rcore_variables, problem),
};
static const struct rcore_parts variables = PARTS(rcore_variables, variables_parts);

static const struct rcore_part work_parts[] = {
	/* Of recognizers.json, or a file that the user names. */
	SAFE(rcore_work, recognizer),
	SAFE(rcore_work, kind),
	WITHIN(rcore_work, fields, variables),
};
static const struct rcore_parts work = PARTS(rcore_work, work_parts);

static const struct rcore_part works_parts[] = {
	MANY(rcore_works, items, count, work),
};
static const struct rcore_parts works = PARTS(rcore_works, works_parts);

static const struct rcore_part local_parts[] = {
	WITHIN(rcore_local, variable, variable),
};
static const struct rcore_parts local = PARTS(rcore_local, local_parts);

static const struct rcore_part frame_values_parts[] = {
	WITHIN(rcore_frame_values, self, value),
	MANY(rcore_frame_values, locals, local_count, local),
	TEXT(rcore_frame_values, problem),
};
static const struct rcore_parts frame_values = PARTS(rcore_frame_values, frame_values_parts);

static const struct rcore_part frame_parts[] = {
	NAME(rcore_frame, label),
	NAME(rcore_frame, path),
	NAME(rcore_frame, native_label),
	NAME(rcore_frame, native_path),
	ONE(rcore_frame, values, frame_values),
	TEXT(rcore_frame, problem),
};
static const struct rcore_parts frame = PARTS(rcore_frame, frame_parts);

/* Names of functions and files of machine code. */
static const struct rcore_part native_parts[] = {
	SAFE(rcore_native_frame, function), SAFE(rcore_native_frame, symbol),
	SAFE(rcore_native_frame, module),   SAFE(rcore_native_frame, gem),
	SAFE(rcore_native_frame, file),
};
static const struct rcore_parts native = PARTS(rcore_native_frame, native_parts);

static const struct rcore_part step_parts[] = {
	SAFE(rcore_step, reason),
};
static const struct rcore_parts step = PARTS(rcore_step, step_parts);

static const struct rcore_part pair_parts[] = {
	WITHIN(rcore_context_pair, variable, variable),
};
static const struct rcore_parts pair = PARTS(rcore_context_pair, pair_parts);

static const struct rcore_part location_parts[] = {
	NAME(rcore_backtrace_location, path),
	NAME(rcore_backtrace_location, label),
	NAME(rcore_backtrace_location, text),
	TEXT(rcore_backtrace_location, problem),
};
static const struct rcore_parts location = PARTS(rcore_backtrace_location, location_parts);

static const struct rcore_parts exception;
static const struct rcore_part exception_parts[] = {
	INSPECT(rcore_exception, message),
	NAME(rcore_exception, class_name),
	MANY(rcore_exception, backtrace, location_count, location),
	TEXT(rcore_exception, problem),
	CHAIN(rcore_exception, cause, exception),
};
static const struct rcore_parts exception = PARTS(rcore_exception, exception_parts);

static const struct rcore_part fd_parts[] = {
	NAME(rcore_wait_fd, path),
	NAME(rcore_wait_fd, link),
	SAFE(rcore_wait_fd, mode),
};
static const struct rcore_parts fd = PARTS(rcore_wait_fd, fd_parts);

static const struct rcore_part wait_parts[] = {
	NAME(rcore_wait, method),  TEXT(rcore_wait, argument),          SAFE(rcore_wait, hook),
	SAFE(rcore_wait, syscall), MANY(rcore_wait, fds, fd_count, fd), NAME(rcore_wait, type),
	SAFE(rcore_wait, within),  TEXT(rcore_wait, within_seconds),    SAFE(rcore_wait, wants),
};
static const struct rcore_parts wait = PARTS(rcore_wait, wait_parts);

static const struct rcore_part lock_parts[] = {
	TEXT(rcore_lock, problem),
};
static const struct rcore_parts lock = PARTS(rcore_lock, lock_parts);

/* The names are rcore's own. */
static const struct rcore_part pool_parts[] = {
	SAFE(rcore_pool, library),   SAFE(rcore_pool, resource),
	OPAQUE(rcore_pool, holders), /* numbers */
	OPAQUE(rcore_pool, waiters), /* numbers */
	OPAQUE(rcore_pool, first),   /* numbers */
};
static const struct rcore_parts pool = PARTS(rcore_pool, pool_parts);

/* Labels, paths, and the texts of waits. */
static const struct rcore_part deadlock_parts[] = {
	TEXT(rcore_deadlock, text),
};
static const struct rcore_parts deadlock = PARTS(rcore_deadlock, deadlock_parts);

/* Labels, paths, and the texts of waits. */
static const struct rcore_part summary_parts[] = {
	TEXT(rcore_summary_line, text),
};
static const struct rcore_parts summary = PARTS(rcore_summary_line, summary_parts);

static const struct rcore_part fiber_parts[] = {
	SAFE(rcore_fiber, id),
	MANY(rcore_fiber, native, native_count, native),
	SAFE(rcore_fiber, native_problem),
	MANY(rcore_fiber, steps, step_count, step),
	SAFE(rcore_fiber, context.difference),
	MANY(rcore_fiber, frames, frame_count, frame),
	WITHIN(rcore_fiber, storage, variables),
	WITHIN(rcore_fiber, locals, variables),
	MANY(rcore_fiber, exceptions, exception_count, exception),
	MANY(rcore_fiber, context.pairs, context.pair_count, pair),
	TEXT(rcore_fiber, context.problem),
	WITHIN(rcore_fiber, works, works),
	ONE(rcore_fiber, wait, wait),
	TEXT(rcore_fiber, problem),
};
static const struct rcore_parts fiber = PARTS(rcore_fiber, fiber_parts);

static const struct rcore_part other_parts[] = {
	MANY(rcore_other_thread, native, native_count, native),
	SAFE(rcore_other_thread, native_problem),
};
static const struct rcore_parts other = PARTS(rcore_other_thread, other_parts);

static const struct rcore_part thread_parts[] = {
	SAFE(rcore_thread, id),
	TEXT(rcore_thread, name),
	WITHIN(rcore_thread, variables, variables),
	TEXT(rcore_thread, problem),
};
static const struct rcore_parts thread = PARTS(rcore_thread, thread_parts);

static const struct rcore_part ractor_parts[] = {
	TEXT(rcore_ractor, name),
	TEXT(rcore_ractor, problem),
};
static const struct rcore_parts ractor = PARTS(rcore_ractor, ractor_parts);

static const struct rcore_part task_parts[] = {
	TEXT(rcore_task, annotation),
	NAME(rcore_task, class_name),
	SAFE(rcore_task, status),
	TEXT(rcore_task, problem),
};
static const struct rcore_parts task = PARTS(rcore_task, task_parts);

static const struct rcore_part gem_parts[] = {
	NAME(rcore_gem, name),
	NAME(rcore_gem, version),
};
static const struct rcore_parts gem = PARTS(rcore_gem, gem_parts);

static const struct rcore_part signature_frame_parts[] = {
	NAME(rcore_signature_frame, name),   NAME(rcore_signature_frame, place),
	NAME(rcore_signature_frame, strict), NAME(rcore_signature_frame, loose),
	SAFE(rcore_signature_frame, why),
};
static const struct rcore_parts signature_frame =
	PARTS(rcore_signature_frame, signature_frame_parts);

/* The name of a register, and of a type. */
static const struct rcore_part held_parts[] = {
	SAFE(rcore_held_slot, name),
	SAFE(rcore_held_slot, slot.type),
};
static const struct rcore_parts held = PARTS(rcore_held_slot, held_parts);

/* Names of CRuby's structs and fields, and what was compared. */
static const struct rcore_part proof_parts[] = {
	SAFE(rcore_proof, name),
	SAFE(rcore_proof, text),
	SAFE(rcore_proof, detail),
};
static const struct rcore_parts proof = PARTS(rcore_proof, proof_parts);

static const struct rcore_part shift_parts[] = {
	SAFE(rcore_shift, group),
	SAFE(rcore_shift, from),
};
static const struct rcore_parts shift = PARTS(rcore_shift, shift_parts);

static const struct rcore_part check_parts[] = {
	SAFE(rcore_field_check, group),
	SAFE(rcore_field_check, id),
	SAFE(rcore_field_check, reason),
};
static const struct rcore_parts check = PARTS(rcore_field_check, check_parts);

static const struct rcore_part module_parts[] = {
	SAFE(rcore_module_info, path),     SAFE(rcore_module_info, file),
	SAFE(rcore_module_info, build_id), SAFE(rcore_module_info, file_build_id),
	SAFE(rcore_module_info, status),   SAFE(rcore_module_info, lost),
	SAFE(rcore_module_info, fix),      SAFE(rcore_module_info, debug_file),
};
static const struct rcore_parts module = PARTS(rcore_module_info, module_parts);

static const struct rcore_part snapshot_parts[] = {
	OPAQUE(rcore_snapshot, arena),
	OPAQUE(rcore_snapshot, ids),
	/* Which core, and which Ruby. */
	SAFE(rcore_snapshot, source),
	SAFE(rcore_snapshot, producer),
	SAFE(rcore_snapshot, ruby_version),
	SAFE(rcore_snapshot, ruby_description),
	SAFE(rcore_snapshot, version_source),
	SAFE(rcore_snapshot, facts.description),
	SAFE(rcore_snapshot, facts.jit),
	SAFE(rcore_snapshot, facts.gc_phase),
	/* How it was read. */
	SAFE(rcore_snapshot, layout_name),
	SAFE(rcore_snapshot, layout_source),
	SAFE(rcore_snapshot, layout_neighbour),
	SAFE_TEXTS(rcore_snapshot, unmeasured),
	SAFE(rcore_snapshot, fiber_source),
	SAFE(rcore_snapshot, failure),
	MANY(rcore_snapshot, field_checks, field_check_count, check),
	ARRAY(rcore_snapshot, shifts, shift),
	MANY(rcore_snapshot, proofs, proof_count, proof),
	MANY(rcore_snapshot, modules, module_count, module),
	MANY(rcore_snapshot, others, other_count, other),
	OPAQUE(rcore_snapshot, groups),        /* numbers */
	OPAQUE(rcore_snapshot, thread_groups), /* numbers */
	MANY(rcore_snapshot, summary, summary_count, summary),
	MANY(rcore_snapshot, deadlocks, deadlock_count, deadlock),
	/* Signals, addresses and kinds, in rcore's own words. */
	SAFE(rcore_snapshot, cause.out_of_memory),
	SAFE(rcore_snapshot, cause.fault.access_source),
	SAFE(rcore_snapshot, cause.fault.text),
	SAFE(rcore_snapshot, cause.fault.slot.type),
	ARRAY(rcore_snapshot, cause.fault.held, held),
	OPAQUE(rcore_snapshot, cause.exception), /* one of those of its fiber */
	SAFE(rcore_snapshot, blame.module),
	SAFE(rcore_snapshot, blame.why),
	SAFE(rcore_snapshot, signature.strict),
	SAFE(rcore_snapshot, signature.loose),
	COMMAND(rcore_snapshot, arguments),
	TEXT(rcore_snapshot, cause.text),
	TEXT(rcore_snapshot, cause.abort_message),
	TEXT(rcore_snapshot, cause.bug),
	NAME(rcore_snapshot, blame.name),
	NAME(rcore_snapshot, blame.path),
	NAME(rcore_snapshot, blame.gem),
	NAME(rcore_snapshot, blame.native),
	NAME(rcore_snapshot, signature.strict_text),
	NAME(rcore_snapshot, signature.loose_text),
	MANY(rcore_snapshot, signature.frames, signature.frame_count, signature_frame),
	TEXTS(rcore_snapshot, facts.argv, facts.argc),
	TEXT(rcore_snapshot, facts.rubyopt),
	/* rcore's own words. */
	SAFE(rcore_snapshot, deployment.time_source),
	SAFE(rcore_snapshot, deployment.host_source),
	/* From the environment, so each may contain a secret by mistake. */
	INSPECT(rcore_snapshot, deployment.host),
	INSPECT(rcore_snapshot, deployment.service),
	INSPECT(rcore_snapshot, deployment.release),
	MANY(rcore_snapshot, facts.gems, facts.gem_count, gem),
	TEXT(rcore_snapshot, facts.problem),
	MANY(rcore_snapshot, ractors, ractor_count, ractor),
	MANY(rcore_snapshot, threads, thread_count, thread),
	MANY(rcore_snapshot, fibers, fiber_count, fiber),
	MANY(rcore_snapshot, tasks, task_count, task),
	MANY(rcore_snapshot, locks, lock_count, lock),
	MANY(rcore_snapshot, pools, pool_count, pool),
	TEXT(rcore_snapshot, wait_problem),
	TEXTS(rcore_snapshot, problems, problem_count),
};
const struct rcore_parts rcore_snapshot_parts = PARTS(rcore_snapshot, snapshot_parts);
