/* SPDX-License-Identifier: MIT */
#include "vm/stack/frame_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "base/text.h"
#include "ruby/get.h"
#include "ruby/inspect/inspect.h"
#include "ruby/iseq/iseq_locals.h"
#include "vm/stack/c_arguments.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/problem.h"

enum { WORD = 8, BOOKKEEPING = 2 /* words between the last variable and ep */ };

struct walk {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	const struct rcore_locals_options *options;
	const struct rcore_fiber *fiber;
	uint64_t nil;
	struct rcore_inspect_options inspect;
	/* by VALUE: thousands of frames have the same self */
	struct rcore_cache inspected;
	/* index of the fiber's frame by its ep */
	struct rcore_address_map frame_at;
	struct {
		struct rcore_local *items;
		size_t count, capacity;
	} locals;
};

struct env {
	uint64_t ep, flags;
	/* NULL: C code, which has no variables */
	const struct rcore_iseq_info *iseq;
};

static struct rcore_error *inspect(struct walk *walk, uint64_t value, struct rcore_value *ret)
{
	struct rcore_ruby *ruby = walk->ruby;
	struct rcore_value *known = rcore_cache_get(&walk->inspected, value, 0);
	if (!known) {
		known = rcore_arena_alloc(ruby->arena, sizeof(*known));
		if (!known)
			return rcore_error_no_memory();
		struct rcore_error *err = rcore_inspect(ruby, value, &walk->inspect, known);
		if (err)
			return err;
		if (!rcore_cache_put(&walk->inspected, &ruby->scratch, value, 0, known))
			return rcore_error_no_memory();
	}
	*ret = *known;
	return NULL;
}

static bool is_wanted(const struct walk *walk, const struct rcore_iseq_local *local, int level)
{
	if (level || !local->parameter)
		return walk->options->locals;
	return walk->options->locals || walk->options->arguments;
}

/*
 * `&block` is nil until the method reads it; only then does the VM make the
 * block a Proc (the instruction getblockparam calls rb_vm_bh_to_procval()).
 * Until then ep[-1] is the block: 0, a Proc or Symbol that was passed, or a
 * struct rb_captured_block {self, ep, code} on the VM stack, tagged 1 (an iseq)
 * or 3 (C).
 */
static struct rcore_error *inspect_block(struct walk *walk, const struct env *env,
					 struct rcore_value *ret)
{
	enum { CODE = 2 * WORD, TAG = 3, ISEQ_TAG = 1, C_TAG = 3 };
	const struct rcore_iseq_info *iseq;
	uint64_t handler, code;
	enum rcore_fault fault = rcore_read_u64(walk->ruby->memory, env->ep - WORD, &handler);
	if (fault)
		return rcore_fault_error(fault, "block", env->ep - WORD, WORD);
	bool is_c = (handler & TAG) == C_TAG;
	if (!handler || (!is_c && (handler & TAG) != ISEQ_TAG))
		return inspect(walk, handler ? handler : walk->nil, ret);
	ret->class_name = "Proc";
	if (is_c) {
		ret->text = "#<Proc (of C, not created yet)>";
		return NULL;
	}
	uint64_t address = (handler & ~(uint64_t)TAG) + CODE;
	fault = rcore_read_u64(walk->ruby->memory, address, &code);
	if (fault)
		return rcore_fault_error(fault, "block", address, WORD);
	struct rcore_error *err = rcore_iseq(walk->ruby, code, &iseq);
	if (err)
		return err;
	ret->text = rcore_arena_printf(walk->ruby->arena, "#<Proc (not created yet) %s:%d>",
				       iseq->path ? iseq->path : "?", iseq->first_line);
	return ret->text ? NULL : rcore_error_no_memory();
}

static bool is_block_unmade(const struct env *env, const struct rcore_iseq_local *local)
{
	return local->parameter == RCORE_PARAMETER_BLOCK && env->flags & RCORE_ENV_LOCAL &&
	       !(env->flags & RCORE_FRAME_MODIFIED_BLOCK_PARAM);
}

struct rcore_error *rcore_frame_local_address(struct rcore_ruby *ruby,
					      const struct rcore_frame *frame, const char *name,
					      uint64_t *ret)
{
	const struct rcore_iseq_info *iseq;
	const struct rcore_iseq_local *locals;
	size_t count, i = 0;
	*ret = 0;
	if (frame->kind != RCORE_FRAME_RUBY || !frame->iseq)
		return NULL;
	struct rcore_error *err = rcore_iseq(ruby, frame->iseq, &iseq);
	if (!err)
		err = rcore_iseq_locals(ruby, iseq, &locals, &count);
	if (err)
		return err;
	while (i < count && !rcore_same_text(locals[i].name, name))
		i++;
	if (i < count)
		*ret = frame->ep - (BOOKKEEPING + count - i) * WORD;
	return NULL;
}

/* Adds the variables of one environment. */
static struct rcore_error *add_env(struct walk *walk, const struct env *env, int level)
{
	const struct rcore_iseq_local *locals;
	size_t count;
	bool isolated =
		walk->ruby->layout->traits.env_isolated && env->flags & RCORE_ENV_ISOLATED;
	struct rcore_error *err = rcore_iseq_locals(walk->ruby, env->iseq, &locals, &count);
	if (err || !count)
		return err;
	uint64_t *values = malloc(count * sizeof(*values));
	if (!values)
		return rcore_error_no_memory();
	uint64_t address = env->ep - (BOOKKEEPING + count) * WORD;
	enum rcore_fault fault =
		rcore_read_large(walk->ruby->memory, address, values, count * WORD);
	if (fault)
		err = rcore_fault_error(fault, "variables", address, count * WORD);
	for (size_t i = 0; i < count && !err; i++) {
		if (!is_wanted(walk, &locals[i], level))
			continue;
		struct rcore_local *local = rcore_push(&walk->locals);
		if (!local) {
			err = rcore_error_no_memory();
			break;
		}
		local->variable.name = locals[i].name;
		local->variable.problem = locals[i].problem;
		local->parameter = locals[i].parameter;
		local->is_hidden = locals[i].is_hidden || isolated;
		local->level = level;
		struct rcore_value *value = &local->variable.value;
		err = is_block_unmade(env, &locals[i]) ? inspect_block(walk, env, value)
						       : inspect(walk, values[i], value);
	}
	free(values);
	return err;
}

static bool is_of_c(uint64_t flags)
{
	switch (flags & RCORE_FRAME_MAGIC_MASK) {
	case RCORE_FRAME_MAGIC_CFUNC:
	case RCORE_FRAME_MAGIC_IFUNC:
	case RCORE_FRAME_MAGIC_DUMMY:
		return true;
	default:
		return false;
	}
}

/*
 * Finds the iseq of an outer environment. In the heap, the environment points
 * to it; on the VM stack, its frame does.
 */
static struct rcore_error *find_iseq(struct walk *walk, const struct env *env,
				     uint64_t *ret_iseq)
{
	struct rcore_ruby *ruby = walk->ruby;
	uint64_t object, flags;
	if (!(env->flags & RCORE_ENV_ESCAPED)) {
		int index = rcore_address_map_get(&walk->frame_at, env->ep);
		if (index < 0)
			return rcore_error_create(RCORE_ERROR_CORRUPT,
						  "the environment at 0x%" PRIx64
						  " belongs to no frame of this stack",
						  env->ep);
		*ret_iseq = walk->fiber->frames[index].iseq;
		return NULL;
	}
	enum rcore_fault fault = rcore_read_u64(ruby->memory, env->ep + WORD, &object);
	if (fault)
		return rcore_fault_error(fault, "environment", env->ep + WORD, WORD);
	struct rcore_error *err = rcore_flags(ruby, object, &flags);
	if (!err && rcore_imemo_type(flags) != (int)ruby->layout->traits.imemo_env)
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "no rb_env_t after the environment at 0x%" PRIx64,
					 env->ep);
	return err ? err : RCORE_GET(ruby, object, env, iseq, ret_iseq);
}

/*
 * Goes from a block's environment to the enclosing one. *more is false at the
 * environment of a method.
 */
static struct rcore_error *go_out(struct walk *walk, struct env *env, bool *more)
{
	uint64_t outer, iseq = 0;
	*more = !(env->flags & RCORE_ENV_LOCAL);
	if (!*more)
		return NULL;
	enum rcore_fault fault = rcore_read_u64(walk->ruby->memory, env->ep - WORD, &outer);
	if (fault)
		return rcore_fault_error(fault, "environment", env->ep - WORD, WORD);
	env->ep = outer & ~UINT64_C(3); /* GC_GUARDED_PTR_REF */
	struct rcore_error *err = rcore_frame_flags(walk->ruby, &env->ep, &env->flags);
	env->iseq = NULL;
	if (err || is_of_c(env->flags))
		return err;
	err = find_iseq(walk, env, &iseq);
	return err || !iseq ? err : rcore_iseq(walk->ruby, iseq, &env->iseq);
}

static struct rcore_error *add_locals(struct walk *walk, const struct rcore_frame *frame)
{
	struct env env = {.ep = frame->ep, .flags = frame->flags};
	struct rcore_error *err = rcore_iseq(walk->ruby, frame->iseq, &env.iseq);
	bool more = true;
	for (int level = 0; !err && more; level++) {
		if (level == RCORE_ENV_LIMIT)
			return rcore_error_create(RCORE_ERROR_LIMIT,
						  "more than %d nested blocks, or a cycle",
						  RCORE_ENV_LIMIT);
		if (env.iseq)
			err = add_env(walk, &env, level);
		more = walk->options->locals;
		if (!err && more)
			err = go_out(walk, &env, &more);
	}
	return err;
}

static struct rcore_error *keep_locals(struct walk *walk, struct rcore_frame_values *values)
{
	size_t size = walk->locals.count * sizeof(*walk->locals.items);
	values->locals = rcore_arena_alloc(walk->ruby->arena, size + 1);
	if (!values->locals)
		return rcore_error_no_memory();
	if (size)
		memcpy(values->locals, walk->locals.items, size);
	values->local_count = walk->locals.count;
	return NULL;
}

static struct rcore_error *add_c_arguments(struct walk *walk, const struct rcore_frame *frame,
					   bool *ret_known)
{
	uint64_t at;
	size_t count;
	*ret_known = rcore_c_arguments(walk->ruby, walk->fiber, frame, &at, &count);
	for (; *ret_known && count; count--, at += WORD) {
		uint64_t value;
		enum rcore_fault fault = rcore_read_u64(walk->ruby->memory, at, &value);
		if (fault)
			return rcore_fault_error(fault, "arguments", at, WORD);
		struct rcore_local *local = rcore_push(&walk->locals);
		if (!local)
			return rcore_error_no_memory();
		local->parameter = RCORE_PARAMETER_REQ;
		struct rcore_error *err = inspect(walk, value, &local->variable.value);
		if (err)
			return err;
	}
	return NULL;
}

static struct rcore_error *add_variables(struct walk *walk, const struct rcore_frame *frame,
					 struct rcore_frame_values *values)
{
	const struct rcore_locals_options *options = walk->options;
	bool with_arguments = options->arguments || options->locals;
	struct rcore_error *err = NULL;
	walk->locals.count = 0;
	if (frame->kind == RCORE_FRAME_RUBY && with_arguments) {
		values->has_arguments = true;
		values->has_locals = options->locals;
		err = add_locals(walk, frame);
	} else if (frame->kind == RCORE_FRAME_CFUNC && with_arguments) {
		err = add_c_arguments(walk, frame, &values->has_arguments);
	}
	if (err && err->code != RCORE_ERROR_NO_MEMORY) {
		values->problem = rcore_problem(walk->snapshot, err);
		err = NULL;
	}
	return err ? err : keep_locals(walk, values);
}

static struct rcore_error *read_frame(struct walk *walk, struct rcore_frame *frame)
{
	if (frame->kind == RCORE_FRAME_DUMMY || frame->kind == RCORE_FRAME_BROKEN)
		return NULL;
	struct rcore_frame_values *values =
		rcore_arena_alloc(walk->ruby->arena, sizeof(*values));
	if (!values)
		return rcore_error_no_memory();
	frame->values = values;
	struct rcore_error *err = NULL;
	if (walk->options->self) {
		err = inspect(walk, frame->self, &values->self);
		values->has_self = !err;
	}
	return err ? err : add_variables(walk, frame, values);
}

static struct rcore_error *map_frames(struct walk *walk, const struct rcore_fiber *fiber)
{
	rcore_address_map_deinit(&walk->frame_at);
	walk->frame_at = (struct rcore_address_map){0};
	walk->fiber = fiber;
	for (size_t i = 0; walk->options->locals && i < fiber->frame_count; i++) {
		const struct rcore_frame *frame = &fiber->frames[i];
		if (frame->kind == RCORE_FRAME_RUBY &&
		    rcore_address_map_get(&walk->frame_at, frame->ep) < 0 &&
		    !rcore_address_map_put(&walk->frame_at, frame->ep, (int)i))
			return rcore_error_no_memory();
	}
	return NULL;
}

static struct walk begin(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
			 const struct rcore_locals_options *options)
{
	return (struct walk){
		.ruby = ruby,
		.snapshot = snapshot,
		.options = options,
		.nil = (uint64_t)ruby->layout->constant.qnil,
		.inspect = options->inspect,
	};
}

static void end(struct walk *walk)
{
	rcore_address_map_deinit(&walk->frame_at);
	rcore_cache_deinit(&walk->inspected);
	free(walk->locals.items);
}

struct rcore_error *rcore_vm_locals(struct rcore_ruby *ruby, struct rcore_snapshot *snapshot,
				    const struct rcore_locals_options *options)
{
	struct walk walk = begin(ruby, snapshot, options);
	struct rcore_error *err = NULL;
	snapshot->has_values = true;
	for (size_t i = 0; i < snapshot->fiber_count && !err; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		err = map_frames(&walk, fiber);
		for (size_t j = 0; j < fiber->frame_count && !err; j++)
			if (j < RCORE_LOCALS_HEAD ||
			    j + RCORE_LOCALS_TAIL >= fiber->frame_count)
				err = read_frame(&walk, &fiber->frames[j]);
	}
	end(&walk);
	return err;
}
