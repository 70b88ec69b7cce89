/* SPDX-License-Identifier: MIT */
#include "session/weave.h"

#include <stdlib.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "base/text.h"
#include "session/stacks.h"
#include "session/zero_stacks.h"
#include "vm/problem.h"
#include "weave/weave.h"

struct functions {
	uint64_t *items;
	size_t count, capacity;
};

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

/* Lists the functions of all active methods and blocks in C, each once. */
static struct rcore_error *list_functions(const struct rcore_snapshot *snapshot,
					  struct functions *ret)
{
	struct rcore_address_map seen = {0};
	bool done = true;
	for (size_t i = 0; i < snapshot->fiber_count && done; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		for (size_t j = 0; j < fiber->frame_count && done; j++) {
			uint64_t function = fiber->frames[j].cfunc;
			if (!function || rcore_address_map_get(&seen, function) >= 0)
				continue;
			uint64_t *slot = rcore_push(ret);
			done = slot && rcore_address_map_put(&seen, function, 0);
			if (slot)
				*slot = function;
		}
	}
	rcore_address_map_deinit(&seen);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), compare);
	return done ? NULL : rcore_error_no_memory();
}

bool rcore_session_known_activation(const struct rcore_target *target,
				    const struct rcore_located *located,
				    struct rcore_snapshot *snapshot)
{
	struct rcore_activation *ret = &snapshot->activation;
	const struct rcore_pack_facts *pack = target->pack;
	struct rcore_symbol symbol;
	if (rcore_module_symbol(target->modules, located->identity.module, "rb_vm_exec",
				&symbol))
		*ret = (struct rcore_activation){RCORE_ACTIVATION_SYMBOL, symbol.address};
	else if (pack && pack->activation && pack->activation_source < RCORE_ACTIVATION_UNKNOWN)
		*ret = (struct rcore_activation){
			(enum rcore_activation_source)pack->activation_source,
			pack->activation};
	return ret->address != 0;
}

/* Also finds the activation by its code, unless it is known. */
static struct rcore_error *unwind(struct rcore_target *target,
				  const struct rcore_instructions *instructions,
				  const struct functions *functions,
				  struct rcore_stacks *stacks, struct rcore_snapshot *snapshot)
{
	struct rcore_activation *activation = &snapshot->activation;
	const struct rcore_functions methods = {functions->items, functions->count};
	struct rcore_interpreter interpreter = {.instructions = instructions->items,
						.count = instructions->count,
						.activation = activation->address};
	struct rcore_code *code;
	struct rcore_error *err = rcore_target_code(target, &code);
	if (!err)
		err = rcore_unwind(code, &snapshot->arena, &methods, &interpreter,
				   stacks->contexts, stacks->count);
	if (!err && interpreter.activation && !activation->address)
		*activation = (struct rcore_activation){RCORE_ACTIVATION_CODE,
							interpreter.activation};
	return err;
}

struct rcore_error *
rcore_session_search_activation(struct rcore_target *target,
				const struct rcore_instructions *instructions,
				struct rcore_snapshot *snapshot)
{
	const struct functions no_functions = {0};
	struct rcore_stacks no_stacks = {0};
	return unwind(target, instructions, &no_functions, &no_stacks, snapshot);
}

/* Whether the target's own file of Ruby was not found. */
static bool lacks_ruby(const struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->module_count; i++)
		if (snapshot->modules[i].is_ruby && snapshot->modules[i].lost)
			return true;
	return false;
}

/* Notes in the snapshot that an order is a guess, or unknown. */
static void admit(struct rcore_snapshot *snapshot)
{
	/* If Ruby's file is not here, its debug information is of no use. */
	const char *how = lacks_ruby(snapshot)
				  ? "pass --sysroot or --lib-search-path with a folder that "
				    "has the file of this Ruby"
				  : "install the debug information of this Ruby";
	bool woven = rcore_needs_activation(snapshot);
	if (woven && snapshot->activation.source == RCORE_ACTIVATION_UNKNOWN)
		rcore_problem_add(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_UNSUPPORTED,
				"the order of native and Ruby frames is unknown, because no "
				"function is known to run Ruby code; %s to find it",
				how));
	else if (woven && snapshot->activation.source == RCORE_ACTIVATION_STACKS)
		rcore_problem_add(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_UNSUPPORTED,
				"the order of native and Ruby frames is a guess: only its "
				"number of occurrences shows which function runs Ruby code; "
				"%s to be sure",
				how));
}

static struct rcore_error *admit_zeroes(const struct rcore_target *target,
					struct rcore_snapshot *snapshot)
{
	size_t count;
	if (rcore_target_was_alive(target))
		return NULL;
	if (!rcore_zero_stacks(target->process, target->memory, &count))
		return rcore_error_no_memory();
	if (count)
		rcore_problem_add(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"the stacks of %zu of %zu threads contain only zeroes: the "
				"program that wrote this core could not read them, so native "
				"frames and some waits are missing; `rcore pack -p PID` saves "
				"stacks",
				count, target->process->thread_count));
	return NULL;
}

/* Whether each stack was unwound to its end, and each part of it was woven. */
static bool is_whole(const struct rcore_snapshot *snapshot)
{
	bool whole = true;
	for (size_t i = 0; i < snapshot->fiber_count && whole; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		whole = !fiber->native_problem;
		for (size_t j = 0; j < fiber->step_count && whole; j++)
			whole = fiber->steps[j].kind != RCORE_STEP_GAP;
	}
	for (size_t i = 0; i < snapshot->other_count && whole; i++)
		whole = !snapshot->others[i].native_problem;
	return whole;
}

struct rcore_error *rcore_session_weave(struct rcore_target *target,
					const struct rcore_located *located,
					const struct rcore_moment *moment,
					struct rcore_callers *callers)
{
	struct rcore_snapshot *snapshot = moment->snapshot;
	struct rcore_stacks stacks;
	struct functions functions = {0};
	struct rcore_error *err =
		rcore_stacks_init(&stacks, target, &located->location.layout.traits, snapshot);
	rcore_session_known_activation(target, located, snapshot);
	if (!err)
		err = list_functions(snapshot, &functions);
	if (!err && target->pack)
		err = rcore_stacks_unpack(&stacks, target, snapshot);
	else if (!err)
		err = unwind(target, &moment->instructions, &functions, &stacks, snapshot);
	if (!err) {
		rcore_stacks_hand_out(&stacks, snapshot);
		err = rcore_weave(snapshot, callers);
		admit(snapshot);
		if (!err)
			err = admit_zeroes(target, snapshot);
		snapshot->incomplete |= !is_whole(snapshot);
	}
	rcore_stacks_deinit(&stacks);
	free(functions.items);
	return err;
}
