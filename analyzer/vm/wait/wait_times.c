/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/class_name.h"
#include "ruby/object/ivar.h"
#include "ruby/object/value.h"
#include "vm/wait/wait_private.h"

/*
 * Finds how long a wait lasts at most. The VM's lists do not show this, but the
 * arguments of the methods do: those of a C method are on the VM stack if Ruby
 * code called it, and a method written in Ruby has them as locals.
 */

/* 5.minutes of Active Support is an object that wraps a number of seconds. */
static uint64_t number_of(struct rcore_waits *waits, uint64_t value)
{
	struct rcore_ruby *ruby = waits->loader->ruby;
	const char *name = NULL;
	uint64_t number;
	if (!rcore_is_object(ruby, value))
		return value;
	rcore_error_free(rcore_value_class_name(ruby, value, &name));
	return rcore_same_text(name, "ActiveSupport::Duration") &&
			       rcore_ivar_try(ruby, value, "@value", &number)
		       ? number
		       : value;
}

struct rcore_error *rcore_wait_seconds(struct rcore_waits *waits, uint64_t value,
				       const char **ret)
{
	struct rcore_value shown;
	struct rcore_error *err =
		rcore_inspect(waits->loader->ruby, number_of(waits, value), NULL, &shown);
	if (!err && !shown.problem)
		*ret = shown.text;
	return err;
}

struct rcore_error *rcore_wait_set_time(struct rcore_waits *waits, struct rcore_wait *wait,
					uint64_t value)
{
	if (rcore_is_nil(waits->loader->ruby, value))
		return NULL;
	wait->is_timed = true;
	return rcore_wait_seconds(waits, value, &wait->argument);
}

/*
 * Which parameter of a method is the timeout: Queue#pop(non_block, timeout:),
 * ConditionVariable#wait(mutex, timeout), and the hooks of a fiber scheduler.
 */
static const struct {
	const char *label;
	size_t place;
} timed_methods[] = {
	{"Queue#pop", 1},
	{"SizedQueue#pop", 1},
	{"SizedQueue#push", 2},
	{"ConditionVariable#wait", 1},
	{"Monitor#wait_for_cond", 1},
	{"Mutex#sleep", 0},
	{"Thread#join", 0},
	{"IO#wait_readable", 0},
	{"IO#wait_writable", 0},
	{"IO#wait_priority", 0},
	{"IO#wait", 0},
};
static const struct {
	const char *hook;
	size_t place;
} timed_hooks[] = {
	{"block", 1},
	{"io_wait", 2},
	{"io_select", 3},
	{"kernel_sleep", 0},
};

/* Compares labels without Thread::, which these classes have from 3.1 on. */
static bool is_label(const char *label, const char *wanted)
{
	static const char prefix[] = "Thread::";
	if (label && !strncmp(label, prefix, strlen(prefix)))
		label += strlen(prefix);
	return rcore_same_text(label, wanted);
}

/* IO#wait(timeout, mode), or IO#wait(events, timeout), both of them numbers. */
static size_t place_in_io_wait(struct rcore_waits *waits, const uint64_t *values, int count)
{
	enum { FIXNUM_FLAG = 1, FLONUM_TAG = 2 };
	return count == 2 && values[0] & FIXNUM_FLAG &&
	       (values[1] & FIXNUM_FLAG || rcore_is_nil(waits->loader->ruby, values[1]) ||
		(values[1] & 3) == FLONUM_TAG);
}

static struct rcore_error *by_frame(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_wait_place *place, size_t index,
				    size_t parameter)
{
	enum { MOST = 3 };
	const struct rcore_frame *frame = &place->fiber->frames[index];
	uint64_t values[MOST];
	if (frame->kind == RCORE_FRAME_RUBY)
		return rcore_wait_parameter(waits, frame, parameter, &values[0])
			       ? rcore_wait_set_time(waits, wait, values[0])
			       : NULL;
	int count = rcore_wait_arguments(waits, place->fiber, index, values, MOST);
	if (is_label(frame->label, "IO#wait"))
		parameter = place_in_io_wait(waits, values, count);
	return count > (int)parameter ? rcore_wait_set_time(waits, wait, values[parameter])
				      : NULL;
}

struct rcore_error *rcore_wait_times(struct rcore_waits *waits, struct rcore_wait *wait,
				     const struct rcore_wait_place *place)
{
	struct rcore_error *err = NULL;
	for (size_t i = place->first; !err && i < place->end && !wait->argument; i++)
		for (size_t j = 0; !err && j < RCORE_COUNT(timed_methods); j++)
			if (is_label(place->fiber->frames[i].label, timed_methods[j].label))
				err = by_frame(waits, wait, place, i, timed_methods[j].place);
	for (size_t i = 0;
	     !err && place->hook && !wait->argument && i < RCORE_COUNT(timed_hooks); i++)
		if (!strcmp(place->hook, timed_hooks[i].hook))
			err = by_frame(waits, wait, place, place->hook_frame,
				       timed_hooks[i].place);
	return err;
}
