/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/address_map.h"
#include "base/grow.h"
#include "image/unwind/parked.h"
#include "session/session.h"
#include "vm/problem.h"
#include "weave/weave.h"

/* Whose stack a context is. */
struct owner {
	int fiber; /* index into snapshot->fibers; -1: none */
	int other; /* index into snapshot->others; -1: none */
};

struct functions {
	uint64_t *items;
	size_t count, capacity;
};

struct stacks {
	struct rcore_unwind_context *contexts;
	struct owner *owners;
	size_t count, kernel_count; /* those of kernel threads come first */
};

static int fiber_of_tid(const struct rcore_snapshot *snapshot, int tid)
{
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[i];
		if (thread->tid == tid && !thread->is_ended && thread->current_fiber >= 0 &&
		    snapshot->fibers[thread->current_fiber].tid == tid)
			return thread->current_fiber;
	}
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].tid == tid)
			return (int)i;
	return -1;
}

static int other_of_tid(const struct rcore_snapshot *snapshot, int tid)
{
	for (size_t i = 0; i < snapshot->other_count; i++)
		if (snapshot->others[i].tid == tid)
			return (int)i;
	return -1;
}

/* Since 2.7 a fiber's VM stack lies above its machine stack in one piece of memory
 * (cont.c, fiber_initialize_coroutine). */
static void bound(struct rcore_unwind_context *context, const struct rcore_fiber *fiber)
{
	context->stack_start = fiber->machine_stack;
	context->stack_end = fiber->machine_stack + fiber->machine_stack_size;
	if (fiber->vm_stack - fiber->machine_stack < fiber->machine_stack_size)
		context->stack_end = fiber->vm_stack;
	context->stack_base = fiber->stack_base;
}

static void add_kernel_threads(const struct rcore_process *process,
			       const struct rcore_snapshot *snapshot, struct stacks *stacks)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (!thread->has_registers)
			continue;
		struct rcore_unwind_context *context = &stacks->contexts[stacks->count];
		struct owner *owner = &stacks->owners[stacks->count++];
		*owner = (struct owner){fiber_of_tid(snapshot, thread->tid),
					other_of_tid(snapshot, thread->tid)};
		for (int j = 0; j < thread->register_count; j++)
			context->registers[j] = thread->registers[j];
		context->known = (UINT64_C(1) << thread->register_count) - 1;
		if (owner->fiber >= 0)
			bound(context, &snapshot->fibers[owner->fiber]);
	}
}

static bool parked(struct rcore_session *session, const struct rcore_fiber *fiber,
		   struct rcore_unwind_context *ret)
{
	enum rcore_coroutine coroutine =
		session->traits.coroutine_link ? RCORE_COROUTINE_LINK : RCORE_COROUTINE_PC_SLOT;
	return fiber->is_parked &&
	       rcore_parked_registers(session->memory, session->process->machine,
				      fiber->stack_pointer, coroutine, ret);
}

bool rcore_fiber_registers(struct rcore_session *session, const struct rcore_fiber *fiber,
			   uint64_t registers[RCORE_MAX_REGISTERS], uint64_t *known)
{
	struct rcore_unwind_context context;
	if (!parked(session, fiber, &context))
		return false;
	memcpy(registers, context.registers, sizeof(context.registers));
	*known = context.known;
	return true;
}

static bool switched_away(const struct rcore_fiber *fiber)
{
	return fiber->status == RCORE_FIBER_SUSPENDED && !fiber->is_current &&
	       fiber->machine_stack;
}

/* In what is taken for its machine stack, where the rb_fiber_t itself never lies. */
static bool is_on_own_stack(const struct rcore_fiber *fiber)
{
	return fiber->stack_pointer - fiber->machine_stack < fiber->machine_stack_size &&
	       fiber->address - fiber->machine_stack >= fiber->machine_stack_size;
}

/* A native coroutine saves the stack pointer first of all; of another implementation that word is
 * something else, or there is none, and nothing of these stacks is to be believed. */
static void leave_other_coroutines(struct rcore_snapshot *snapshot)
{
	size_t lost = 0;
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		if (switched_away(fiber) && is_on_own_stack(fiber))
			return;
		lost += switched_away(fiber);
	}
	if (!lost)
		return;
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (switched_away(&snapshot->fibers[i]))
			snapshot->fibers[i].is_parked = false;
	rcore_problem_add(
		snapshot,
		rcore_error_create(RCORE_ERROR_UNSUPPORTED,
				   "native frames of %zu parked fibers are missing: none has "
				   "its stack pointer where native coroutines keep it; was "
				   "this Ruby built --with-coroutine=ucontext or =pthread?",
				   lost));
}

static void add_parked(struct rcore_session *session, struct rcore_snapshot *snapshot,
		       struct stacks *stacks)
{
	leave_other_coroutines(snapshot);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		struct rcore_fiber *fiber = &snapshot->fibers[i];
		struct rcore_unwind_context *context = &stacks->contexts[stacks->count];
		if (!parked(session, fiber, context)) {
			if (fiber->is_parked)
				fiber->native_problem = rcore_arena_printf(
					&snapshot->arena,
					"its registers, saved at 0x%" PRIx64 ", cannot be read",
					fiber->stack_pointer);
			continue;
		}
		bound(context, fiber);
		stacks->owners[stacks->count++] = (struct owner){(int)i, -1};
	}
}

static int compare(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

/* Those of all methods and blocks in C that run, each once. */
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

static void hand_out(const struct stacks *stacks, struct rcore_snapshot *snapshot)
{
	for (size_t i = 0; i < stacks->count; i++) {
		const struct rcore_unwind_context *context = &stacks->contexts[i];
		const struct owner *owner = &stacks->owners[i];
		if (owner->fiber >= 0) {
			struct rcore_fiber *fiber = &snapshot->fibers[owner->fiber];
			fiber->native = context->frames;
			fiber->native_count = context->frame_count;
			fiber->native_problem = context->problem;
		}
		if (owner->other >= 0) {
			struct rcore_other_thread *other = &snapshot->others[owner->other];
			other->native = context->frames;
			other->native_count = context->frame_count;
			other->native_problem = context->problem;
		}
	}
}

/* Frames and their strings outlive the session: they are the snapshot's. */
static const char *copy(struct rcore_arena *arena, const char *text, bool *no_memory)
{
	const char *copied = text ? rcore_arena_strdup(arena, text) : NULL;
	*no_memory |= text && !copied;
	return copied;
}

static struct rcore_error *unpack_one(const struct rcore_packed_stack *packed,
				      struct rcore_arena *arena,
				      struct rcore_unwind_context *context)
{
	bool no_memory = false;
	context->frames =
		rcore_arena_alloc(arena, (packed->frame_count + 1) * sizeof(*context->frames));
	if (!context->frames)
		return rcore_error_no_memory();
	for (size_t i = 0; i < packed->frame_count; i++) {
		struct rcore_native_frame *frame = &context->frames[i];
		*frame = packed->frames[i];
		frame->function = copy(arena, frame->function, &no_memory);
		frame->module = copy(arena, frame->module, &no_memory);
		frame->gem = copy(arena, frame->gem, &no_memory);
		frame->file = copy(arena, frame->file, &no_memory);
	}
	context->frame_count = packed->frame_count;
	context->problem = copy(arena, packed->problem, &no_memory);
	return no_memory ? rcore_error_no_memory() : NULL;
}

/* In place of unwinding: what the machine that wrote the pack saw. */
static struct rcore_error *unpack(struct rcore_session *session,
				  struct rcore_snapshot *snapshot, struct stacks *stacks)
{
	size_t thread = 0;
	const struct rcore_process *process = session->process;
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < stacks->count && !err; i++) {
		const struct rcore_packed_stack *packed;
		if (i >= stacks->kernel_count) {
			packed = rcore_session_packed(
				session, 0, snapshot->fibers[stacks->owners[i].fiber].address);
		} else {
			while (!process->threads[thread].has_registers)
				thread++;
			packed = rcore_session_packed(session, process->threads[thread++].tid,
						      0);
		}
		if (packed)
			err = unpack_one(packed, &snapshot->arena, &stacks->contexts[i]);
	}
	return err;
}

/* By its symbol; else of a pack what it says, which the session that wrote it found. */
static void find_symbol(struct rcore_session *session, struct rcore_activation *ret)
{
	struct rcore_symbol symbol;
	if (rcore_module_symbol(session->modules, session->ruby, "rb_vm_exec", &symbol))
		*ret = (struct rcore_activation){RCORE_ACTIVATION_SYMBOL, symbol.address};
	else if (session->pack && session->pack->activation &&
		 session->pack->activation_source < RCORE_ACTIVATION_UNKNOWN)
		*ret = (struct rcore_activation){
			(enum rcore_activation_source)session->pack->activation_source,
			session->pack->activation};
}

/* And by code where neither does. */
static struct rcore_error *unwind(struct rcore_session *session,
				  struct rcore_snapshot *snapshot,
				  const struct functions *functions, struct stacks *stacks)
{
	struct rcore_activation *activation = &snapshot->activation;
	const struct rcore_functions methods = {functions->items, functions->count};
	struct rcore_interpreter interpreter = {
		session->instructions.items, session->instructions.count, activation->address};
	struct rcore_error *err = NULL;
	if (!session->code)
		err = rcore_code_open(session->modules, session->memory,
				      session->process->machine, &session->code);
	if (!err)
		err = rcore_unwind(session->code, &snapshot->arena, &methods, &interpreter,
				   stacks->contexts, stacks->count);
	if (!err && interpreter.activation && !activation->address)
		*activation = (struct rcore_activation){RCORE_ACTIVATION_CODE,
							interpreter.activation};
	return err;
}

struct rcore_error *rcore_session_activation(struct rcore_session *session,
					     struct rcore_snapshot *snapshot)
{
	const struct functions no_functions = {0};
	struct stacks no_stacks = {0};
	struct rcore_snapshot *frames;
	struct rcore_error *err = NULL;
	find_symbol(session, &snapshot->activation);
	if (snapshot->activation.address || session->pack)
		return NULL;
	err = rcore_session_read(session, &frames);
	if (!err) {
		rcore_snapshot_free(frames);
		err = unwind(session, snapshot, &no_functions, &no_stacks);
	}
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	rcore_error_free(err);
	if (!snapshot->activation.address)
		snapshot->activation.source = RCORE_ACTIVATION_UNKNOWN;
	return NULL;
}

/* An order that is a guess, or is not known, is said to be so. */
static void admit(struct rcore_snapshot *snapshot)
{
	bool woven = false;
	for (size_t i = 0; i < snapshot->fiber_count && !woven; i++)
		woven = snapshot->fibers[i].frame_count && snapshot->fibers[i].native_count;
	if (woven && snapshot->activation.source == RCORE_ACTIVATION_UNKNOWN)
		rcore_problem_add(
			snapshot,
			rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					   "native and Ruby frames are not in one order: which "
					   "function runs Ruby code is not known; the debug "
					   "information of this Ruby would tell"));
	else if (woven && snapshot->activation.source == RCORE_ACTIVATION_STACKS)
		rcore_problem_add(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_UNSUPPORTED,
				"the order of native and Ruby frames is a guess: which "
				"function runs Ruby code is only known by how often it stands "
				"in the stacks; the debug information of this Ruby would "
				"tell"));
}

/* Did each stack come to its natural end, and was each stretch of it woven? */
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

struct rcore_error *rcore_session_native(struct rcore_session *session,
					 struct rcore_snapshot *snapshot)
{
	size_t most = session->process->thread_count + snapshot->fiber_count;
	struct stacks stacks = {calloc(most + 1, sizeof(*stacks.contexts)),
				calloc(most + 1, sizeof(*stacks.owners)), 0, 0};
	struct functions functions = {0};
	struct rcore_error *err = stacks.contexts && stacks.owners
					  ? list_functions(snapshot, &functions)
					  : rcore_error_no_memory();
	if (!err) {
		find_symbol(session, &snapshot->activation);
		add_kernel_threads(session->process, snapshot, &stacks);
		stacks.kernel_count = stacks.count;
		add_parked(session, snapshot, &stacks);
		if (session->pack)
			err = unpack(session, snapshot, &stacks);
		else
			err = unwind(session, snapshot, &functions, &stacks);
	}
	if (!err) {
		hand_out(&stacks, snapshot);
		err = rcore_weave(snapshot);
		admit(snapshot);
		snapshot->incomplete |= !is_whole(snapshot);
	}
	free(stacks.contexts);
	free(stacks.owners);
	free(functions.items);
	return err;
}
