/* SPDX-License-Identifier: MIT */
#include "vm/wait/tasks.h"

#include <inttypes.h>
#include <string.h>

#include "base/address_map.h"
#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "ruby/object/class_name.h"
#include "ruby/inspect/inspect.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"
#include "vm/facts.h"
#include "vm/problem.h"

struct tree {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	struct {
		struct rcore_task *items;
		size_t count, capacity;
	} tasks;
	/* VALUE to index; each node is in only one list */
	struct rcore_address_map task_at;
	struct rcore_address_map fiber_at; /* Fiber VALUE to index */
};

/* A node to visit, and its parent. */
struct next {
	uint64_t node;
	int parent;
};

/* *ret is 0 if there is no such variable or it is nil. */
static struct rcore_error *ivar(struct tree *tree, uint64_t object, const char *name,
				uint64_t *ret)
{
	bool found = false;
	uint64_t value = 0;
	struct rcore_error *err = rcore_ivar_get(tree->ruby, object, name, &found, &value);
	*ret = err || !found || rcore_is_nil(tree->ruby, value) ? 0 : value;
	return err;
}

/*
 * Returns the text of a Symbol or String, and the inspect of any other value.
 */
static struct rcore_error *text_of(struct tree *tree, uint64_t value, const char **ret)
{
	struct rcore_value inspected = {0};
	enum rcore_type type;
	if (!value)
		return NULL;
	if (rcore_is_object(tree->ruby, value)) {
		struct rcore_error *err = rcore_type(tree->ruby, value, &type);
		if (err)
			return err;
		if (type == RCORE_T_STRING)
			return rcore_text(tree->ruby, value, ret, NULL);
	}
	struct rcore_error *err = rcore_inspect(tree->ruby, value, NULL, &inspected);
	*ret = inspected.text && inspected.text[0] == ':' ? inspected.text + 1 : inspected.text;
	return err;
}

/* The ivars in which versions of the gem keep a task's status. */
static const char *const status_paths[][2] = {
	{"@status", NULL},
	{"@promise", "@resolved"},
};

static struct rcore_error *read_status(struct tree *tree, struct rcore_task *task)
{
	uint64_t fiber, first, second = 0, object;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < RCORE_COUNT(status_paths); i++) {
		err = ivar(tree, task->object, status_paths[i][0], &first);
		if (err)
			return err;
		if (!first)
			continue;
		object = first;
		if (status_paths[i][1]) {
			err = ivar(tree, first, status_paths[i][1], &second);
			object = second;
		}
		if (err || object)
			return err ? err : text_of(tree, object, &task->status);
		err = ivar(tree, task->object, "@fiber", &fiber);
		task->status = fiber ? "running" : "initialized";
		return err;
	}
	return NULL;
}

static struct rcore_error *read_task(struct tree *tree, struct rcore_task *task)
{
	uint64_t value, fiber;
	struct rcore_error *err;
	if ((err = rcore_value_class_name(tree->ruby, task->object, &task->class_name)) ||
	    (err = ivar(tree, task->object, "@transient", &value)))
		return err;
	task->is_transient = value;
	if ((err = ivar(tree, task->object, "@annotation", &value)) ||
	    (err = text_of(tree, value, &task->annotation)) ||
	    (err = ivar(tree, task->object, "@fiber", &fiber)) ||
	    (err = read_status(tree, task)))
		return err;
	if (!fiber)
		return NULL;
	task->fiber = rcore_address_map_get(&tree->fiber_at, fiber);
	err = ivar(tree, fiber, "@annotation", &value);
	return err || !value ? err : text_of(tree, value, &task->annotation);
}

static struct rcore_error *note(struct tree *tree, struct rcore_task *task,
				struct rcore_error *err)
{
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (task->problem)
		rcore_error_free(err);
	else
		task->problem = rcore_problem(tree->snapshot, err);
	return NULL;
}

struct stack {
	struct next *items;
	size_t count, capacity;
};

/* An iterator over the list is a node of it. */
static struct rcore_error *is_iterator(struct tree *tree, uint64_t node, bool *ret)
{
	const char *name;
	struct rcore_error *err = rcore_value_class_name(tree->ruby, node, &name);
	*ret = !err && rcore_same_text(name, "Async::List::Iterator");
	return err;
}

/* Pushes the nodes of a list onto the stack, so that the first ends on top. */
static struct rcore_error *push_list(struct tree *tree, uint64_t list, int parent,
				     struct stack *stack)
{
	struct rcore_address_map seen = {0};
	size_t first = stack->count;
	uint64_t node;
	struct rcore_error *err = ivar(tree, list, "@tail", &node);
	while (!err && node && node != list) {
		bool skip;
		if (rcore_address_map_get(&seen, node) >= 0) {
			err = rcore_error_create(RCORE_ERROR_CORRUPT,
						 "its list of children has a cycle");
			break;
		}
		if (stack->count >= RCORE_TASK_LIMIT)
			err = rcore_error_create(RCORE_ERROR_LIMIT, "more than %d tasks",
						 RCORE_TASK_LIMIT);
		else if (!rcore_address_map_put(&seen, node, 0))
			err = rcore_error_no_memory();
		if (!err)
			err = is_iterator(tree, node, &skip);
		if (!err && !skip) {
			struct next *next = rcore_push(stack);
			if (next)
				*next = (struct next){node, parent};
			else
				err = rcore_error_no_memory();
		}
		if (!err)
			err = ivar(tree, node, "@tail", &node);
	}
	rcore_address_map_deinit(&seen);
	for (size_t left = first, right = stack->count; left + 1 < right; left++) {
		struct next other = stack->items[--right];
		stack->items[right] = stack->items[left];
		stack->items[left] = other;
	}
	return err;
}

static struct rcore_error *visit(struct tree *tree, const struct next *next,
				 struct stack *stack)
{
	int index = (int)tree->tasks.count;
	uint64_t children;
	if (rcore_address_map_get(&tree->task_at, next->node) >= 0)
		return NULL;
	struct rcore_task *task = rcore_push(&tree->tasks);
	if (!task || !rcore_address_map_put(&tree->task_at, next->node, index))
		return rcore_error_no_memory();
	*task = (struct rcore_task){.object = next->node, .parent = next->parent, .fiber = -1};
	if (next->parent >= 0)
		task->depth = tree->tasks.items[next->parent].depth + 1;
	struct rcore_error *err = note(tree, task, read_task(tree, task));
	if (err)
		return err;
	err = ivar(tree, next->node, "@children", &children);
	if (!err && children && task->depth < RCORE_TASK_DEPTH_LIMIT)
		err = push_list(tree, children, index, stack);
	return note(tree, task, err);
}

static struct rcore_error *walk(struct tree *tree, uint64_t root)
{
	struct stack stack = {0};
	struct next next = {root, -1};
	struct rcore_error *err = visit(tree, &next, &stack);
	while (!err && stack.count && tree->tasks.count < RCORE_TASK_LIMIT) {
		next = stack.items[--stack.count];
		err = visit(tree, &next, &stack);
	}
	free(stack.items);
	return err;
}

static struct rcore_error *find_root(struct tree *tree, uint64_t task, uint64_t *ret)
{
	struct rcore_error *err = NULL;
	*ret = task;
	for (int i = 0; i < RCORE_TASK_DEPTH_LIMIT; i++) {
		uint64_t parent;
		err = ivar(tree, *ret, "@parent", &parent);
		if (err || !parent)
			return err;
		*ret = parent;
	}
	return rcore_error_create(RCORE_ERROR_LIMIT,
				  "the parents of task 0x%" PRIx64
				  " are more than %d, or have a cycle",
				  task, RCORE_TASK_DEPTH_LIMIT);
}

/*
 * Finds the task that a fiber runs, by the ivar of 2.x or the fiber local of
 * 1.x. *ret is 0 if there is none.
 */
static struct rcore_error *task_of(struct tree *tree, const struct rcore_fiber *fiber,
				   uint64_t *ret)
{
	for (size_t i = 0; i < fiber->locals.count; i++) {
		const struct rcore_variable *local = &fiber->locals.items[i];
		if (rcore_same_text(local->name, "async_task") &&
		    rcore_is_object(tree->ruby, local->value.value)) {
			*ret = local->value.value;
			return NULL;
		}
	}
	*ret = 0;
	return fiber->object ? ivar(tree, fiber->object, "@async_task", ret) : NULL;
}

static struct rcore_error *add_fiber(struct tree *tree, struct rcore_fiber *fiber)
{
	uint64_t task, root;
	struct rcore_error *err = task_of(tree, fiber, &task);
	if (!err && (!task || rcore_address_map_get(&tree->task_at, task) >= 0))
		return NULL;
	if (!err)
		err = find_root(tree, task, &root);
	if (!err)
		err = walk(tree, root);
	/* Treats a task that was cut off from its parent as a root. */
	if (!err && rcore_address_map_get(&tree->task_at, task) < 0)
		err = walk(tree, task);
	if (!err || err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_problem_add(tree->snapshot, rcore_error_wrap(err, "task of %s", fiber->id));
	return NULL;
}

static struct rcore_error *map_fibers(struct tree *tree)
{
	for (size_t i = 0; i < tree->snapshot->fiber_count; i++) {
		uint64_t object = tree->snapshot->fibers[i].object;
		if (object && rcore_address_map_get(&tree->fiber_at, object) < 0 &&
		    !rcore_address_map_put(&tree->fiber_at, object, (int)i))
			return rcore_error_no_memory();
	}
	return NULL;
}

static struct rcore_error *keep(struct tree *tree)
{
	size_t size = tree->tasks.count * sizeof(*tree->tasks.items);
	if (!size)
		return NULL;
	tree->snapshot->tasks = rcore_arena_alloc(tree->ruby->arena, size);
	if (!tree->snapshot->tasks)
		return rcore_error_no_memory();
	memcpy(tree->snapshot->tasks, tree->tasks.items, size);
	tree->snapshot->task_count = tree->tasks.count;
	return NULL;
}

struct rcore_error *rcore_vm_tasks(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot)
{
	struct tree tree = {.ruby = ruby, .snapshot = snapshot};
	uint64_t async = 0;
	/* A program may have thousands of constants, and is stopped now. */
	if (ruby->earlier_fibers && ruby->statics.has_no_async)
		return NULL;
	struct rcore_error *unknown = rcore_vm_constant(ruby, snapshot, "Async", &async);
	ruby->statics.has_no_async = !unknown && !async;
	rcore_error_free(unknown);
	if (!async)
		return NULL;
	struct rcore_error *err = map_fibers(&tree);
	/*
	 * A terminated fiber may still refer to its task, which has left the
	 * tree.
	 */
	for (size_t i = 0; i < snapshot->fiber_count && !err; i++)
		if (snapshot->fibers[i].status != RCORE_FIBER_TERMINATED)
			err = add_fiber(&tree, &snapshot->fibers[i]);
	if (!err)
		err = keep(&tree);
	rcore_address_map_deinit(&tree.task_at);
	rcore_address_map_deinit(&tree.fiber_at);
	free(tree.tasks.items);
	return err;
}
