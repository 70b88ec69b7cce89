/* SPDX-License-Identifier: MIT */
#include "vm_suite.h"
#include "suite.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/ruby.h"
#include "ruby/object/value.h"
#include "tables.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/load.h"

struct world world;

#define ISEQ(type_, label_, ...)       \
	fake_iseq(ruby,                \
		  &(struct fake_iseq){ \
			  .type = type_, .path = "app.rb", .label = label_, __VA_ARGS__})

static void make_code(struct fake_ruby *ruby)
{
	static const uint32_t positions[] = {0, 2};
	static const int lines[] = {10, 11};
	uint64_t owner = fake_class(
		ruby,
		&(struct fake_class){.type = RCORE_T_CLASS, .path = "Foo", .permanent = true});
	world.main = ISEQ(RCORE_ISEQ_MAIN, "<main>", .positions = positions, .lines = lines,
			  .line_count = 2);
	world.run = ISEQ(RCORE_ISEQ_METHOD, "run", .positions = positions, .lines = lines,
			 .line_count = 2, .first_line = 9);
	world.block =
		ISEQ(RCORE_ISEQ_BLOCK, "block in run", .parent = world.run, .local = world.run,
		     .positions = positions, .lines = lines, .line_count = 2);
	world.rescue = ISEQ(RCORE_ISEQ_RESCUE, "rescue in run", .parent = world.run,
			    .local = world.run, .positions = positions, .lines = lines,
			    .line_count = 2);
	world.run_method =
		fake_method(ruby, RCORE_METHOD_ISEQ, owner, fake_id(ruby, "run"), world.run);
	world.each_method =
		fake_method(ruby, RCORE_METHOD_CFUNC, owner, fake_id(ruby, "each"), 0x1000);
}

static uint64_t push(uint64_t fiber, const struct fake_frame *frame)
{
	uint64_t ep = fake_push(&world.vm, fiber, frame);
	if (fiber == world.parked) {
		memmove(world.parked_cfp + 1, world.parked_cfp,
			sizeof(world.parked_cfp) - sizeof(*world.parked_cfp));
		world.parked_cfp[0] = fake_cfp(&world.vm, fiber);
	}
	return ep;
}

/*
 * Pushes a block whose outer environment is that of a method and in the heap,
 * and what the block calls.
 */
static void push_stack(uint64_t fiber)
{
	uint64_t owner = fake_env(&world.vm.ruby, world.run_method, 0,
				  RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL);
	push(fiber, &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_BLOCK | RCORE_FRAME_FINISH,
					 .iseq = world.block,
					 .pc = 1,
					 .outer = owner | 1});
	push(fiber, &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
					 .iseq = world.run,
					 .pc = 3,
					 .me_cref = world.run_method,
					 .escaped = true});
	push(fiber, &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
						  RCORE_FRAME_CFRAME,
					 .pc = -1,
					 .me_cref = world.each_method});
}

static void make_process(void)
{
	static const int tids[WORLD_TIDS] = {MAIN_TID, SLEEPER_TID, OTHER_TID, STRANGER_TID};
	for (size_t i = 0; i < WORLD_TIDS; i++)
		world.native[i] = (struct rcore_native_thread){
			.tid = tids[i], .thread_pointer = (uint64_t)tids[i] << 12};
	world.process = (struct rcore_process){.machine = EM_X86_64,
					       .threads = world.native,
					       .thread_count = WORLD_TIDS,
					       .crashed_tid = MAIN_TID};
}

void world_begin_with(const struct rcore_layout *layout)
{
	struct fake_vm *vm = &world.vm;
	world = (struct world){0};
	fake_vm_init(vm, layout);
	make_code(&vm->ruby);
	make_process();
	world.root = fake_current_fiber(vm, vm->main_thread);
	world.sleeper = fake_thread(vm, &(struct fake_thread){.status = RCORE_THREAD_STOPPED,
							      .name = "sleeper",
							      .tid = SLEEPER_TID,
							      .in_blocking_region = true});
	world.other =
		fake_thread(vm, &(struct fake_thread){.ractor = fake_ractor(vm, 2, "second"),
						      .status = RCORE_THREAD_RUNNABLE,
						      .tid = OTHER_TID,
						      .to_kill = true});
	world.ended = fake_thread(
		vm, &(struct fake_thread){.status = RCORE_THREAD_KILLED, .has_ended = true});
	world.created = fake_fiber(vm, vm->main_thread, RCORE_FIBER_CREATED);
	world.running = fake_fiber(vm, vm->main_thread, RCORE_FIBER_SUSPENDED);
	world.parked = fake_fiber(vm, vm->main_thread, RCORE_FIBER_SUSPENDED);
	world.done = fake_fiber(vm, vm->main_thread, RCORE_FIBER_TERMINATED);
	world.orphan = fake_fiber(vm, world.ended, RCORE_FIBER_SUSPENDED);
	uint64_t outer = fake_env(&vm->ruby, 0, 0, RCORE_FRAME_MAGIC_DUMMY | RCORE_ENV_LOCAL);
	push(world.root,
	     &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_EVAL | RCORE_FRAME_FINISH,
				  .iseq = world.main,
				  .pc = 1,
				  .outer = outer | 1});
	fake_machine_stack(vm, world.running);
	fake_resume(vm, vm->main_thread, world.running);
	push_stack(world.running);
	push_stack(world.parked);
	push_stack(world.orphan);
}

void world_begin(int index)
{
	struct rcore_layout layout = series_at(index);
	world_begin_with(&layout);
}

static void end(void)
{
	fake_vm_deinit(&world.vm);
}

struct rcore_error *world_try_load(struct rcore_snapshot **ret)
{
	struct rcore_ruby ruby;
	struct rcore_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		return rcore_error_no_memory();
	rcore_ruby_init(&ruby, &world.vm.ruby.target.memory, &world.vm.ruby.layout,
			&snapshot->arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = world.vm.ruby.symbols;
	struct rcore_error *err =
		rcore_vm_load(&ruby, world.vm.address, &world.process, snapshot);
	rcore_ruby_deinit(&ruby);
	if (err)
		world_free(snapshot);
	else
		*ret = snapshot;
	return err;
}

struct rcore_snapshot *world_load(void)
{
	struct rcore_snapshot *snapshot = NULL;
	ck_assert_int_eq(world_code(world_try_load(&snapshot)), 0);
	return snapshot;
}

void world_free(struct rcore_snapshot *snapshot)
{
	rcore_arena_deinit(&snapshot->arena);
	free(snapshot);
}

const struct rcore_fiber *world_fiber(const struct rcore_snapshot *snapshot, uint64_t address)
{
	for (size_t i = 0; i < snapshot->fiber_count; i++)
		if (snapshot->fibers[i].address == address)
			return &snapshot->fibers[i];
	return NULL;
}

const struct rcore_thread *world_thread(const struct rcore_snapshot *snapshot, uint64_t address)
{
	for (size_t i = 0; i < snapshot->thread_count; i++)
		if (snapshot->threads[i].address == address)
			return &snapshot->threads[i];
	return NULL;
}

struct problems {
	const char *items[64];
	size_t count;
};

static void add_problem(struct problems *problems, const char *problem)
{
	if (problem && problems->count < 64)
		problems->items[problems->count++] = problem;
}

static struct problems all_problems(const struct rcore_snapshot *snapshot)
{
	struct problems problems = {0};
	for (size_t i = 0; i < snapshot->problem_count; i++)
		add_problem(&problems, snapshot->problems[i]);
	for (size_t i = 0; i < snapshot->ractor_count; i++)
		add_problem(&problems, snapshot->ractors[i].problem);
	for (size_t i = 0; i < snapshot->thread_count; i++)
		add_problem(&problems, snapshot->threads[i].problem);
	for (size_t i = 0; i < snapshot->fiber_count; i++) {
		const struct rcore_fiber *fiber = &snapshot->fibers[i];
		add_problem(&problems, fiber->problem);
		for (size_t j = 0; j < fiber->frame_count; j++)
			add_problem(&problems, fiber->frames[j].problem);
	}
	ck_assert(snapshot->incomplete == (problems.count != 0));
	return problems;
}

bool world_says(const struct rcore_snapshot *snapshot, const char *words)
{
	struct problems problems = all_problems(snapshot);
	for (size_t i = 0; i < problems.count; i++)
		if (strstr(problems.items[i], words))
			return true;
	return false;
}

struct rcore_snapshot *world_load_whole(void)
{
	struct rcore_snapshot *snapshot = world_load();
	struct problems problems = all_problems(snapshot);
	ck_assert_msg(!problems.count, "%s", problems.items[0]);
	return snapshot;
}

struct rcore_snapshot *world_load_broken(const char *words)
{
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_msg(world_says(snapshot, words), "no problem says \"%s\"", words);
	return snapshot;
}

int world_code(struct rcore_error *err)
{
	int result = err ? (int)err->code : 0;
	rcore_error_free(err);
	return result;
}

int world_run(const char *name, const TTest *const *tests, size_t count)
{
	return rcore_test_suite_run(&(struct rcore_test_suite){.name = name,
							       .tests = tests,
							       .count = count,
							       .loops = series_count(),
							       .timeout = 240,
							       .end = end});
}
