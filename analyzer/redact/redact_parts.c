/* SPDX-License-Identifier: MIT */
#include "redact/redact_parts.h"

#include "model/printed.h"
#include "model/snapshot.h"

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
#define WITHIN(type, member, shape)                                           \
	{                                                                     \
		RCORE_PART_WITHIN, offsetof(struct type, member), 0, &(shape) \
	}
#define ONE(type, member, shape)                                           \
	{                                                                  \
		RCORE_PART_ONE, offsetof(struct type, member), 0, &(shape) \
	}
#define MANY(type, member, length, shape)                                                      \
	{                                                                                      \
		RCORE_PART_MANY, offsetof(struct type, member), offsetof(struct type, length), \
			&(shape)                                                               \
	}
#define CHAIN(type, member, shape)                                           \
	{                                                                    \
		RCORE_PART_CHAIN, offsetof(struct type, member), 0, &(shape) \
	}
#define SHAPE(type, parts)                                                   \
	{                                                                    \
		sizeof(struct type), parts, sizeof(parts) / sizeof(*(parts)) \
	}

/* A key is looked at before it is taken out itself: names stand behind what they name. */
static const struct rcore_part value_parts[] = {
	INSPECT(rcore_value, text),
	NAME(rcore_value, class_name),
	TEXT(rcore_value, problem),
};
static const struct rcore_shape value = SHAPE(rcore_value, value_parts);

static const struct rcore_part variable_parts[] = {
	VALUE(rcore_variable, value.text, name), NAME(rcore_variable, value.class_name),
	TEXT(rcore_variable, value.problem),     NAME(rcore_variable, name),
	TEXT(rcore_variable, problem),
};
static const struct rcore_shape variable = SHAPE(rcore_variable, variable_parts);

static const struct rcore_part element_parts[] = {
	VALUE(rcore_element, value.text, key.text),
	NAME(rcore_element, value.class_name),
	TEXT(rcore_element, value.problem),
	WITHIN(rcore_element, key, value),
};
static const struct rcore_shape element = SHAPE(rcore_element, element_parts);

static const struct rcore_part printed_parts[] = {
	WITHIN(rcore_printed, value, value),
	MANY(rcore_printed, variables, variable_count, variable),
	MANY(rcore_printed, items, item_count, element),
	TEXT(rcore_printed, problem),
};
static const struct rcore_shape printed = SHAPE(rcore_printed, printed_parts);

static const struct rcore_part print_parts[] = {
	MANY(rcore_print, items, count, printed),
};
const struct rcore_shape rcore_print_shape = SHAPE(rcore_print, print_parts);

static const struct rcore_part variables_parts[] = {
	MANY(rcore_variables, items, count, variable),
	TEXT(rcore_variables, problem),
};
static const struct rcore_shape variables = SHAPE(rcore_variables, variables_parts);

static const struct rcore_part local_parts[] = {
	WITHIN(rcore_local, variable, variable),
};
static const struct rcore_shape local = SHAPE(rcore_local, local_parts);

static const struct rcore_part frame_values_parts[] = {
	WITHIN(rcore_frame_values, self, value),
	MANY(rcore_frame_values, locals, local_count, local),
	TEXT(rcore_frame_values, problem),
};
static const struct rcore_shape frame_values = SHAPE(rcore_frame_values, frame_values_parts);

static const struct rcore_part frame_parts[] = {
	NAME(rcore_frame, label),
	NAME(rcore_frame, path),
	NAME(rcore_frame, native_label),
	NAME(rcore_frame, native_path),
	ONE(rcore_frame, values, frame_values),
	TEXT(rcore_frame, problem),
};
static const struct rcore_shape frame = SHAPE(rcore_frame, frame_parts);

static const struct rcore_part pair_parts[] = {
	WITHIN(rcore_context_pair, variable, variable),
};
static const struct rcore_shape pair = SHAPE(rcore_context_pair, pair_parts);

static const struct rcore_part location_parts[] = {
	NAME(rcore_backtrace_location, path),
	NAME(rcore_backtrace_location, label),
	NAME(rcore_backtrace_location, text),
	TEXT(rcore_backtrace_location, problem),
};
static const struct rcore_shape location = SHAPE(rcore_backtrace_location, location_parts);

static const struct rcore_shape exception;
static const struct rcore_part exception_parts[] = {
	INSPECT(rcore_exception, message),
	NAME(rcore_exception, class_name),
	MANY(rcore_exception, backtrace, location_count, location),
	TEXT(rcore_exception, problem),
	CHAIN(rcore_exception, cause, exception),
};
static const struct rcore_shape exception = SHAPE(rcore_exception, exception_parts);

static const struct rcore_part fd_parts[] = {
	NAME(rcore_wait_fd, path),
	NAME(rcore_wait_fd, link),
};
static const struct rcore_shape fd = SHAPE(rcore_wait_fd, fd_parts);

static const struct rcore_part wait_parts[] = {
	NAME(rcore_wait, method),
	TEXT(rcore_wait, argument),
	MANY(rcore_wait, fds, fd_count, fd),
};
static const struct rcore_shape wait = SHAPE(rcore_wait, wait_parts);

static const struct rcore_part lock_parts[] = {
	TEXT(rcore_lock, problem),
};
static const struct rcore_shape lock = SHAPE(rcore_lock, lock_parts);

static const struct rcore_part fiber_parts[] = {
	MANY(rcore_fiber, frames, frame_count, frame),
	WITHIN(rcore_fiber, storage, variables),
	WITHIN(rcore_fiber, locals, variables),
	MANY(rcore_fiber, exceptions, exception_count, exception),
	MANY(rcore_fiber, context.pairs, context.pair_count, pair),
	TEXT(rcore_fiber, context.problem),
	ONE(rcore_fiber, wait, wait),
	TEXT(rcore_fiber, problem),
};
static const struct rcore_shape fiber = SHAPE(rcore_fiber, fiber_parts);

static const struct rcore_part thread_parts[] = {
	TEXT(rcore_thread, name),
	WITHIN(rcore_thread, variables, variables),
	TEXT(rcore_thread, problem),
};
static const struct rcore_shape thread = SHAPE(rcore_thread, thread_parts);

static const struct rcore_part ractor_parts[] = {
	TEXT(rcore_ractor, name),
	TEXT(rcore_ractor, problem),
};
static const struct rcore_shape ractor = SHAPE(rcore_ractor, ractor_parts);

static const struct rcore_part task_parts[] = {
	TEXT(rcore_task, annotation),
	NAME(rcore_task, class_name),
	TEXT(rcore_task, problem),
};
static const struct rcore_shape task = SHAPE(rcore_task, task_parts);

static const struct rcore_part gem_parts[] = {
	NAME(rcore_gem, name),
	NAME(rcore_gem, version),
};
static const struct rcore_shape gem = SHAPE(rcore_gem, gem_parts);

static const struct rcore_part signature_frame_parts[] = {
	NAME(rcore_signature_frame, name),
	NAME(rcore_signature_frame, place),
	NAME(rcore_signature_frame, strict),
	NAME(rcore_signature_frame, loose),
};
static const struct rcore_shape signature_frame =
	SHAPE(rcore_signature_frame, signature_frame_parts);

static const struct rcore_part snapshot_parts[] = {
	COMMAND(rcore_snapshot, arguments),
	TEXT(rcore_snapshot, cause.text),
	TEXT(rcore_snapshot, cause.abort_message),
	TEXT(rcore_snapshot, cause.bug),
	NAME(rcore_snapshot, blame.name),
	NAME(rcore_snapshot, blame.path),
	NAME(rcore_snapshot, blame.gem),
	NAME(rcore_snapshot, signature.strict_text),
	NAME(rcore_snapshot, signature.loose_text),
	MANY(rcore_snapshot, signature.frames, signature.frame_count, signature_frame),
	TEXTS(rcore_snapshot, facts.argv, facts.argc),
	TEXT(rcore_snapshot, facts.rubyopt),
	MANY(rcore_snapshot, facts.gems, facts.gem_count, gem),
	TEXT(rcore_snapshot, facts.problem),
	MANY(rcore_snapshot, ractors, ractor_count, ractor),
	MANY(rcore_snapshot, threads, thread_count, thread),
	MANY(rcore_snapshot, fibers, fiber_count, fiber),
	MANY(rcore_snapshot, tasks, task_count, task),
	MANY(rcore_snapshot, locks, lock_count, lock),
	TEXT(rcore_snapshot, wait_problem),
	TEXTS(rcore_snapshot, problems, problem_count),
};
const struct rcore_shape rcore_snapshot_shape = SHAPE(rcore_snapshot, snapshot_parts);
