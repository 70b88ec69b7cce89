/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/inspect/inspect.h"
#include "vm/wait/wait_private.h"

/*
 * If two threads require the same file, one loads it and the other waits for a
 * Mutex of the VM (load_lock() of load.c). From 3.2 on, so does a thread that
 * uses a constant whose file an autoload of another thread loads. Before 3.2,
 * that thread sleeps, and is in no list that begins at a struct of the VM
 * (autoload_sleep() of variable.c). Apart from methods in C, nothing else
 * sleeps like this.
 */

static bool is_require(const struct rcore_frame *frame)
{
	return frame->kind == RCORE_FRAME_CFUNC &&
	       (rcore_same_text(frame->label, "Kernel#require") ||
		rcore_same_text(frame->label, "Kernel#require_relative"));
}

/* Returns the index of the innermost frame that is not a dummy. */
static size_t innermost(const struct rcore_fiber *fiber)
{
	size_t i = 0;
	while (i < fiber->frame_count && fiber->frames[i].kind == RCORE_FRAME_DUMMY)
		i++;
	return i;
}

static struct rcore_error *set_feature(struct rcore_waits *waits,
				       const struct rcore_fiber *fiber, size_t frame)
{
	struct rcore_value shown;
	uint64_t feature;
	if (rcore_wait_arguments(waits, fiber, frame, &feature, 1) <= 0)
		return NULL;
	struct rcore_error *err = rcore_inspect(waits->loader->ruby, feature, NULL, &shown);
	if (!err && !shown.problem)
		fiber->wait->argument = shown.text;
	return err;
}

/*
 * Whether it runs code inside of require. A fiber that waits in require has it
 * as its innermost frame.
 */
static bool loads(const struct rcore_fiber *fiber)
{
	for (size_t i = innermost(fiber) + 1; i < fiber->frame_count; i++)
		if (is_require(&fiber->frames[i]))
			return true;
	return false;
}

static void find_loading(struct rcore_waits *waits)
{
	waits->loading_count = 0;
	for (size_t i = 0; i < waits->loader->fibers.count; i++) {
		if (!loads(&waits->loader->fibers.items[i]))
			continue;
		if (waits->loading_count < (int)RCORE_COUNT(waits->loading))
			waits->loading[waits->loading_count] = (int)i;
		waits->loading_count++;
	}
}

/*
 * An autoload calls require, so if only one other fiber is inside of require,
 * it is the one that loads.
 */
static int loader_for(struct rcore_waits *waits, int fiber)
{
	if (waits->loading_count < 0)
		find_loading(waits);
	if (waits->loading_count == 1 && waits->loading[0] != fiber)
		return waits->loading[0];
	if (waits->loading_count == 2 && waits->loading[0] == fiber)
		return waits->loading[1];
	if (waits->loading_count == 2 && waits->loading[1] == fiber)
		return waits->loading[0];
	return -1;
}

static bool uses_constant(const struct rcore_frame *frame)
{
	static const char own[] = "<internal:";
	if (frame->kind != RCORE_FRAME_RUBY)
		return rcore_same_text(frame->label, "Module#const_get");
	return !frame->path || strncmp(frame->path, own, strlen(own)) != 0;
}

struct rcore_error *rcore_wait_require(struct rcore_waits *waits, int index)
{
	const struct rcore_loader *loader = waits->loader;
	const struct rcore_fiber *fiber = &loader->fibers.items[index];
	size_t first = innermost(fiber);
	if (first == fiber->frame_count)
		return NULL;
	if (fiber->wait)
		return fiber->wait->kind == RCORE_WAIT_MUTEX && !fiber->wait->argument &&
				       is_require(&fiber->frames[first])
			       ? set_feature(waits, fiber, first)
			       : NULL;
	if (!loader->ruby->layout->traits.autoload_sleeps ||
	    !rcore_wait_is_blocked(waits, fiber) ||
	    loader->threads.items[fiber->thread].status != RCORE_THREAD_STOPPED_FOREVER ||
	    !uses_constant(&fiber->frames[first]))
		return NULL;
	struct rcore_wait *wait =
		rcore_wait_new(waits, index, RCORE_WAIT_AUTOLOAD, RCORE_WAIT_BY_FRAME);
	if (!wait)
		return rcore_error_no_memory();
	wait->owner.fiber = loader_for(waits, index);
	if (wait->owner.fiber >= 0)
		wait->owner.thread = loader->fibers.items[wait->owner.fiber].thread;
	return NULL;
}
