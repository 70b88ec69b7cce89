/* SPDX-License-Identifier: MIT */
#include "snapshots.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "model/group.h"
#include "triage/blame.h"
#include "triage/signature.h"

static struct rcore_frame ruby(const char *label, const char *path, int line)
{
	return (struct rcore_frame){
		.kind = RCORE_FRAME_RUBY,
		.cfp = 0x7f0000001000,
		.pc = 0x55550000,
		.iseq = 0x7f0000002000,
		.self = 8,
		.ep = 0x7f0000003000,
		.flags = 0x11110001,
		.label = label,
		.path = path,
		.line = line,
		.native_label = label,
		.native_path = path,
		.native_line = line,
	};
}

static struct rcore_frame cfunc(const char *label)
{
	return (struct rcore_frame){
		.kind = RCORE_FRAME_CFUNC,
		.cfp = 0x7f0000001038,
		.label = label,
		.native_label = label,
		.native_path = "app.rb",
		.native_line = 31,
	};
}

static void set_frames(struct rcore_snapshot *snapshot, struct rcore_fiber *fiber,
		       const struct rcore_frame *frames, size_t count)
{
	fiber->frames = rcore_arena_alloc(&snapshot->arena, (count + 1) * sizeof(*frames));
	memcpy(fiber->frames, frames, count * sizeof(*frames));
	fiber->frame_count = count;
}

static struct rcore_fiber *add_fiber(struct rcore_snapshot *snapshot, int thread,
				     enum rcore_fiber_status status)
{
	struct rcore_thread *owner = &snapshot->threads[thread];
	struct rcore_fiber *fiber = &snapshot->fibers[snapshot->fiber_count];
	*fiber = (struct rcore_fiber){
		.address = 0x7f1000000000 + 0x1000 * snapshot->fiber_count,
		.ec = 0x7f1000000040 + 0x1000 * snapshot->fiber_count,
		.status = status,
		.is_root = owner->fiber_count == 0 && !owner->is_ended,
		.resumed_by = -1,
		.resuming = -1,
		.thread = thread,
		.group = -1,
	};
	if (!fiber->is_root)
		fiber->object = 0x7f2000000000 + 40 * snapshot->fiber_count;
	snprintf(fiber->id, sizeof(fiber->id), "%.12s.F%zu", owner->id, owner->fiber_count);
	owner->fibers[owner->fiber_count++] = (int)snapshot->fiber_count++;
	return fiber;
}

static struct rcore_thread *add_thread(struct rcore_snapshot *snapshot, const char *id, int tid,
				       size_t fibers)
{
	struct rcore_thread *thread = &snapshot->threads[snapshot->thread_count++];
	*thread = (struct rcore_thread){
		.address = 0x7f3000000000 + 0x1000 * snapshot->thread_count,
		.object = 0x7f4000000000 + 40 * snapshot->thread_count,
		.tid = tid,
		.ractor = -1,
		.current_fiber = -1,
		.fibers = rcore_arena_alloc(&snapshot->arena, fibers * sizeof(int)),
	};
	strcpy(thread->id, id);
	return thread;
}

static void start(struct rcore_snapshot *snapshot, size_t threads, size_t fibers)
{
	*snapshot = (struct rcore_snapshot){
		.source = "core.1234",
		.producer = "kernel",
		.pid = 1234,
		.machine = 62,
		.arguments = "ruby app.rb",
		.ruby_version = "3.3.8",
		.ruby_description = "ruby 3.3.8 (2025-04-09 revision b200bad6cd) "
				    "[x86_64-linux-gnu]",
		.version_source = "ruby_description in libruby-3.3.so.3.3.8",
		.layout_name = "3.3.8-x86_64-cet",
		.layout_source = "exact",
		.vm_found_by = RCORE_VM_BY_SEARCH,
		.vm = 0x5555deadb000,
		.fiber_source = "jit_cont list",
		.cause = {.thread = -1, .fiber = -1},
	};
	snapshot->threads =
		rcore_arena_alloc(&snapshot->arena, threads * sizeof(*snapshot->threads));
	snapshot->fibers =
		rcore_arena_alloc(&snapshot->arena, fibers * sizeof(*snapshot->fibers));
}

static void add_main_thread(struct rcore_snapshot *snapshot)
{
	struct rcore_frame parser[] = {
		ruby("Parser#next_token", "lib/parser.rb", 88),
		ruby("block in Parser#parse", "lib/parser.rb", 52),
		cfunc("Kernel#loop"),
		ruby("Parser#parse", "lib/parser.rb", 50),
		{.kind = RCORE_FRAME_BROKEN,
		 .problem = "iseq 0x10: unmapped (16 bytes)",
		 .native_label = "?",
		 .cfp = 0x7f0000001100},
		{.kind = RCORE_FRAME_IFUNC, .label = "Enumerator#each", .native_label = "each"},
		{.kind = RCORE_FRAME_DUMMY, .cfp = 0x7f0000001fff},
	};
	struct rcore_frame main_frames[] = {
		cfunc("Fiber#resume"),
		ruby("block in <main>", "app.rb", 31),
		cfunc("Array#each"),
		ruby("<main>", "app.rb", 31),
	};
	main_frames[1].under_construction = true;
	struct rcore_thread *thread = add_thread(snapshot, "T1", 1234, 64);
	thread->is_main = thread->is_crashed = true;
	thread->gvl = RCORE_GVL_HOLDER;
	thread->ractor = 0;
	struct rcore_fiber *root = add_fiber(snapshot, 0, RCORE_FIBER_RESUMED);
	set_frames(snapshot, root, main_frames, 4);
	root->resuming = 1;
	struct rcore_fiber *current = add_fiber(snapshot, 0, RCORE_FIBER_RESUMED);
	set_frames(snapshot, current, parser, 7);
	current->is_current = true;
	current->resumed_by = 0;
	thread->current_fiber = 1;
	snapshot->cause = (struct rcore_cause){
		.present = true,
		.signo = 6,
		.code = -6,
		.sender_pid = 1234,
		.original_signo = 11,
		.original_code = 1,
		.has_original_address = true,
		.original_address = 0x28,
		.tid = 1234,
		.thread = 0,
		.fiber = 1,
		.text = "Killed by SIGSEGV: no memory at address 0x28 (SEGV_MAPERR), in "
			"thread T1, fiber T1.F1; Ruby then ended with SIGABRT",
	};
	for (int i = 0; i < 30; i++)
		add_fiber(snapshot, 0, RCORE_FIBER_CREATED);
	struct rcore_frame parked[] = {
		cfunc("Fiber.yield"),
		ruby("Async::Task#yield", "<internal:kernel>", 7),
		ruby("block in Async::Task#run", "async/task.rb", 163),
	};
	for (int i = 0; i < 25; i++)
		set_frames(snapshot, add_fiber(snapshot, 0, RCORE_FIBER_SUSPENDED), parked, 3);
	struct rcore_frame alone = ruby("block in <main>", "app.rb", 9);
	set_frames(snapshot, add_fiber(snapshot, 0, RCORE_FIBER_SUSPENDED), &alone, 1);
	add_fiber(snapshot, 0, RCORE_FIBER_TERMINATED);
}

static void add_other_threads(struct rcore_snapshot *snapshot)
{
	struct rcore_thread *sleeper = add_thread(snapshot, "T2", 1240, 8);
	sleeper->name = "puma srv \033[31mtp\xff 001";
	sleeper->status = RCORE_THREAD_STOPPED_FOREVER;
	sleeper->gvl = RCORE_GVL_RELEASED;
	sleeper->ractor = 1;
	struct rcore_fiber *root = add_fiber(snapshot, 1, RCORE_FIBER_RESUMED);
	struct rcore_frame frames[] = {
		cfunc("Thread::Queue#pop"),
		ruby("Caf\xc3\xa9#\xe2\x80\xaeserve", "/srv/caf\xe9/pool.rb\n", 120),
	};
	set_frames(snapshot, root, frames, 2);
	root->is_current = true;
	sleeper->current_fiber = (int)snapshot->fiber_count - 1;
	struct rcore_fiber *broken = add_fiber(snapshot, 1, RCORE_FIBER_STATUS_UNKNOWN);
	broken->problem =
		"fiber at 0x7f100003c000: its saved EC cannot be read: not saved in the "
		"core";

	struct rcore_thread *starting = add_thread(snapshot, "T3", 0, 8);
	starting->gvl = RCORE_GVL_WAITING;
	starting->ractor = 1;
	starting->problem = "thread at 0x7f3000003000: ec is 0";

	struct rcore_thread *ended = add_thread(snapshot, "E1", 0, 8);
	ended->is_ended = true;
	ended->status = RCORE_THREAD_KILLED;
	ended->name = "worker";
	struct rcore_frame left = ruby("block in Worker#work", "worker.rb", 4);
	for (int i = 0; i < 2; i++)
		set_frames(snapshot, add_fiber(snapshot, 3, RCORE_FIBER_SUSPENDED), &left, 1);
	struct rcore_fiber *orphan = &snapshot->fibers[snapshot->fiber_count++];
	*orphan = (struct rcore_fiber){
		.id = "E.F0",
		.status = RCORE_FIBER_SUSPENDED,
		.resumed_by = -1,
		.resuming = -1,
		.thread = -1,
		.group = -1,
		.address = 0x7f1000777000,
		.problem = "its thread cannot be read",
	};
}

void rcore_test_rich(struct rcore_snapshot *snapshot)
{
	static int first[] = {0}, second[] = {1, 2};
	static struct rcore_ractor ractors[] = {
		{.id = 1, .address = 0x7f5000000000, .threads = first, .thread_count = 1},
		{.id = 2,
		 .address = 0x7f5000001000,
		 .name = "crawler",
		 .threads = second,
		 .thread_count = 2},
	};
	static struct rcore_other_thread others[] = {
		{.tid = 1235}, {.tid = 1236, .native_problem = "its stack was not saved"}};
	static struct rcore_proof proofs[] = {
		{"vm.main_thread", "vm->main_thread->vm == vm", true, NULL, 0, false},
		{"fiber.stack", "stack_pointer is inside stack", false,
		 "fiber 0x7f1000000000: stack_pointer 0x0", 1, false},
	};
	static struct rcore_module_info modules[] = {
		{.path = "/usr/lib/x86_64-linux-gnu/libruby-3.3.so.3.3.8",
		 .file = "/srv/image/usr/lib/x86_64-linux-gnu/libruby-3.3.so.3.3.8",
		 .start = 0x7f6000000000,
		 .end = 0x7f6000400000,
		 .build_id = "a1b2c3",
		 .status = "found",
		 .debug_file = "/usr/lib/debug/.build-id/a1/b2c3.debug",
		 .is_ruby = true},
		{.path = "/srv/ext.so",
		 .file = "/srv/ext.so",
		 .start = 0x7f7000000000,
		 .end = 0x7f7000004000,
		 .build_id = "0102",
		 .file_build_id = "0304",
		 .status = "wrong build",
		 .lost = "constants of its own",
		 .fix = "copy the one with build-id 0102, and pass --sysroot DIR"},
		{.path = "/srv/gone.so", .status = "missing", .lost = "constants of its own"},
	};
	static const char *problems[] = {"core.1234 is truncated: 4096 of 8192 bytes"};

	start(snapshot, 8, 80);
	snapshot->layout_source = "approximate";
	snapshot->ractors = ractors;
	snapshot->ractor_count = 2;
	snapshot->others = others;
	snapshot->other_count = 2;
	snapshot->proofs = proofs;
	snapshot->proof_count = 2;
	snapshot->modules = modules;
	snapshot->module_count = 3;
	snapshot->problems = problems;
	snapshot->problem_count = 1;
	snapshot->incomplete = true;
	add_main_thread(snapshot);
	add_other_threads(snapshot);
	rcore_error_free(rcore_snapshot_group(snapshot, false));
}

void rcore_test_deep(struct rcore_snapshot *snapshot, size_t depth, size_t period)
{
	start(snapshot, 1, 1);
	add_thread(snapshot, "T1", 1234, 1)->is_main = true;
	struct rcore_fiber *fiber = add_fiber(snapshot, 0, RCORE_FIBER_RESUMED);
	fiber->is_current = true;
	snapshot->threads[0].current_fiber = 0;
	fiber->frames = rcore_arena_alloc(&snapshot->arena, depth * sizeof(*fiber->frames));
	fiber->frame_count = depth;
	for (size_t i = 0; i < depth; i++)
		fiber->frames[i] =
			ruby(rcore_arena_printf(&snapshot->arena, "Object#m%zu", i % period),
			     "deep.rb", (int)(i % period) + 1);
	if (depth)
		fiber->frames[depth - 1] = ruby("<main>", "deep.rb", 99);
}

void rcore_test_parked(struct rcore_snapshot *snapshot, size_t count, size_t depth)
{
	start(snapshot, 1, count + 1);
	add_thread(snapshot, "T1", 1234, count + 1)->is_main = true;
	struct rcore_frame *frames =
		rcore_arena_alloc(&snapshot->arena, (depth + 1) * sizeof(*frames));
	for (size_t i = 0; i < depth; i++)
		frames[i] = ruby(rcore_arena_printf(&snapshot->arena, "Task#step%zu", i),
				 "/srv/app/task.rb", (int)i + 1);
	add_fiber(snapshot, 0, RCORE_FIBER_RESUMED)->is_current = true;
	for (size_t i = 0; i < count; i++) {
		struct rcore_fiber *fiber = add_fiber(snapshot, 0, RCORE_FIBER_SUSPENDED);
		fiber->frames = frames;
		fiber->frame_count = depth;
	}
	rcore_error_free(rcore_snapshot_group(snapshot, false));
}

void rcore_test_woven(struct rcore_snapshot *snapshot)
{
	static const struct rcore_frame frames[] = {
		{.kind = RCORE_FRAME_CFUNC,
		 .label = "PG::Connection#exec",
		 .cfunc = 0x7f0000002000},
		{.kind = RCORE_FRAME_RUBY, .label = "Row.find", .path = "row.rb", .line = 7},
		{.kind = RCORE_FRAME_RUBY, .label = "<main>", .path = "app.rb", .line = 1},
	};
	static const struct rcore_native_frame native[] = {
		{.pc = 0x7f0000001010,
		 .function = "raise",
		 .function_offset = 16,
		 .module = "libc.so.6",
		 .file = "../sysdeps/posix/raise.c",
		 .line = 26},
		{.pc = 0x7f0000001100, .module = "libc.so.6", .is_signal = true},
		{.pc = 0x7f0000002030,
		 .function = "inlined\x1b[31m",
		 .module = "pg_ext.so",
		 .gem = "pg-1.5.4",
		 .is_inlined = true,
		 .trust = RCORE_TRUST_CFI},
		{.pc = 0x7f0000002030,
		 .function_start = 0x7f0000002000,
		 .function = "pgconn_exec",
		 .function_offset = 48,
		 .module = "pg_ext.so",
		 .gem = "pg-1.5.4",
		 .trust = RCORE_TRUST_CFI},
		{.pc = 0x7f0000003000,
		 .module = "libruby.so.3.4",
		 .module_offset = 0x3000,
		 .is_interpreter = true,
		 .trust = RCORE_TRUST_CFI},
		{.pc = 0x7f0000003100,
		 .module = "libruby.so.3.4",
		 .module_offset = 0x3100,
		 .is_interpreter = true,
		 .trust = RCORE_TRUST_CFI},
		{.pc = 0x7f0000009000, .trust = RCORE_TRUST_NO_CFI},
		{.pc = 0x7f0000004000, .module = "libc.so.6", .trust = RCORE_TRUST_SCANNED},
	};
	static const struct rcore_step steps[] = {
		{RCORE_STEP_NATIVE, 0, NULL}, {RCORE_STEP_NATIVE, 1, NULL},
		{RCORE_STEP_NATIVE, 2, NULL}, {RCORE_STEP_NATIVE, 3, NULL},
		{RCORE_STEP_RUBY, 0, NULL},   {RCORE_STEP_NATIVE, 4, NULL},
		{RCORE_STEP_NATIVE, 5, NULL}, {RCORE_STEP_RUBY, 1, NULL},
		{RCORE_STEP_NATIVE, 6, NULL}, {RCORE_STEP_GAP, 0, "cannot be matched"},
		{RCORE_STEP_RUBY, 2, NULL},   {RCORE_STEP_NATIVE, 7, NULL},
	};
	rcore_test_deep(snapshot, 0, 1);
	struct rcore_fiber *fiber = &snapshot->fibers[0];
	set_frames(snapshot, fiber, frames, RCORE_COUNT(frames));
	fiber->native = rcore_arena_alloc(&snapshot->arena, sizeof(native));
	fiber->steps = rcore_arena_alloc(&snapshot->arena, sizeof(steps));
	memcpy(fiber->native, native, sizeof(native));
	memcpy(fiber->steps, steps, sizeof(steps));
	fiber->native_count = RCORE_COUNT(native);
	fiber->step_count = RCORE_COUNT(steps);
	fiber->native_problem = "the stack ends before its bottom";
	snapshot->activation = (struct rcore_activation){RCORE_ACTIVATION_CODE, 0x7f0000003000};
}

void rcore_test_hostile(struct rcore_snapshot *snapshot)
{
	const struct rcore_frame frames[] = {
		cfunc("Evil#\x1b[31m]]></failure><script>"),
		ruby("</details><img src=x onerror=alert(1)> @everyone #1 [x](y) | `a`",
		     "a,b:c%0A::error::x\n::stop-commands::t/```` & <\"'>.rb", 7),
		ruby("\xff\xfe invalid \xe2\x80\xae", "lib/\u00e4 b.rb", 8),
		ruby("<main>", "main.rb", 9),
	};
	rcore_test_deep(snapshot, 1, 1);
	snapshot->arguments = "ruby ]]>&<";
	snapshot->threads[0].name = "</summary>```\n# x";
	snapshot->pid = 1234;
	snapshot->deployment = (struct rcore_deployment){
		.time = 1795424712,
		.time_source = "file",
		.host = "\xff'; DROP TABLE crashes; --",
		.host_source = "environment",
		.service = "</script>\x1b[31m",
		.release = "1\t2\n3",
	};
	set_frames(snapshot, &snapshot->fibers[0], frames, RCORE_COUNT(frames));
	snapshot->cause =
		(struct rcore_cause){.present = true, .signo = 11, .text = "Killed by SIGSEGV"};
	struct rcore_crash_stack stack;
	struct rcore_error *err = rcore_crash_stack_init(snapshot, &stack);
	if (!err)
		err = rcore_blame_find(&stack, snapshot);
	if (!err)
		err = rcore_signature_find(&stack, snapshot);
	rcore_crash_stack_deinit(&stack);
	rcore_error_free(err);
}
