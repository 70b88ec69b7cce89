/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "fake_values.h"
#include "proof/field_check.h"
#include "proof/shift.h"
#include "session/layout/trial.h"
#include "ruby/iseq/frame_flags.h"
#include "vm_suite.h"

static struct rcore_arena arena;
static struct rcore_layout layout; /* what rcore assumes */
static struct rcore_ruby ruby;

/* Adds a machine stack for a running thread, with its exception handler. */
static void put_machine_stack(uint64_t thread)
{
	enum { SIZE = 4096 };
	struct fake_vm *vm = &world.vm;
	uint64_t fiber = fake_current_fiber(vm, thread);
	uint64_t ec = FAKE_GET(vm, thread, thread, ec);
	uint64_t stack = fake_alloc(&vm->ruby.target, SIZE, 16);
	FAKE_PUT(vm, ec, ec, machine_stack_start, stack + SIZE);
	FAKE_PUT(vm, ec, ec, machine_stack_maxsize, SIZE);
	if (FAKE_GET(vm, fiber, fiber, stack_base)) {
		FAKE_PUT(vm, fiber, fiber, stack_base, stack);
		FAKE_PUT(vm, fiber, fiber, stack_size, SIZE);
	}
	FAKE_PUT(vm, ec, ec, tag, stack + 64);
	FAKE_PUT(vm, fiber, fiber, status, RCORE_FIBER_RESUMED);
	if (FAKE_GET(vm, thread, thread, blocking_region_buffer))
		FAKE_PUT(vm, thread, thread, blocking_region_buffer, stack + 128);
}

/* Creates the world of the other tests, with the other parts of a VM. */
static void begin(int index)
{
	world_begin(index);
	struct fake_vm *vm = &world.vm;
	layout = vm->ruby.layout;
	FAKE_PUT(vm, vm->slot, basic, flags, RCORE_T_STRING);
	put_machine_stack(vm->main_thread);
	put_machine_stack(world.sleeper);
	put_machine_stack(world.other);
	if (rcore_has(&layout.vm.loaded_features)) {
		uint64_t features = fake_object(&vm->ruby, RCORE_T_ARRAY, 40);
		FAKE_PUT(vm, features, basic, klass, fake_object(&vm->ruby, RCORE_T_CLASS, 40));
		FAKE_PUT(vm, vm->address, vm, loaded_features, features);
	}
	if (vm->ractor) {
		FAKE_PUT(vm, vm->ractor, ractor, status, 1);
		FAKE_PUT(vm, vm->ractor, ractor, running_ec,
			 FAKE_GET(vm, vm->main_thread, thread, ec));
	}
	rcore_ruby_init(&ruby, &vm->ruby.target.memory, &layout, &arena);
	rcore_ruby_set_vm(&ruby, vm->address);
	ruby.global_symbols = vm->ruby.symbols;
}

static void finish(void)
{
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
}

static enum rcore_verdict verdict(const struct rcore_item *item)
{
	struct rcore_samples samples;
	rcore_samples_take(&ruby, &world.process, world.vm.address, &samples);
	return rcore_check_field(&samples, rcore_check_row(item->where));
}

static const struct rcore_item *item_of(const char *group, const char *id)
{
	for (size_t i = 0; i < rcore_item_count; i++)
		if (rcore_items[i].kind == RCORE_ITEM_FIELD &&
		    !strcmp(rcore_items[i].group, group) && !strcmp(rcore_items[i].id, id))
			return &rcore_items[i];
	ck_abort_msg("no %s.%s", group, id);
}

/* The block of a Proc, whose type is written last. */
START_TEST(test_filled_block)
{
	enum { ISEQ, IFUNC, SYMBOL, PROC, ORIG_RAX = 15, REGISTERS = 27 };
	begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_check_row *row = rcore_check_row(item_of("block", "code")->where);
	uint64_t freed = fake_alloc(&vm->ruby.target, 64, 8);
	uint64_t block = freed + (uint64_t)layout.proc.block.offset;
	uint64_t imemo = fake_object(&vm->ruby, RCORE_T_IMEMO, 40);
	const struct {
		uint64_t type, code;
		enum rcore_verdict verdict;
	} states[] = {
		{ISEQ, 0, RCORE_SILENT},         {ISEQ, imemo, RCORE_SILENT},
		{ISEQ, 0x10, RCORE_FAILS},       {ISEQ, vm->slot, RCORE_FAILS},
		{ISEQ, world.main, RCORE_HOLDS}, {IFUNC, imemo, RCORE_HOLDS},
		{IFUNC, 0, RCORE_FAILS},         {PROC + 1, imemo, RCORE_FAILS},
	};
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		struct rcore_samples samples = {.ruby = &ruby};
		rcore_samples_add(&samples.block, block);
		FAKE_PUT(vm, block, block, code, states[i].code);
		FAKE_PUT(vm, block, block, type, states[i].type);
		ck_assert_int_eq(rcore_check_field(&samples, row), states[i].verdict);
	}
	/*
	 * rb_data_typed_object_wrap() writes the type of an object before its data:
	 * until then, a new Proc points to what the slot's previous object had.
	 */
	struct rcore_native_thread *thread = &world.native[0];
	struct rcore_samples samples = {.ruby = &ruby, .process = &world.process};
	rcore_samples_add(&samples.block, block);
	thread->has_registers = true;
	thread->register_count = REGISTERS;
	thread->registers[ORIG_RAX] = UINT64_MAX;
	thread->registers[0] = fake_data(vm, vm->fiber_type, world.parked);
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	thread->registers[0] = fake_data(vm, fake_data_type(vm, "proc"), freed);
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	finish();
}
END_TEST

/* The check is silent if the table of generic instance variables cannot be read. */
START_TEST(test_growing_table)
{
	begin(_i);
	struct fake_ruby *fake = &world.vm.ruby;
	/* This world has no list of shapes. */
	if (!rcore_has(&layout.gen_ivtbl.ivptr) || layout.traits.shapes) {
		finish();
		return;
	}
	const struct rcore_check_row *row =
		rcore_check_row(item_of("gen_ivtbl", "ivptr")->where);
	struct rcore_samples samples = {.ruby = &ruby};
	uint64_t entry = fake->statics + 8, record, table = 0;
	uint64_t object = fake_instance(fake, fake_string(fake, "text"),
					fake_named_class(fake, "Text", 0));
	const struct fake_ivar ivar = {fake_id(fake, "name"), FAKE_FIXNUM(1)};
	fake_set_ivars(fake, object, FAKE_IVAR_HEAP, &ivar, 1);
	fake_put_generic_ivars(fake);
	record = fake->generic[fake->generic_count - 1][1];
	rcore_samples_add(&samples.generic, object);
	ruby.statics.generic_ivars = entry;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_HOLDS);
	rcore_read_u64(&fake->target.memory, entry, &table);
	fake_put(&fake->target, entry, fake_object(fake, RCORE_T_NONE, 40));
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	fake_put(&fake->target, entry, table);
	fake_put(&fake->target, record + (uint64_t)layout.gen_ivtbl.ivptr.offset, 0x1230);
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	finish();
}
END_TEST

/*
 * A queue whose waiters come and go, and threads that have not begun or have
 * ended.
 */
START_TEST(test_moments)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_item *start = item_of("ec", "machine_stack_start"),
				*size = item_of("ec", "machine_stack_maxsize"),
				*status = item_of("fiber", "status"),
				*count = item_of("queue", "num_waiting");
	/* The main thread has its bounds, so the other two decide. */
	const uint64_t new[] = {world.sleeper, world.other};
	for (size_t i = 0; i < 2; i++) {
		uint64_t ec = FAKE_GET(vm, new[i], thread, ec);
		FAKE_PUT(vm, ec, ec, machine_stack_start, 0);
		FAKE_PUT(vm, ec, ec, machine_stack_maxsize, 0);
		FAKE_PUT(vm, ec, ec, tag, 0);
		FAKE_PUT(vm, ec, ec, cfp,
			 FAKE_GET(vm, ec, ec, vm_stack) +
				 FAKE_GET(vm, ec, ec, vm_stack_size) * 8 - layout.cfp.size);
	}
	ck_assert_int_ne(verdict(start), RCORE_FAILS);
	ck_assert_int_ne(verdict(size), RCORE_FAILS);
	/* Before it gets its first frame. */
	for (size_t i = 0; i < 2; i++) {
		uint64_t ec = FAKE_GET(vm, new[i], thread, ec);
		uint64_t cfp = FAKE_GET(vm, ec, ec, cfp);
		FAKE_PUT(vm, ec, ec, cfp, 0);
		ck_assert_int_ne(verdict(start), RCORE_FAILS);
		ck_assert_int_ne(verdict(size), RCORE_FAILS);
		FAKE_PUT(vm, ec, ec, cfp, cfp);
	}
	for (size_t i = 0; i < 2; i++)
		FAKE_PUT(vm, FAKE_GET(vm, new[i], thread, ec), ec, machine_stack_maxsize,
			 2097152 - 2097152 / 5);
	ck_assert_int_ne(verdict(size), RCORE_FAILS);
	for (size_t i = 0; i < 2; i++)
		fake_push(vm, fake_current_fiber(vm, new[i]),
			  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD |
							RCORE_ENV_LOCAL,
					       .iseq = world.run,
					       .me_cref = world.run_method});
	ck_assert_int_eq(verdict(start), RCORE_FAILS);
	ck_assert_int_eq(verdict(size), RCORE_FAILS);
	for (size_t i = 0; i < 2; i++) {
		FAKE_PUT(vm, new[i], thread, status, RCORE_THREAD_KILLED);
		FAKE_PUT(vm, fake_current_fiber(vm, new[i]), fiber, status,
			 RCORE_FIBER_TERMINATED);
	}
	ck_assert_int_ne(verdict(start), RCORE_FAILS);
	ck_assert_int_eq(verdict(status), RCORE_HOLDS);

	uint64_t queue = fake_alloc(&vm->ruby.target, layout.queue.size, 8);
	uint64_t head = queue + (uint64_t)layout.queue.waitq.offset;
	uint64_t nodes[] = {fake_alloc(&vm->ruby.target, 16, 8),
			    fake_alloc(&vm->ruby.target, 16, 8)};
	static const struct {
		uint64_t counted;
		enum rcore_verdict verdict;
	} counts[] = {{2, RCORE_HOLDS},  {3, RCORE_SILENT}, {20, RCORE_SILENT},
		      {1, RCORE_SILENT}, {0, RCORE_FAILS},  {UINT32_MAX, RCORE_FAILS}};
	fake_list_init(vm, head);
	fake_list_add(vm, head, nodes[0]);
	fake_list_add(vm, head, nodes[1]);
	for (size_t i = 0; i < RCORE_COUNT(counts); i++) {
		struct rcore_samples samples;
		FAKE_PUT(vm, queue, queue, num_waiting, counts[i].counted);
		rcore_samples_take(&ruby, &world.process, vm->address, &samples);
		rcore_samples_add(&samples.queue, queue);
		ck_assert_msg(rcore_check_field(&samples, rcore_check_row(count->where)) ==
				      counts[i].verdict,
			      "%" PRIu64 " waiting", counts[i].counted);
	}
	finish();
}
END_TEST

/*
 * Nobody owns a mutex that is being unlocked while it is still on its thread's
 * list.
 */
START_TEST(test_unlocking)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_item *keeping = item_of("thread", "keeping_mutexes");
	uint64_t mutex = fake_alloc(&vm->ruby.target, layout.mutex.size, 8);
	uint64_t waitq = mutex + (uint64_t)layout.mutex.waitq.offset;
	fake_list_init(vm, waitq);
	FAKE_PUT(vm, world.sleeper, thread, keeping_mutexes, mutex);
	ck_assert_int_eq(verdict(keeping), RCORE_SILENT);
	fake_put(&vm->ruby.target, waitq, 8);
	ck_assert_int_eq(verdict(keeping), RCORE_FAILS);
	finish();
}
END_TEST

/* fiber_prepare_stack() copies the bounds of a stack into a fiber that is not entered yet. */
START_TEST(test_stack_being_copied)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_check_row *row =
		rcore_check_row(item_of("fiber", "stack_available")->where);
	static const struct {
		uint64_t size, available;
		enum rcore_fiber_status status;
		enum rcore_verdict verdict;
	} states[] = {
		{4096, 4096, RCORE_FIBER_CREATED, RCORE_HOLDS},
		{0, 0, RCORE_FIBER_CREATED, RCORE_SILENT},
		{4096, 0, RCORE_FIBER_CREATED, RCORE_SILENT},
		{4096, 0, RCORE_FIBER_SUSPENDED, RCORE_FAILS},
		{4096, 8192, RCORE_FIBER_RESUMED, RCORE_FAILS},
	};
	struct rcore_samples samples = {.ruby = &ruby};
	rcore_samples_add(&samples.parked, world.created);
	FAKE_PUT(vm, world.created, fiber, stack_base, 0x7f0000000000);
	for (size_t i = 0;
	     rcore_has_place(&layout.fiber.stack_available) && i < RCORE_COUNT(states); i++) {
		FAKE_PUT(vm, world.created, fiber, stack_size, states[i].size);
		FAKE_PUT(vm, world.created, fiber, stack_available, states[i].available);
		FAKE_PUT(vm, world.created, fiber, status, states[i].status);
		ck_assert_int_eq(rcore_check_field(&samples, row), states[i].verdict);
	}
	finish();
}
END_TEST

/* thread_join() links the waiter in its frame before it has written all of it. */
START_TEST(test_half_written)
{
	enum { RAX = 10, ORIG_RAX = 15, RSP = 19, REGISTERS = 27, EINTERNAL = 512 };
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_native_thread *thread = &world.native[0];
	struct rcore_samples samples = {.ruby = &ruby, .process = &world.process};
	const struct rcore_check_row *row =
		rcore_check_row(item_of("join_waiter", "fiber")->where);
	uint64_t waiter = fake_alloc(&vm->ruby.target, layout.join_waiter.size, 8);
	if (!rcore_has_place(&layout.join_waiter.fiber))
		return finish();
	rcore_samples_add(&samples.join_waiter, waiter);
	FAKE_PUT(vm, waiter, join_waiter, fiber, 8);
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	thread->has_registers = true;
	thread->register_count = REGISTERS;
	thread->registers[RSP] = waiter - 64;
	thread->registers[ORIG_RAX] = UINT64_MAX;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	/* An object that it has in a register, or in its frames. */
	thread->registers[RSP] = vm->address;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	thread->registers[0] = waiter;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	/* An object whose struct is in its own slot. */
	thread->registers[0] = waiter - (uint64_t)layout.data.data.offset;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	thread->registers[0] = 0;
	thread->registers[RSP] = fake_alloc(&vm->ruby.target, 4096, 8);
	fake_put(&vm->ruby.target, thread->registers[RSP] + 80, waiter);
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_SILENT);
	/* In a system call it is written. */
	thread->registers[ORIG_RAX] = 0;
	thread->registers[RAX] = (uint64_t)-EINTERNAL;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	finish();
}
END_TEST

/* What each running thread always has in its registers is not being made. */
START_TEST(test_always_at_hand)
{
	enum { RBX = 5, ORIG_RAX = 15, RSP = 19, REGISTERS = 27 };
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_native_thread *thread = &world.native[0];
	struct rcore_samples samples = {.ruby = &ruby, .process = &world.process};
	const struct rcore_check_row *row = rcore_check_row(item_of("thread", "vm")->where);
	rcore_samples_add(&samples.thread, world.sleeper);
	FAKE_PUT(vm, world.sleeper, thread, vm, 8);
	thread->has_registers = true;
	thread->register_count = REGISTERS;
	thread->registers[ORIG_RAX] = UINT64_MAX;
	thread->registers[RBX] = world.sleeper;
	thread->registers[RSP] = vm->address;
	ck_assert_int_eq(rcore_check_field(&samples, row), RCORE_FAILS);
	finish();
}
END_TEST

static size_t count_ios(void)
{
	struct rcore_samples samples;
	rcore_samples_take(&ruby, &world.process, world.vm.address, &samples);
	rcore_samples_take_heap(&samples);
	return samples.io.count;
}

/* A File that is being made has the words of what was in its slot before; one that is
 * swept, a page at a time, may refer to what is freed already; also if during_gc is unknown. */
START_TEST(test_file)
{
	enum { RBX = 5, ORIG_RAX = 15, REGISTERS = 27, SWEEPING = 2 };
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_native_thread *thread = &world.native[0];
	uint64_t file = fake_data(vm, vm->thread_type, 0);
	FAKE_PUT(vm, file, basic, flags, RCORE_T_FILE);
	FAKE_PUT(vm, file, file, fptr, vm->address);
	ck_assert_uint_eq(count_ios(), 1);
	thread->has_registers = true;
	thread->register_count = REGISTERS;
	thread->registers[ORIG_RAX] = UINT64_MAX;
	thread->registers[RBX] = file;
	ck_assert_uint_eq(count_ios(), 0);
	thread->registers[RBX] = 0;
	if (!rcore_has_place(&layout.heap_page.mark_bits))
		return finish();
	FAKE_PUT(vm, vm->objspace, objspace, gc_mode, SWEEPING);
	ck_assert_uint_eq(count_ios(), 1);
	FAKE_PUT(vm, vm->objspace, objspace, during_gc, 1);
	ck_assert_uint_eq(count_ios(), 0);
	layout.objspace.during_gc.offset += 1 << 30;
	ck_assert_uint_eq(count_ios(), 0);
	finish();
}
END_TEST

static enum rcore_verdict verdict_on(const struct rcore_samples *samples, const char *group,
				     const char *id)
{
	return rcore_check_field(samples, rcore_check_row(item_of(group, id)->where));
}

/* While Ruby ends it frees T_DATA that others still refer to. */
START_TEST(test_freed_data)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_samples samples = {.ruby = &ruby};
	uint64_t proc = fake_object(&vm->ruby, RCORE_T_DATA, 40);
	static const struct {
		enum rcore_type type;
		enum rcore_verdict alive, ending;
	} states[] = {{RCORE_T_DATA, RCORE_HOLDS, RCORE_HOLDS},
		      {RCORE_T_NONE, RCORE_FAILS, RCORE_SILENT},
		      {RCORE_T_ZOMBIE, RCORE_FAILS, RCORE_SILENT},
		      {RCORE_T_STRING, RCORE_FAILS, RCORE_FAILS}};
	rcore_samples_add(&samples.thread, vm->main_thread);
	rcore_samples_add(&samples.parked, world.parked);
	FAKE_PUT(vm, world.parked, fiber, first_proc, proc);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		FAKE_PUT(vm, proc, basic, flags, states[i].type);
		FAKE_PUT(vm, vm->main_thread, thread, status, RCORE_THREAD_RUNNABLE);
		ck_assert_int_eq(verdict_on(&samples, "fiber", "first_proc"), states[i].alive);
		FAKE_PUT(vm, vm->main_thread, thread, status, RCORE_THREAD_KILLED);
		ck_assert_int_eq(verdict_on(&samples, "fiber", "first_proc"), states[i].ending);
	}
	finish();
}
END_TEST

/* What an object has not got: an UnboundMethod no receiver, a MatchData no groups. */
START_TEST(test_without)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_samples samples = {.ruby = &ruby};
	uint64_t method = fake_alloc(&vm->ruby.target, layout.method.size, 8);
	uint64_t groups = fake_alloc(&vm->ruby.target, layout.rmatch.size, 8);
	uint64_t begins = fake_alloc(&vm->ruby.target, 8, 8);
	uint64_t ends = fake_alloc(&vm->ruby.target, 8, 8);
	static const struct {
		uint64_t begin, end;
		enum rcore_verdict verdict;
	} matches[] = {{UINT64_MAX, UINT64_MAX, RCORE_SILENT},
		       {2, 5, RCORE_HOLDS},
		       {5, 2, RCORE_FAILS}};
	rcore_samples_add(&samples.method, method);
	FAKE_PUT(vm, method, method, recv, (uint64_t)layout.constant.qundef);
	ck_assert_int_eq(verdict_on(&samples, "method", "recv"), RCORE_SILENT);
	FAKE_PUT(vm, method, method, recv, vm->address + 4);
	ck_assert_int_eq(verdict_on(&samples, "method", "recv"), RCORE_FAILS);

	rcore_samples_add(&samples.rmatch, groups);
	ck_assert_int_eq(verdict_on(&samples, "rmatch", "beg"), RCORE_SILENT);
	FAKE_PUT(vm, groups, rmatch, num_regs, 1);
	ck_assert_int_eq(verdict_on(&samples, "rmatch", "beg"), RCORE_FAILS);
	FAKE_PUT(vm, groups, rmatch, beg, begins);
	FAKE_PUT(vm, groups, rmatch, end, ends);
	for (size_t i = 0; i < RCORE_COUNT(matches); i++) {
		fake_put(&vm->ruby.target, begins, matches[i].begin);
		fake_put(&vm->ruby.target, ends, matches[i].end);
		ck_assert_int_eq(verdict_on(&samples, "rmatch", "beg"), matches[i].verdict);
	}
	finish();
}
END_TEST

/* A node is on its list as long as one of its neighbours points to it. */
START_TEST(test_node)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_samples samples;
	const struct rcore_check_row *row =
		rcore_check_row(item_of("sync_waiter", "node")->where);
	static const struct {
		bool leads_on, leads_back;
		enum rcore_verdict verdict;
	} states[] = {{true, true, RCORE_HOLDS},
		      {true, false, RCORE_SILENT},
		      {false, true, RCORE_SILENT},
		      {false, false, RCORE_FAILS}};
	uint64_t head = fake_alloc(&vm->ruby.target, 16, 8);
	uint64_t waiter = fake_alloc(&vm->ruby.target, layout.sync_waiter.size, 8);
	uint64_t node = waiter + (uint64_t)layout.sync_waiter.node.offset;
	fake_put(&vm->ruby.target, node, head);
	fake_put(&vm->ruby.target, node + 8, head);
	rcore_samples_take(&ruby, &world.process, vm->address, &samples);
	rcore_samples_add(&samples.sync_waiter, waiter);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		fake_put(&vm->ruby.target, head, states[i].leads_on ? node : head);
		fake_put(&vm->ruby.target, head + 8, states[i].leads_back ? node : head);
		ck_assert_int_eq(rcore_check_field(&samples, row), states[i].verdict);
	}
	finish();
}
END_TEST

/* A thread that enters or leaves the queue of those that can run. */
START_TEST(test_queued)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	struct fake_target *target = &vm->ruby.target;
	const struct rcore_item *item = item_of("thread", "readyq_node");
	if (!rcore_has(&layout.thread.readyq_node))
		return finish();
	uint64_t node = world.sleeper + (uint64_t)layout.thread.readyq_node.offset;
	uint64_t head = fake_alloc(target, 16, 8), other = fake_alloc(target, 16, 8);
	fake_list_init(vm, head);
	fake_list_add(vm, head, other);
	ck_assert_int_ne(verdict(item), RCORE_FAILS);
	/*
	 * It points to its neighbours; first none points to it, then one does.
	 */
	fake_put(target, node, head);
	fake_put(target, node + 8, other);
	ck_assert_int_ne(verdict(item), RCORE_FAILS);
	fake_put(target, other, node);
	ck_assert_int_ne(verdict(item), RCORE_FAILS);
	fake_put(target, head + 8, node);
	ck_assert_int_eq(verdict(item), RCORE_HOLDS);
	fake_put(target, other + 8, 8);
	ck_assert_int_eq(verdict(item), RCORE_FAILS);
	finish();
}
END_TEST

/*
 * The outermost handler of a thread is above its VM stack, in the frame that
 * reserved the stack.
 */
START_TEST(test_outermost_tag)
{
	begin(_i);
	struct fake_vm *vm = &world.vm;
	const uint64_t threads[] = {world.sleeper, world.other};
	static const struct {
		uint64_t above;
		bool fails;
	} tags[] = {{0x70, false}, {1 << 20, true}};
	for (size_t i = 0; i < RCORE_COUNT(tags); i++) {
		for (size_t j = 0; j < 2; j++) {
			uint64_t ec = FAKE_GET(vm, threads[j], thread, ec);
			FAKE_PUT(vm, ec, ec, tag,
				 FAKE_GET(vm, ec, ec, vm_stack) +
					 FAKE_GET(vm, ec, ec, vm_stack_size) * 8 +
					 tags[i].above);
		}
		ck_assert((verdict(item_of("ec", "tag")) == RCORE_FAILS) == tags[i].fails);
		ck_assert((verdict(item_of("ec", "machine_stack_start")) == RCORE_FAILS) ==
			  tags[i].fails);
	}
	finish();
}
END_TEST

START_TEST(test_rules)
{
	size_t held = 0;
	begin(_i);
	for (size_t i = 0; i < rcore_item_count; i++) {
		if (rcore_items[i].kind != RCORE_ITEM_FIELD)
			continue;
		enum rcore_verdict of = verdict(&rcore_items[i]);
		ck_assert_msg(of != RCORE_FAILS, "%s: %s.%s", layout.name, rcore_items[i].group,
			      rcore_items[i].id);
		held += of == RCORE_HOLDS;
	}
	ck_assert_uint_gt(held, 40);
	finish();
}
END_TEST

/* Moves the fields of a struct, from one field on. */
static void shift(const struct rcore_item *from, int by)
{
	int32_t first = rcore_item_field(&layout, from)->offset;
	for (size_t i = 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind == RCORE_ITEM_FIELD && !strcmp(item->group, from->group) &&
		    rcore_item_field(&layout, item)->offset >= first)
			rcore_item_field(&layout, item)->offset += by;
	}
}

static const struct {
	const char *group, *from;
} movable[] = {
	{"vm", "objspace"},   {"ractor", "running_ec"}, {"thread", "name"},
	{"thread", "status"}, {"fiber", "prev"},        {"ec", "machine_stack_start"},
};

/*
 * As if the target were of a release that has a member more, or less, than the
 * layout.
 */
START_TEST(test_moved)
{
	static const int steps[] = {8, -8, 16};
	int noticed = 0;
	for (size_t m = 0; m < RCORE_COUNT(movable); m++) {
		for (size_t s = 0; s < RCORE_COUNT(steps); s++) {
			struct rcore_shift shifts[RCORE_SHIFT_COUNT];
			begin(_i);
			struct rcore_layout truth = layout;
			const struct rcore_item *from =
				item_of(movable[m].group, movable[m].from);
			if (!rcore_has(rcore_item_field(&layout, from))) {
				finish();
				continue;
			}
			shift(from, -steps[s]);
			bool is_noticed = verdict(from) == RCORE_FAILS;
			size_t count = rcore_shift_fields(&ruby, &world.process,
							  world.vm.address, &layout, shifts);
			noticed += is_noticed;
			if (is_noticed) {
				ck_assert_msg(count == 1, "%s: %s.%s by %d: %zu moved",
					      truth.name, movable[m].group, movable[m].from,
					      steps[s], count);
				ck_assert_str_eq(shifts[0].group, movable[m].group);
				ck_assert_int_eq(shifts[0].by, steps[s]);
				ck_assert_int_eq(rcore_item_field(&layout, from)->offset,
						 rcore_item_field(&truth, from)->offset);
			}
			finish();
			fake_vm_deinit(&world.vm);
			world.vm = (struct fake_vm){0};
		}
	}
	ck_assert_int_ge(noticed, 7);
	world_begin(_i);
}
END_TEST

/*
 * A garbage collector that was built with other members than those in the
 * table.
 */
START_TEST(test_objspace)
{
	static const int steps[] = {8, -8, 16};
	for (size_t i = 0; i < RCORE_COUNT(steps); i++) {
		struct rcore_shift found;
		begin(_i);
		const struct rcore_item *list = item_of("objspace", "heap_pages_sorted");
		struct rcore_layout truth = layout;
		shift(item_of("objspace", "gc_mode"), -steps[i]);
		ck_assert_int_eq(verdict(list), RCORE_FAILS);
		ck_assert(rcore_shift_objspace(&ruby, &world.process, world.vm.address, &layout,
					       &found));
		ck_assert_int_eq(found.by, steps[i]);
		ck_assert_int_eq(rcore_item_field(&layout, list)->offset,
				 rcore_item_field(&truth, list)->offset);
		ck_assert_int_eq(verdict(list), RCORE_HOLDS);
		/* No reason to move anything. */
		ck_assert(!rcore_shift_objspace(&ruby, &world.process, world.vm.address,
						&layout, &found));
		finish();
		fake_vm_deinit(&world.vm);
		world.vm = (struct fake_vm){0};
	}
	world_begin(_i);
}
END_TEST

static void try_as(struct rcore_trial *trial, enum rcore_layout_source source,
		   const char *failing, size_t missed)
{
	static const char *const names[] = {"vm", "thread", "symbols", "heap"};
	*trial = (struct rcore_trial){.count = 4, .location.layout.source = source};
	for (size_t i = 0; i < trial->count; i++) {
		trial->proofs[i] = (struct rcore_proof){
			.name = names[i],
			.passed = !failing || strcmp(failing, names[i]) != 0,
			.is_apart = i >= 2,
		};
		trial->passed += trial->proofs[i].passed;
	}
	trial->proofs[0].missed = missed;
}

/* Which of two layouts is chosen. */
START_TEST(test_choice)
{
	static const struct {
		enum rcore_layout_source source;
		const char *failing;
		size_t missed;
	} cases[][2] = {
		/*
		 * the first is preferred to the second, whichever comes first
		 */
		{{RCORE_LAYOUT_EXACT, "heap", 0}, {RCORE_LAYOUT_APPROXIMATE, NULL, 0}},
		{{RCORE_LAYOUT_EXACT, "symbols", 9}, {RCORE_LAYOUT_APPROXIMATE, NULL, 0}},
		{{RCORE_LAYOUT_DWARF, "heap", 0}, {RCORE_LAYOUT_EXACT, NULL, 0}},
		{{RCORE_LAYOUT_APPROXIMATE, NULL, 0}, {RCORE_LAYOUT_EXACT, "thread", 0}},
		{{RCORE_LAYOUT_EXACT, NULL, 0}, {RCORE_LAYOUT_EXACT, "heap", 0}},
		{{RCORE_LAYOUT_EXACT, NULL, 1}, {RCORE_LAYOUT_EXACT, NULL, 2}},
	};
	struct rcore_trial *trials = calloc(2, sizeof(*trials));
	ck_assert_ptr_nonnull(trials);
	for (size_t i = _i ? RCORE_COUNT(cases) : 0; i < RCORE_COUNT(cases); i++) {
		for (size_t j = 0; j < 2; j++)
			try_as(&trials[j], cases[i][j].source, cases[i][j].failing,
			       cases[i][j].missed);
		if (cases[i][0].source >= cases[i][1].source)
			ck_assert_msg(rcore_trial_is_better(&trials[0], &trials[1]), "case %zu",
				      i);
		if (cases[i][1].source >= cases[i][0].source)
			ck_assert_msg(!rcore_trial_is_better(&trials[1], &trials[0]),
				      "case %zu", i);
	}
	free(trials);
}
END_TEST

/* A field that moved farther than in any patch release is not found. */
START_TEST(test_refused)
{
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	begin(_i);
	shift(item_of("vm", "objspace"), -(RCORE_SHIFT_LIMIT + 8));
	struct rcore_layout wrong = layout;
	ck_assert_uint_eq(
		rcore_shift_fields(&ruby, &world.process, world.vm.address, &layout, shifts),
		0);
	ck_assert_mem_eq(&layout, &wrong, sizeof(layout));
	finish();
}
END_TEST

/*
 * Only one fiber shows a field, and its word is corrupt; the fields after it
 * hold.
 */
START_TEST(test_corrupt)
{
	struct rcore_shift shifts[RCORE_SHIFT_COUNT];
	begin(_i);
	struct fake_vm *vm = &world.vm;
	if (rcore_has(&layout.fiber.context_stack_pointer) &&
	    rcore_has(&layout.fiber.stack_base)) {
		uint64_t fiber = fake_current_fiber(vm, vm->main_thread);
		uint64_t ec = FAKE_GET(vm, vm->main_thread, thread, ec);
		uint64_t size = FAKE_GET(vm, ec, ec, machine_stack_maxsize);
		FAKE_PUT(vm, fiber, fiber, stack_base,
			 FAKE_GET(vm, ec, ec, machine_stack_start) - size);
		FAKE_PUT(vm, fiber, fiber, stack_size, size);
		FAKE_PUT(vm, fiber, fiber, context_stack_pointer, 0x4007fe59278afc0);
		ck_assert_int_eq(verdict(item_of("fiber", "context_stack_pointer")),
				 RCORE_FAILS);
	}
	struct rcore_layout before = layout;
	ck_assert_uint_eq(
		rcore_shift_fields(&ruby, &world.process, world.vm.address, &layout, shifts),
		0);
	ck_assert_mem_eq(&layout, &before, sizeof(layout));
	finish();
}
END_TEST

/*
 * Each field has a check or a reason why there is none, in the fields' order.
 */
START_TEST(test_table)
{
	size_t row = 0;
	for (size_t i = _i ? rcore_item_count : 0; i < rcore_item_count; i++) {
		const struct rcore_item *item = &rcore_items[i];
		if (item->kind != RCORE_ITEM_FIELD)
			continue;
		ck_assert_msg(row < rcore_check_row_count, "no check of %s.%s", item->group,
			      item->id);
		const struct rcore_check_row *check = &rcore_check_rows[row++];
		ck_assert_msg(check->field == item->where,
			      "the check of %s.%s is where that of %s.%s belongs", check->group,
			      check->id, item->group, item->id);
		ck_assert_ptr_eq(rcore_check_row(item->where), check);
		ck_assert_msg(!check->check == !!check->reason, "%s.%s: a check or a reason",
			      item->group, item->id);
		/* `layout check` separates fields by commas. */
		ck_assert(!check->reason || (*check->reason && !strchr(check->reason, ',')));
	}
	ck_assert_msg(_i || row == rcore_check_row_count, "more than one check of %s.%s",
		      rcore_check_rows[row].group, rcore_check_rows[row].id);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_table,          test_rules,         test_moments,
		test_moved,          test_refused,       test_corrupt,
		test_objspace,       test_choice,        test_outermost_tag,
		test_unlocking,      test_node,          test_queued,
		test_filled_block,   test_growing_table, test_half_written,
		test_always_at_hand, test_file,          test_stack_being_copied,
		test_without,        test_freed_data};
	return world_run("shift", tests, RCORE_COUNT(tests));
}
