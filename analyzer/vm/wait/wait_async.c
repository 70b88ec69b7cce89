/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "ruby/object/array.h"
#include "ruby/object/class_name.h"
#include "ruby/object/ivar.h"
#include "ruby/object/value.h"
#include "vm/wait/wait_private.h"

/*
 * The gem async parks some fibers itself: they call transfer of the scheduler,
 * which is no hook. What they wait for is the self of a method of the gem. A
 * semaphore does so in all releases, a condition and a queue before 2.29. Since
 * then, these wait for a Queue of the VM, and a task for a ConditionVariable.
 */
static const struct method {
	const char *label;
	enum rcore_wait_kind kind;
	/* Hold how much there is (a number, or an Array) and may be. */
	const char *length, *max;
} methods[] = {
	{"Async::Semaphore#wait", RCORE_WAIT_SEMAPHORE, "@count", "@limit"},
	{"Async::Queue#dequeue", RCORE_WAIT_POP, "@items", "@limit"},
	{"Async::LimitedQueue#push", RCORE_WAIT_PUSH, "@items", "@limit"},
	{"Async::LimitedQueue#enqueue", RCORE_WAIT_PUSH, "@items", "@limit"},
	{"Async::Task#wait", RCORE_WAIT_TASK, NULL, NULL},
	{"Async::Variable#wait", RCORE_WAIT_CONDITION, NULL, NULL},
	{"Async::Condition#wait", RCORE_WAIT_CONDITION, NULL, NULL},
};

static const struct method *method_of(const struct rcore_frame *frame)
{
	for (size_t i = 0; i < RCORE_COUNT(methods); i++)
		if (rcore_same_text(frame->label, methods[i].label))
			return &methods[i];
	return NULL;
}

/* Whether it is code of the gem, or of Ruby, which parks fibers for the gem. */
static bool is_of_async(const struct rcore_frame *frame)
{
	static const char block[] = "block in ", module[] = "Async::", own[] = "<internal:";
	const char *label = frame->label ? frame->label : "";
	if (frame->kind != RCORE_FRAME_RUBY)
		return frame->kind != RCORE_FRAME_BROKEN;
	if (frame->path && !strncmp(frame->path, own, strlen(own)))
		return true;
	if (!strncmp(label, block, strlen(block)))
		label += strlen(block);
	return !strncmp(label, module, strlen(module));
}

/* A queue waits for a condition: the outermost method says the most. */
static const struct method *find(const struct rcore_fiber *fiber,
				 const struct rcore_frame **ret_frame)
{
	const struct method *found = NULL;
	for (size_t i = 0; i < fiber->frame_count && i < RCORE_WAIT_FRAMES; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		const struct method *method = method_of(frame);
		if (!is_of_async(frame))
			break;
		if (method) {
			found = method;
			*ret_frame = frame;
		}
	}
	return found;
}

/* Reads a number, or how many elements an Array has. */
static bool count(struct rcore_waits *waits, uint64_t object, const char *name, uint64_t *ret)
{
	uint64_t value, elements;
	if (!rcore_ivar_try(waits->loader->ruby, object, name, &value))
		return false;
	if (rcore_is_count(value, ret))
		return true;
	struct rcore_error *err = rcore_array(waits->loader->ruby, value, &elements, ret);
	bool is_read = !err;
	rcore_error_free(err);
	return is_read;
}

bool rcore_wait_takes_block_time(const struct rcore_wait *wait)
{
	return wait->kind == RCORE_WAIT_SEMAPHORE || wait->kind == RCORE_WAIT_TASK ||
	       wait->kind == RCORE_WAIT_POP || wait->kind == RCORE_WAIT_PUSH ||
	       wait->kind == RCORE_WAIT_CONDITION || wait->kind == RCORE_WAIT_IO;
}

/*
 * Looks for the innermost block with a timeout, which ends the wait. Ruby's
 * Timeout.timeout calls timeout_after. Their first parameter is the time.
 */
static struct rcore_error *find_timeout(struct rcore_waits *waits,
					const struct rcore_fiber *fiber)
{
	static const char *const timed[] = {"Async::Scheduler#with_timeout",
					    "Async::Scheduler#timeout_after",
					    "Async::Reactor#with_timeout"};
	struct rcore_error *err = NULL;
	uint64_t time;
	if (fiber->wait->is_timed || !rcore_wait_takes_block_time(fiber->wait))
		return NULL;
	for (size_t i = 0; !err && !fiber->wait->is_timed && i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		bool is_block = false;
		for (size_t j = 0; j < RCORE_COUNT(timed); j++)
			is_block |= rcore_same_text(frame->label, timed[j]);
		if (!is_block)
			continue;
		if (rcore_wait_parameter(waits, frame, 0, &time))
			err = rcore_wait_set_time(waits, fiber->wait, time);
		else
			fiber->wait->is_timed = true;
	}
	return rcore_error_forgive(err);
}

static struct rcore_error *fill(struct rcore_waits *waits, const struct rcore_fiber *fiber,
				const struct method *method, uint64_t object)
{
	struct rcore_wait *wait = fiber->wait;
	uint64_t owner;
	wait->kind = method->kind;
	wait->method = method->label;
	wait->object = object;
	wait->has_counts = count(waits, object, method->length, &wait->length);
	if (!count(waits, object, method->max, &wait->max))
		wait->max = 0;
	if (method->kind == RCORE_WAIT_TASK &&
	    rcore_ivar_try(waits->loader->ruby, object, "@fiber", &owner))
		wait->owner.fiber = rcore_address_map_get(&waits->fiber_of, owner);
	return rcore_error_forgive(
		rcore_value_class_name(waits->loader->ruby, object, &wait->type));
}

/* Whether the VM knows a part of it only: for what the gem itself waits. */
static bool is_within(const struct rcore_wait *wait, const struct method *method)
{
	return (wait->kind == RCORE_WAIT_CONDITION && method->kind == RCORE_WAIT_TASK) ||
	       (wait->kind == RCORE_WAIT_POP && method->kind == RCORE_WAIT_CONDITION);
}

struct rcore_error *rcore_wait_async(struct rcore_waits *waits, int index)
{
	struct rcore_fiber *fiber = &waits->loader->fibers.items[index];
	const struct rcore_frame *frame = NULL;
	const struct method *method = fiber->is_current ? NULL : find(fiber, &frame);
	struct rcore_wait *wait = fiber->wait;
	if (fiber->thread < 0)
		return NULL;
	if (!method || (wait && !is_within(wait, method)))
		return wait && !fiber->is_current ? find_timeout(waits, fiber) : NULL;
	if (!wait)
		wait = rcore_wait_new(waits, index, method->kind, RCORE_WAIT_BY_FRAME);
	if (!wait)
		return rcore_error_no_memory();
	struct rcore_error *err = fill(waits, fiber, method, frame->self);
	return err ? err : find_timeout(waits, fiber);
}

/* Counts the fibers that wait for one object, at the first of them. */
static bool count_waiting(const struct rcore_loader *loader, struct rcore_address_map *first,
			  uint64_t *counts)
{
	for (size_t i = 0; i < loader->fibers.count; i++) {
		const struct rcore_wait *wait = loader->fibers.items[i].wait;
		if (!wait || !wait->type || !wait->has_counts)
			continue;
		int known = rcore_address_map_get(first, wait->object);
		if (known < 0 && !rcore_address_map_put(first, wait->object, (int)i))
			return false;
		counts[known < 0 ? i : (size_t)known]++;
	}
	return true;
}

struct rcore_error *rcore_wait_async_count(struct rcore_waits *waits)
{
	const struct rcore_loader *loader = waits->loader;
	struct rcore_address_map first = {0};
	uint64_t *counts = rcore_calloc(loader->fibers.count, sizeof(*counts));
	bool done = counts && count_waiting(loader, &first, counts);
	for (size_t i = 0; done && i < loader->fibers.count; i++) {
		struct rcore_wait *wait = loader->fibers.items[i].wait;
		if (wait && wait->type && wait->has_counts)
			wait->waiting = counts[rcore_address_map_get(&first, wait->object)];
	}
	rcore_address_map_deinit(&first);
	free(counts);
	return done ? NULL : rcore_error_no_memory();
}
