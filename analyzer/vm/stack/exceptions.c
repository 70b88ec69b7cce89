/* SPDX-License-Identifier: MIT */
#include "vm/stack/exceptions.h"

#include <string.h>

#include "ruby/object/class_name.h"
#include "ruby/iseq/backtrace.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect.h"
#include "ruby/iseq/iseq.h"
#include "ruby/object/ivar.h"
#include "ruby/symbol/missing_name.h"
#include "ruby/object/string.h"
#include "vm/find/collected.h"
#include "vm/problem.h"

/* ep[-3] is an environment's last local: VM_ENV_INDEX_LAST_LVAR, vm_core.h. */
enum { LAST_VARIABLE = 3 * 8 };

/* Keeps the first error as a problem. Returns it only if memory is short. */
static struct rcore_error *note(struct rcore_ruby *ruby, struct rcore_exception *exception,
				const char *what, struct rcore_error *err)
{
	return rcore_arena_keep_problem(ruby->arena, rcore_error_wrap(err, "%s", what),
					&exception->problem);
}

/*
 * Reads an instance variable that Ruby code cannot reach, because its name does
 * not begin with @. *ret is nil if the object has none.
 */
static struct rcore_error *hidden_ivar(struct rcore_ruby *ruby, uint64_t object,
				       const char *name, uint64_t *ret)
{
	bool found;
	*ret = (uint64_t)ruby->layout->constant.qnil;
	return rcore_ivar_get(ruby, object, name, &found, ret);
}

/* Mirrors exc_to_s() of error.c. */
static struct rcore_error *read_message(struct rcore_ruby *ruby,
					struct rcore_exception *exception)
{
	uint64_t message;
	enum rcore_type type;
	struct rcore_value value = {0};
	struct rcore_error *err = hidden_ivar(ruby, exception->object, "mesg", &message);
	if (err)
		return err;
	if (rcore_is_nil(ruby, message)) {
		exception->message = exception->class_name;
		return NULL;
	}
	if (rcore_is_object(ruby, message)) {
		err = rcore_type(ruby, message, &type);
		if (!err && type == RCORE_T_STRING)
			err = rcore_uncaught_throw_message(
				ruby, rcore_inspect, exception->object, &exception->message);
		if (!err && type == RCORE_T_STRING && !exception->message)
			return rcore_text(ruby, message, &exception->message, NULL);
		if (!err && type == RCORE_T_DATA)
			err = rcore_name_error_message(ruby, rcore_inspect, message,
						       &exception->message);
		if (err || exception->message)
			return err;
	}
	err = rcore_inspect(ruby, message, NULL, &value);
	exception->message = value.text;
	return err;
}

/*
 * While Ruby ends, rb_objspace_call_finalizer() (gc.c) frees nearly all T_DATA,
 * even those that are still referred to. Up to 3.2, it first clears their
 * flags, or makes zombies of them. From 3.3 on (sweep_aborted), it frees the
 * data first: 3.3 then leaves the flags as they are, and 3.4 clears them.
 */
static bool may_be_freed(struct rcore_ruby *ruby, uint64_t value)
{
	enum rcore_type type;
	rcore_auto_error err = rcore_type(ruby, value, &type);
	return !err && (type == RCORE_T_NONE || type == RCORE_T_ZOMBIE ||
			(type == RCORE_T_DATA && ruby->layout->traits.sweep_aborted));
}

static struct rcore_error *read_backtrace(struct rcore_ruby *ruby, bool is_ending,
					  struct rcore_exception *exception)
{
	struct rcore_backtrace backtrace;
	uint64_t value;
	struct rcore_error *err = hidden_ivar(ruby, exception->object, "bt", &value);
	if (err || rcore_is_nil(ruby, value))
		return err;
	err = rcore_backtrace(ruby, value, &backtrace);
	if (err && err->code != RCORE_ERROR_NO_MEMORY && is_ending &&
	    may_be_freed(ruby, value)) {
		rcore_error_free(err);
		return NULL;
	}
	if (err)
		return err;
	exception->backtrace = backtrace.locations;
	exception->location_count = backtrace.count;
	exception->left_out = backtrace.left_out;
	return NULL;
}

static struct rcore_error *read_one(struct rcore_ruby *ruby, uint64_t value, bool is_ending,
				    struct rcore_exception *ret, uint64_t *ret_cause)
{
	*ret = (struct rcore_exception){.object = value, .frame = -1};
	*ret_cause = 0;
	struct rcore_error *err = rcore_value_class_name(ruby, value, &ret->class_name);
	if ((err = note(ruby, ret, "class", err)) ||
	    (err = note(ruby, ret, "message", read_message(ruby, ret))) ||
	    (err = note(ruby, ret, "backtrace", read_backtrace(ruby, is_ending, ret))))
		return err;
	err = hidden_ivar(ruby, value, "cause", ret_cause);
	return note(ruby, ret, "cause", err);
}

static bool is_exception_like(struct rcore_ruby *ruby, uint64_t value)
{
	enum rcore_type type;
	struct rcore_error *err;
	if (!rcore_is_object(ruby, value))
		return false;
	err = rcore_type(ruby, value, &type);
	rcore_error_free(err);
	return !err && (type == RCORE_T_OBJECT || type == RCORE_T_DATA);
}

/* Reads an exception and its causes. `problem` says what could not be read. */
static struct rcore_error *read_chain(struct rcore_ruby *ruby, uint64_t value, bool is_ending,
				      struct rcore_exception *ret)
{
	uint64_t seen[RCORE_CAUSE_LIMIT], cause;
	struct rcore_exception *last = ret;
	struct rcore_error *err = read_one(ruby, value, is_ending, ret, &cause);
	for (size_t count = 0; !err && is_exception_like(ruby, cause); count++) {
		seen[count] = last->object;
		for (size_t i = 0; i <= count; i++)
			last->is_ring |= seen[i] == cause;
		if (last->is_ring)
			return NULL;
		if (count + 1 == RCORE_CAUSE_LIMIT)
			return note(ruby, last, "cause",
				    rcore_error_create(RCORE_ERROR_LIMIT,
						       "its chain of causes has more than %d "
						       "exceptions",
						       RCORE_CAUSE_LIMIT));
		last->cause = rcore_arena_alloc(ruby->arena, sizeof(*last->cause));
		if (!last->cause)
			return rcore_error_no_memory();
		last = last->cause;
		err = read_one(ruby, cause, is_ending, last, &cause);
	}
	return err;
}

struct handling {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	bool is_ending;
	bool may_be_garbage; /* what the fiber refers to */
	struct rcore_exception items[RCORE_EXCEPTION_LIMIT];
	size_t count;
};

static bool is_whole(const struct rcore_exception *exception)
{
	while (exception && !exception->problem)
		exception = exception->cause;
	return !exception;
}

static struct rcore_error *add(struct handling *handling, uint64_t value, int frame)
{
	if (!is_exception_like(handling->ruby, value) ||
	    handling->count == RCORE_EXCEPTION_LIMIT)
		return NULL;
	for (size_t i = 0; i < handling->count; i++)
		if (handling->items[i].object == value)
			return NULL;
	struct rcore_exception *exception = &handling->items[handling->count++];
	struct rcore_error *err =
		read_chain(handling->ruby, value, handling->is_ending, exception);
	exception->frame = frame;
	if (!is_whole(exception) && handling->may_be_garbage)
		handling->count--;
	else if (exception->problem)
		handling->snapshot->incomplete = true;
	return err;
}

/*
 * Returns whether the frame runs a rescue or ensure clause. Such a clause has
 * an iseq of its own, with one local, $!: iseq_set_exception_local_table() of
 * compile.c. vm_exec_handle_exception() of vm.c puts the exception there.
 */
static bool is_handler(struct rcore_ruby *ruby, const struct rcore_frame *frame)
{
	const struct rcore_iseq_info *iseq;
	struct rcore_error *err;
	if (frame->kind != RCORE_FRAME_RUBY)
		return false;
	err = rcore_iseq(ruby, frame->iseq, &iseq);
	rcore_error_free(err);
	return !err && (iseq->type == RCORE_ISEQ_RESCUE || iseq->type == RCORE_ISEQ_ENSURE);
}

/*
 * Whether the collector may have freed what a fiber refers to, so that other
 * objects may be in its place: nothing that runs keeps the fiber alive, and
 * Ruby aborted a sweep.
 */
static bool may_be_garbage(const struct handling *handling, const struct rcore_fiber *fiber)
{
	return handling->is_ending && handling->ruby->layout->traits.sweep_aborted &&
	       !fiber->is_current && fiber->resuming < 0;
}

static struct rcore_error *read_fiber(struct handling *handling, struct rcore_fiber *fiber)
{
	struct rcore_ruby *ruby = handling->ruby;
	struct rcore_error *err = NULL;
	uint64_t value;
	handling->count = 0;
	handling->may_be_garbage = may_be_garbage(handling, fiber);
	for (size_t i = 0; i < fiber->frame_count && !err; i++)
		if (is_handler(ruby, &fiber->frames[i]) &&
		    !rcore_read_u64(ruby->memory, fiber->frames[i].ep - LAST_VARIABLE, &value))
			err = add(handling, value, (int)i);
	if (!err &&
	    !rcore_read_field(ruby->memory, fiber->ec, &ruby->layout->ec.errinfo, &value))
		err = add(handling, value, -1);
	if (err || !handling->count)
		return err;
	size_t size = handling->count * sizeof(*handling->items);
	fiber->exceptions = rcore_arena_alloc(ruby->arena, size);
	if (!fiber->exceptions)
		return rcore_error_no_memory();
	memcpy(fiber->exceptions, handling->items, size);
	fiber->exception_count = handling->count;
	return NULL;
}

struct rcore_error *rcore_vm_exceptions(struct rcore_ruby *ruby,
					struct rcore_snapshot *snapshot)
{
	struct handling handling = {
		.ruby = ruby,
		.snapshot = snapshot,
		.is_ending = rcore_vm_is_ending(snapshot->threads, snapshot->thread_count)};
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < snapshot->fiber_count && !err; i++)
		if (snapshot->fibers[i].status != RCORE_FIBER_STATUS_UNKNOWN)
			err = read_fiber(&handling, &snapshot->fibers[i]);
	return err;
}
