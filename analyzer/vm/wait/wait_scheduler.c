/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "ruby/heap/moved.h"
#include "ruby/object/value.h"
#include "vm/wait/wait_private.h"

/*
 * A fiber scheduler is an object whose methods Ruby calls when a non-blocking
 * fiber would block (Fiber::Scheduler; rb_fiber_scheduler_block() and others in
 * scheduler.c, without fiber_ in 3.0). The frame of that method, whose self is
 * the scheduler, is between the blocking method and the way in which the
 * scheduler parked the fiber.
 */
static const char *const hooks[] = {
	"address_resolve", "block",        "blocking_operation_wait",
	"io_close",        "io_pread",     "io_pwrite",
	"io_read",         "io_select",    "io_wait",
	"io_write",        "kernel_sleep", "process_wait",
};

/*
 * The name without its class. The label of a method without a class name has no
 * '#'.
 */
static const char *hook_of(const char *label)
{
	const char *name = label ? strrchr(label, '#') : NULL;
	name = name ? name + 1 : label;
	for (size_t i = 0; name && i < RCORE_COUNT(hooks); i++)
		if (!strcmp(name, hooks[i]))
			return hooks[i];
	return NULL;
}

/*
 * A hook may call another one: Async's kernel_sleep calls its block. Returns
 * the outermost of those that call each other, which is the one that Ruby
 * called.
 */
static size_t outermost_hook(const struct rcore_ruby *ruby, const struct rcore_fiber *fiber,
			     uint64_t scheduler, size_t at)
{
	while (at + 1 < fiber->frame_count &&
	       rcore_is_same_object(ruby, fiber->frames[at + 1].self, scheduler) &&
	       hook_of(fiber->frames[at + 1].label))
		at++;
	return at;
}

int rcore_wait_hook(struct rcore_waits *waits, const struct rcore_fiber *fiber,
		    const char **ret_name)
{
	enum { DEEPEST = 64 };
	const struct rcore_ruby *ruby = waits->loader->ruby;
	if (fiber->thread < 0)
		return -1;
	uint64_t scheduler =
		rcore_wait_field(waits, waits->loader->threads.items[fiber->thread].address,
				 &ruby->layout->thread.scheduler);
	if (!rcore_is_object(ruby, scheduler))
		return -1;
	for (size_t i = 0; i < fiber->frame_count && i < DEEPEST; i++) {
		bool is_hook = rcore_is_same_object(ruby, fiber->frames[i].self, scheduler);
		const char *name = is_hook ? hook_of(fiber->frames[i].label) : NULL;
		if (name) {
			i = outermost_hook(ruby, fiber, scheduler, i);
			*ret_name = hook_of(fiber->frames[i].label);
			return (int)i;
		}
	}
	return -1;
}
