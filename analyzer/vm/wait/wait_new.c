/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "ruby/heap/moved.h"
#include "ruby/object/data.h"
#include "vm/find/list_change.h"
#include "vm/wait/wait_private.h"

void rcore_wait_problem(struct rcore_waits *waits, struct rcore_error *err)
{
	struct rcore_snapshot *snapshot = waits->loader->snapshot;
	if (err && !snapshot->wait_problem)
		snapshot->wait_problem = rcore_arena_strdup(&snapshot->arena, err->message);
	rcore_error_free(err);
}

struct rcore_error *rcore_wait_list(struct rcore_waits *waits, uint64_t base,
				    const struct rcore_field *head,
				    const struct rcore_field *node, uint64_t **ret,
				    size_t *ret_count)
{
	const struct rcore_loader *loader = waits->loader;
	*ret = NULL;
	*ret_count = 0;
	struct rcore_error *err = rcore_not_measured(loader->ruby->layout, head);
	if (!err)
		err = rcore_not_measured(loader->ruby->layout, node);
	if (err)
		return err;
	err = rcore_list_of_waiters(loader->ruby->memory, loader->process,
				    base + (uint64_t)head->offset, RCORE_WAITER_LIMIT, ret,
				    ret_count);
	for (size_t i = 0; i < *ret_count; i++)
		(*ret)[i] -= (uint64_t)node->offset;
	return err;
}

uint64_t rcore_wait_field(struct rcore_waits *waits, uint64_t base,
			  const struct rcore_field *field)
{
	uint64_t value = 0;
	rcore_wait_problem(waits, rcore_not_measured(waits->loader->ruby->layout, field));
	if (!base || !rcore_has(field) ||
	    rcore_read_field(waits->loader->ruby->memory, base, field, &value))
		return 0;
	return value;
}

bool rcore_wait_has_method(const struct rcore_waits *waits, const struct rcore_wait *wait,
			   const struct rcore_frame *frame)
{
	return wait->object &&
	       rcore_is_same_object(waits->loader->ruby, frame->self, wait->object);
}

/*
 * rb_data_type_t.wrap_struct_name, of thread_sync.c, ext/monitor, vm.c and
 * ractor.c
 */
static const struct {
	const char *name;
	enum rcore_sync_kind kind;
} sync_types[] = {
	{"mutex", RCORE_SYNC_MUTEX},
	{"monitor", RCORE_SYNC_MONITOR},
	{"queue", RCORE_SYNC_QUEUE},
	{"Thread::Queue", RCORE_SYNC_QUEUE},
	{"sized_queue", RCORE_SYNC_SIZED_QUEUE},
	{"Thread::SizedQueue", RCORE_SYNC_SIZED_QUEUE},
	{"condvar", RCORE_SYNC_CONDITION},
	{"VM/thread", RCORE_SYNC_THREAD},
	{"ractor", RCORE_SYNC_RACTOR},
};

static struct rcore_error *classify(struct rcore_waits *waits, uint64_t value,
				    struct rcore_sync *ret)
{
	struct rcore_ruby *ruby = waits->loader->ruby;
	struct rcore_data data;
	enum rcore_type type;
	struct rcore_error *err = rcore_type(ruby, value, &type);
	if (!err && type == RCORE_T_FILE) {
		ret->data = rcore_wait_field(waits, value, &ruby->layout->file.fptr);
		ret->kind = ret->data ? RCORE_SYNC_IO : RCORE_SYNC_NONE;
	}
	if (err || type != RCORE_T_DATA)
		return err;
	err = rcore_data(ruby, value, &data);
	if (err || !data.type_name)
		return err;
	for (size_t i = 0; i < RCORE_COUNT(sync_types); i++)
		if (!strcmp(sync_types[i].name, data.type_name)) {
			ret->kind = data.data ? sync_types[i].kind : RCORE_SYNC_NONE;
			ret->data = data.data;
		}
	return NULL;
}

struct rcore_error *rcore_wait_sync(struct rcore_waits *waits, uint64_t value,
				    struct rcore_sync *ret)
{
	*ret = (struct rcore_sync){.object = value};
	if (!rcore_is_object(waits->loader->ruby, value))
		return NULL;
	int index = rcore_address_map_get(&waits->sync_of, value);
	if (index >= 0) {
		*ret = waits->syncs.items[index];
		return NULL;
	}
	struct rcore_error *err = classify(waits, value, ret);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	struct rcore_sync *sync = rcore_push(&waits->syncs);
	if (!sync ||
	    !rcore_address_map_put(&waits->sync_of, value, (int)waits->syncs.count - 1))
		return rcore_error_no_memory();
	*sync = *ret;
	return NULL;
}

int rcore_wait_fiber(const struct rcore_waits *waits, uint64_t thread, uint64_t fiber)
{
	const struct rcore_loader *loader = waits->loader;
	int index = fiber ? rcore_address_map_get(&loader->fiber_at, fiber) : -1;
	int owner = rcore_address_map_get(&loader->thread_at, thread);
	if (owner < 0)
		return -1;
	if (!fiber)
		return loader->threads.items[owner].current_fiber;
	return index >= 0 && loader->fibers.items[index].thread == owner ? index : -1;
}

struct rcore_wait *rcore_wait_new(struct rcore_waits *waits, int fiber,
				  enum rcore_wait_kind kind, enum rcore_wait_source source)
{
	struct rcore_loader *loader = waits->loader;
	struct rcore_wait *wait =
		rcore_arena_alloc(&loader->snapshot->arena, sizeof(struct rcore_wait));
	if (!wait)
		return NULL;
	*wait = (struct rcore_wait){.kind = kind,
				    .source = source,
				    .owner = {.thread = -1, .fiber = -1},
				    .thread = -1};
	loader->fibers.items[fiber].wait = wait;
	return wait;
}

bool rcore_wait_faulted(const struct rcore_waits *waits, const struct rcore_thread *thread)
{
	return thread->is_crashed && !rcore_process_was_killed(waits->loader->process);
}

bool rcore_wait_is_blocked(const struct rcore_waits *waits, const struct rcore_fiber *fiber)
{
	if (!fiber->is_current || fiber->thread < 0)
		return false;
	const struct rcore_thread *thread = &waits->loader->threads.items[fiber->thread];
	return !thread->is_ended && !rcore_wait_faulted(waits, thread) &&
	       thread->gvl == RCORE_GVL_RELEASED;
}
