/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "tables.h"
#include "target/process.h"
#include "vm/find/find.h"
#include "ruby/iseq/frame_flags.h"
#include "vm/find/list.h"
#include "proof/prove.h"
#include "vm_suite.h"

static uint64_t node_of(uint64_t thread)
{
	return thread + (uint64_t)world.vm.ruby.layout.thread.node.offset;
}

static uint64_t threads_head(void)
{
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	return rcore_has(&layout->vm.ractor_set)
		       ? world.vm.ractor + (uint64_t)layout->ractor.threads_set.offset
		       : world.vm.address + (uint64_t)layout->vm.living_threads.offset;
}

static int list_code(uint64_t head, size_t limit, size_t *count)
{
	uint64_t *nodes = NULL;
	int code = world_code(
		rcore_list(&world.vm.ruby.target.memory, head, limit, &nodes, count));
	free(nodes);
	return code;
}

START_TEST(test_list)
{
	world_begin(_i);
	struct fake_target *target = &world.vm.ruby.target;
	size_t count;
	uint64_t list = fake_alloc(target, 64, 16);
	uint64_t head = list, first = list + 16, second = list + 32, third = list + 48;
	fake_put(target, head, head);
	fake_put(target, head + 8, head);
	ck_assert_int_eq(list_code(head, 10, &count), 0);
	ck_assert_uint_eq(count, 0);

	const uint64_t ring[] = {head, first, second, third, head};
	for (size_t i = 0; i < 4; i++) {
		fake_put(target, ring[i], ring[i + 1]);
		fake_put(target, ring[i + 1] + 8, ring[i]);
	}
	ck_assert_int_eq(list_code(head, 3, &count), 0);
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(list_code(head, 2, &count), RCORE_ERROR_LIMIT);
	ck_assert_uint_eq(count, 2);

	/*
	 * One node is just being removed: it is skipped in one direction only.
	 */
	fake_put(target, third + 8, first);
	ck_assert_int_eq(list_code(head, 10, &count), 0);
	ck_assert_uint_eq(count, 3);
	fake_put(target, third + 8, second);
	fake_put(target, first, third);
	ck_assert_int_eq(list_code(head, 10, &count), 0);
	ck_assert_uint_eq(count, 2);
	/* Not two nodes. */
	fake_put(target, first, second);
	fake_put(target, second + 8, head);
	fake_put(target, third + 8, first);
	ck_assert_int_eq(list_code(head, 10, &count), RCORE_ERROR_CORRUPT);
	fake_put(target, second + 8, first);
	fake_put(target, third + 8, second);

	fake_put(target, third, first);
	ck_assert_int_eq(list_code(head, 10, &count), RCORE_ERROR_CORRUPT);
	ck_assert_uint_eq(count, 3);
	fake_put(target, third, third);
	ck_assert_int_eq(list_code(head, 10, &count), RCORE_ERROR_CORRUPT);
	fake_put(target, second, 0x10);
	ck_assert_int_eq(list_code(head, 10, &count), RCORE_ERROR_FAULT);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(list_code(0x10, 10, &count), RCORE_ERROR_FAULT);
}
END_TEST

START_TEST(test_find)
{
	world_begin(_i);
	struct rcore_memory *memory = &world.vm.ruby.target.memory;
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	uint64_t data = fake_alloc(&world.vm.ruby.target, 3 * 4096, 4096), found = 0, place = 0;
	ck_assert(rcore_vm_prove(memory, layout, world.vm.address));
	ck_assert(!rcore_vm_prove(memory, layout, world.vm.main_thread));
	ck_assert(!rcore_vm_prove(memory, layout, world.vm.address + 8));
	ck_assert(!rcore_vm_prove(memory, layout, 0));

	ck_assert(!rcore_vm_search(memory, layout, data, data + 3 * 4096, &found, &place));
	fake_put(&world.vm.ruby.target, data + 16, world.vm.main_thread);
	fake_put(&world.vm.ruby.target, data + 2 * 4096 + 40, world.vm.address);
	ck_assert(!rcore_vm_search(memory, layout, data, data + 4096, &found, &place));
	ck_assert(rcore_vm_search(memory, layout, data + 3, data + 3 * 4096, &found, &place));
	ck_assert_uint_eq(found, world.vm.address);
	ck_assert_uint_eq(place, data + 2 * 4096 + 40);
	ck_assert(!rcore_vm_search(memory, layout, data + 4096, data, &found, &place));
	/* Also after pages that cannot be read. */
	found = 0;
	ck_assert(
		rcore_vm_search(memory, layout, data - 4096, data + 3 * 4096, &found, &place));
	ck_assert_uint_eq(found, world.vm.address);

	ck_assert(rcore_vm_at(memory, layout, data + 2 * 4096 + 40, &found));
	ck_assert(!rcore_vm_at(memory, layout, data + 16, &found));
	ck_assert(!rcore_vm_at(memory, layout, 0x10, &found));
	FAKE_PUT(&world.vm, world.vm.main_thread, thread, vm, 0x10);
	ck_assert(!rcore_vm_at(memory, layout, data + 2 * 4096 + 40, &found));
}
END_TEST

static size_t prove(const struct rcore_layout *layout, const char **failed)
{
	struct rcore_arena arena = {0};
	struct rcore_ruby ruby;
	struct rcore_proof proofs[RCORE_PROOF_LIMIT];
	size_t count = 0;
	rcore_ruby_init(&ruby, &world.vm.ruby.target.memory, layout, &arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = world.vm.ruby.symbols;
	size_t passed = rcore_prove(&ruby, world.vm.address, proofs, &count);
	*failed = NULL;
	for (size_t i = count; i > 0; i--)
		if (!proofs[i - 1].passed)
			*failed = proofs[i - 1].name;
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
	return count - passed;
}

/* The first slots of the heap contain no String in this VM. */
static void put_string(void)
{
	FAKE_PUT(&world.vm, world.vm.slot, basic, flags, 5);
}

START_TEST(test_prove)
{
	const char *failed;
	world_begin(_i);
	put_string();
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	ck_assert_uint_eq(prove(layout, &failed), 0);

	struct rcore_layout wrong = *layout;
	wrong.thread.status.offset = wrong.thread.vm.offset;
	wrong.thread.vm.offset = wrong.thread.self.offset;
	ck_assert_uint_gt(prove(&wrong, &failed), 0);
	wrong = *layout;
	wrong.ec.thread_ptr.offset += 8;
	ck_assert_uint_gt(prove(&wrong, &failed), 0);
	wrong = *layout;
	wrong.cfp.size += 8;
	prove(&wrong, &failed);
	ck_assert_str_eq(failed, "cfp");
	wrong = *layout;
	wrong.fiber.status.offset -= 8;
	prove(&wrong, &failed);
	ck_assert_str_eq(failed, "fiber");
	wrong = *layout;
	wrong.iseq_body.iseq_encoded.offset += 8;
	prove(&wrong, &failed);
	ck_assert_str_eq(failed, "iseq");
	wrong = *layout;
	wrong.heap_page.start.offset += 8;
	prove(&wrong, &failed);
	ck_assert_str_eq(failed, "heap");
}
END_TEST

/* The result of one proof of the world's own layout. */
static struct rcore_proof proof_of(const char *name)
{
	struct fake_vm *vm = &world.vm;
	struct rcore_proof proofs[RCORE_PROOF_LIMIT], ret = {0};
	struct rcore_arena arena = {0};
	struct rcore_ruby ruby;
	size_t count = 0;
	rcore_ruby_init(&ruby, &vm->ruby.target.memory, &vm->ruby.layout, &arena);
	rcore_ruby_set_vm(&ruby, vm->address);
	rcore_prove(&ruby, vm->address, proofs, &count);
	for (size_t i = 0; i < count; i++)
		if (!strcmp(proofs[i].name, name))
			ret = proofs[i];
	ck_assert_ptr_nonnull(ret.name);
	ret.detail = NULL;
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
	return ret;
}

static bool passes(const char *name)
{
	return proof_of(name).passed;
}

/* States that a stop between two instructions can find, and impossible ones. */
START_TEST(test_prove_fiber_switch)
{
	static const struct {
		bool has_root, is_killed;
		enum rcore_fiber_status status;
		bool can_be;
	} states[] = {
		{false, false, RCORE_FIBER_RESUMED, true},
		{true, false, RCORE_FIBER_RESUMED, true},
		{true, false, RCORE_FIBER_SUSPENDED, true},  /* left by fiber_store() */
		{true, false, RCORE_FIBER_TERMINATED, true}, /* rb_fiber_terminate() */
		{false, true, RCORE_FIBER_TERMINATED, true}, /* the thread ends */
		/* nobody can enter it */
		{false, false, RCORE_FIBER_SUSPENDED, false},
		{false, false, RCORE_FIBER_TERMINATED, false},
		{false, false, RCORE_FIBER_CREATED, false},
		{true, false, RCORE_FIBER_CREATED, false},
	};
	static const enum rcore_fiber_status root_states[] = {
		RCORE_FIBER_CREATED, RCORE_FIBER_RESUMED, RCORE_FIBER_SUSPENDED,
		RCORE_FIBER_TERMINATED};
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	/* Two of the three threads decide. */
	FAKE_PUT(vm, fake_current_fiber(vm, world.other), fiber, status, RCORE_FIBER_CREATED);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		uint64_t fiber = fake_current_fiber(vm, vm->main_thread);
		FAKE_PUT(vm, vm->main_thread, thread, root_fiber,
			 states[i].has_root ? world.root : 0);
		FAKE_PUT(vm, fiber, fiber, status, states[i].status);
		FAKE_PUT(vm, vm->main_thread, thread, status,
			 states[i].is_killed ? RCORE_THREAD_KILLED : RCORE_THREAD_RUNNABLE);
		if (!states[i].has_root)
			FAKE_PUT(vm, fiber, fiber, stack_base, 0);
		else
			fake_machine_stack(vm, fiber);
		ck_assert_msg(passes("fiber") == states[i].can_be, "state %zu", i);
	}
	FAKE_PUT(vm, vm->main_thread, thread, status, RCORE_THREAD_RUNNABLE);
	FAKE_PUT(vm, world.running, fiber, status, RCORE_FIBER_RESUMED);
	for (size_t i = 0; i < RCORE_COUNT(root_states); i++) {
		FAKE_PUT(vm, world.root, fiber, status, root_states[i]);
		ck_assert(passes("fiber") == (root_states[i] == RCORE_FIBER_RESUMED ||
					      root_states[i] == RCORE_FIBER_SUSPENDED));
	}
	FAKE_PUT(vm, world.root, fiber, status, RCORE_FIBER_SUSPENDED);
	ck_assert(passes("fiber"));
	/* All except the root fiber have a machine stack. */
	FAKE_PUT(vm, world.running, fiber, stack_base, 0);
	ck_assert(passes("fiber") == !rcore_has(&vm->ruby.layout.fiber.stack_base));
}
END_TEST

/* Only the innermost frame's pc may be another frame's, or missing. */
START_TEST(test_prove_stale_pc)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	struct fake_frame frame = {.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
				   .iseq = world.run,
				   .pc = 1,
				   .me_cref = world.run_method};
	put_string();
	fake_push(vm, world.running, &frame);
	uint64_t cfp = fake_cfp(vm, world.running);
	FAKE_PUT(vm, cfp, cfp, pc, 0x1234);
	ck_assert(passes("iseq"));
	fake_push(vm, world.running, &frame);
	cfp = fake_cfp(vm, world.running);
	FAKE_PUT(vm, cfp, cfp, pc, 0x1234);
	ck_assert(!passes("iseq"));
}
END_TEST

/* Lists differ from their counters by what is being added or removed. */
START_TEST(test_prove_counts)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	struct rcore_field count = vm->ruby.layout.vm.living_count;
	uint64_t base = vm->address;
	if (vm->ractor) {
		count = vm->ruby.layout.ractor.threads_count;
		base = vm->ractor;
	}
	uint64_t counted = fake_get_field(&vm->ruby, base, &count);
	put_string();
	for (int off = -1; off <= 1; off++) {
		fake_put_field(&vm->ruby.target, base, &count, counted + (uint64_t)off);
		ck_assert_uint_eq(proof_of("thread").missed, 0);
	}
}
END_TEST

/* A list of pages is readable to its end, and has no millions of them. */
START_TEST(test_prove_heap)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool is_darray = vm->ruby.layout.traits.heap_pages_darray;
	uint64_t objspace = vm->objspace;
	uint64_t list = FAKE_GET(vm, objspace, objspace, heap_pages_sorted);
	static const struct {
		uint64_t count;
		bool passes;
	} counts[] = {{1, true}, {0, false}, {6685312, false}, {UINT64_C(1) << 40, false}};
	for (size_t i = 0; i < RCORE_COUNT(counts); i++) {
		if (is_darray)
			FAKE_PUT(vm, list, darray, length, counts[i].count);
		else
			FAKE_PUT(vm, objspace, objspace, heap_pages_allocated, counts[i].count);
		ck_assert_msg(passes("heap") == counts[i].passes, "%zu", i);
	}
	/* Readable, but not pages. */
	size_t head = is_darray ? vm->ruby.layout.darray.size : 0;
	uint64_t zeroes = fake_alloc(&vm->ruby.target, head + 1000 * sizeof(uint64_t), 8);
	FAKE_PUT(vm, zeroes, darray, length, 1000);
	FAKE_PUT(vm, objspace, objspace, heap_pages_sorted, zeroes);
	FAKE_PUT(vm, objspace, objspace, heap_pages_allocated, 1000);
	ck_assert(!passes("heap"));
}
END_TEST

/* The fiber shows which jump buffer the build has. */
START_TEST(test_builds)
{
	static const char *const builds[] = {"3.4.9-x86_64", "3.4.9-x86_64-cet"};
	for (int is = 0; is < 2; is++) {
		struct rcore_layout layout = table_of(builds[is]);
		world_begin_with(&layout);
		put_string();
		for (int taken = 0; taken < 2; taken++) {
			const char *failed;
			layout = table_of(builds[taken]);
			size_t failures = prove(&layout, &failed);
			ck_assert_uint_eq(failures, is == taken ? 0 : 1);
			if (is != taken)
				ck_assert_str_eq(failed, "fiber");
		}
		fake_vm_deinit(&world.vm);
		world.vm = (struct fake_vm){0};
	}
}
END_TEST

START_TEST(test_threads)
{
	world_begin(_i);
	bool has_ractors = world.vm.ractor;
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->thread_count, 4);
	ck_assert_uint_eq(snapshot->ractor_count, has_ractors ? 2 : 0);

	const struct rcore_thread *main = &snapshot->threads[0];
	ck_assert_uint_eq(main->address, world.vm.main_thread);
	ck_assert_str_eq(main->id, "T1");
	ck_assert_int_eq(main->tid, MAIN_TID);
	ck_assert(main->is_main && main->is_crashed && !main->name && main->object);
	ck_assert_int_eq(main->gvl, RCORE_GVL_HOLDER);
	ck_assert_uint_eq(main->fiber_count, 5);

	const struct rcore_thread *sleeper = world_thread(snapshot, world.sleeper);
	ck_assert_str_eq(sleeper->name, "sleeper");
	ck_assert_int_eq(sleeper->tid, SLEEPER_TID);
	ck_assert_int_eq(sleeper->status, RCORE_THREAD_STOPPED);
	ck_assert_int_eq(sleeper->gvl, RCORE_GVL_RELEASED);
	ck_assert(!sleeper->is_main && !sleeper->is_crashed && !sleeper->to_kill);

	const struct rcore_thread *other = world_thread(snapshot, world.other);
	ck_assert(other->to_kill);
	ck_assert_int_eq(other->gvl, RCORE_GVL_WAITING);
	ck_assert_int_eq(other->ractor, has_ractors ? 1 : -1);
	if (has_ractors) {
		ck_assert_str_eq(snapshot->ractors[1].name, "second");
		ck_assert_uint_eq(snapshot->ractors[1].id, 2);
		ck_assert_uint_eq(snapshot->ractors[0].thread_count, 2);
	}

	const struct rcore_thread *ended = world_thread(snapshot, world.ended);
	ck_assert_str_eq(ended->id, "E1");
	ck_assert(ended->is_ended && !ended->tid);
	ck_assert_uint_eq(ended->fiber_count, 1);
	ck_assert_int_eq(ended->current_fiber, -1);

	ck_assert_uint_eq(snapshot->other_count, 1);
	ck_assert_int_eq(snapshot->others[0].tid, STRANGER_TID);
	world_free(snapshot);
}
END_TEST

START_TEST(test_fibers)
{
	world_begin(_i);
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	ck_assert_str_eq(snapshot->fiber_source,
			 layout->traits.fibers_listed ? "jit_cont list" : "heap walk");

	const struct rcore_fiber *root = world_fiber(snapshot, world.root);
	const struct rcore_fiber *running = world_fiber(snapshot, world.running);
	ck_assert_str_eq(root->id, "T1.F0");
	ck_assert(root->is_root && !root->is_current && !root->object);
	ck_assert_ptr_eq(&snapshot->fibers[root->resuming], running);
	ck_assert_ptr_eq(&snapshot->fibers[running->resumed_by], root);
	ck_assert_int_eq(running->resuming, -1);
	ck_assert(running->is_current && !running->is_root && running->object);
	ck_assert_int_eq(running->status, RCORE_FIBER_RESUMED);
	ck_assert_int_eq(snapshot->threads[0].current_fiber, (int)(running - snapshot->fibers));

	static const struct {
		size_t offset;
		enum rcore_fiber_status status;
		size_t frames;
	} parked[] = {
		{offsetof(struct world, created), RCORE_FIBER_CREATED, 0},
		{offsetof(struct world, parked), RCORE_FIBER_SUSPENDED, 3},
		{offsetof(struct world, done), RCORE_FIBER_TERMINATED, 0},
		{offsetof(struct world, orphan), RCORE_FIBER_SUSPENDED, 3},
	};
	for (size_t i = 0; i < RCORE_COUNT(parked); i++) {
		uint64_t address;
		memcpy(&address, (const char *)&world + parked[i].offset, sizeof(address));
		const struct rcore_fiber *fiber = world_fiber(snapshot, address);
		ck_assert_int_eq(fiber->status, parked[i].status);
		ck_assert_uint_eq(fiber->frame_count, parked[i].frames);
		ck_assert(!fiber->is_root && !fiber->is_current && !fiber->problem);
		ck_assert_int_eq(fiber->resumed_by, -1);
	}
	ck_assert(!strncmp(world_fiber(snapshot, world.orphan)->id, "E1.F", 4));
	world_free(snapshot);
}
END_TEST

/*
 * Its flags and its class are written first; the rest belongs to the previous,
 * freed Fiber.
 */
START_TEST(test_slot_being_made)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct fake_class other = {
		.type = RCORE_T_CLASS, .path = "Yielder", .permanent = true};
	const uint64_t classes[] = {fake_class(&vm->ruby, &other), 0, vm->fiber_class};
	uint64_t freed = fake_alloc(&vm->ruby.target, vm->ruby.layout.fiber.size, 8);
	uint64_t object = fake_data(vm, vm->fiber_type, freed);
	for (size_t i = 0; i < 3 && !vm->ruby.layout.traits.fibers_listed; i++) {
		FAKE_PUT(vm, object, basic, klass, classes[i]);
		struct rcore_snapshot *snapshot = world_load();
		ck_assert(world_says(snapshot, "its EC does not point back") == (i == 2));
		world_free(snapshot);
	}
}
END_TEST

static void set_gc_mode(uint64_t mode)
{
	uint64_t objspace = FAKE_GET(&world.vm, world.vm.address, vm, objspace);
	FAKE_PUT(&world.vm, objspace, objspace, gc_mode, mode);
	/* The marks of a page that is just being swept say less. */
	FAKE_PUT(&world.vm, objspace, objspace, during_gc, mode != 0);
}

/* Garbage that is not swept yet; what it refers to may be. */
START_TEST(test_collected)
{
	enum { NONE, MARKING, SWEEPING, COMPACTING /* from 3.2 on */ };
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t object = FAKE_GET(vm, world.ended, thread, self);
	FAKE_PUT(vm, object, basic, flags, 0);
	for (uint64_t mode = NONE; mode <= COMPACTING; mode++) {
		set_gc_mode(mode);
		bool sweeps = mode == SWEEPING ||
			      (mode == COMPACTING && vm->ruby.layout.traits.gc_mode_compacting);
		struct rcore_snapshot *snapshot = world_load();
		ck_assert(snapshot->incomplete == !sweeps);
		ck_assert_uint_eq(snapshot->fiber_count, sweeps ? 7 : 8);
		ck_assert_uint_eq(snapshot->thread_count, sweeps ? 3 : 4);
		ck_assert(world_says(snapshot, "does not point to its Thread object") ==
			  !sweeps);
		world_free(snapshot);
	}
	/*
	 * A fiber whose frames have lost their environment. What a thread holds
	 * is not garbage.
	 */
	set_gc_mode(SWEEPING);
	FAKE_PUT(vm, world.parked_cfp[0], cfp, ep, 8);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 6);
	world_free(snapshot);
	/* From 3.3 on, the sweep is aborted when Ruby ends: the garbage stays. */
	bool is_aborted = vm->ruby.layout.traits.sweep_aborted;
	set_gc_mode(NONE);
	FAKE_PUT(vm, vm->main_thread, thread, status, RCORE_THREAD_KILLED);
	snapshot = world_load();
	ck_assert(snapshot->incomplete == !is_aborted);
	ck_assert_uint_eq(snapshot->fiber_count, is_aborted ? 6 : 8);
	world_free(snapshot);
	set_gc_mode(SWEEPING);
	FAKE_PUT(vm, fake_cfp(vm, world.running) + vm->ruby.layout.cfp.size, cfp, ep, 8);
	snapshot = world_load();
	ck_assert(snapshot->incomplete);
	ck_assert_uint_eq(snapshot->fiber_count, 6);
	world_free(snapshot);
}
END_TEST

/*
 * th->ec is the fiber that is left; the registers are on the stack of the fiber
 * that is entered.
 */
START_TEST(test_in_a_switch)
{
	static const uint64_t size = 0x10000, left_stack = 0x7f0000000000,
			      entered_stack = 0x7f0000100000;
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (!rcore_has(&vm->ruby.layout.fiber.stack_base) ||
	    !rcore_has(&vm->ruby.layout.fiber.context_stack_pointer))
		return;
	FAKE_PUT(vm, world.running, fiber, stack_base, left_stack);
	FAKE_PUT(vm, world.running, fiber, stack_size, size);
	FAKE_PUT(vm, world.running, fiber, context_stack_pointer, left_stack + size / 2);
	FAKE_PUT(vm, world.parked, fiber, stack_base, entered_stack);
	FAKE_PUT(vm, world.parked, fiber, stack_size, size);
	FAKE_PUT(vm, world.parked, fiber, context_stack_pointer, entered_stack + size / 4);
	world.native[0].has_registers = true;
	world.native[0].registers[rcore_register_sp(EM_X86_64)] = entered_stack + size / 2;

	/*
	 * A fiber that overflows into the other's stack is not being left,
	 * unless th->ec is switched before the stack. Then it is entered, and
	 * its registers are as they were saved.
	 */
	bool is_first = vm->ruby.layout.traits.ec_switched_first;
	struct rcore_snapshot *snapshot = world_load();
	const struct rcore_fiber *running = world_fiber(snapshot, world.running);
	const struct rcore_fiber *parked = world_fiber(snapshot, world.parked);
	ck_assert_int_eq(is_first ? parked->tid : running->tid, MAIN_TID);
	ck_assert_int_eq(is_first ? running->tid : parked->tid, 0);
	ck_assert(running->is_current && running->is_parked == is_first);
	world_free(snapshot);

	FAKE_PUT(vm, world.running, fiber, status, RCORE_FIBER_SUSPENDED);
	FAKE_PUT(vm, world.parked, fiber, status, RCORE_FIBER_RESUMED);
	snapshot = world_load();
	const struct rcore_fiber *left = world_fiber(snapshot, world.running);
	const struct rcore_fiber *entered = world_fiber(snapshot, world.parked);
	ck_assert(left->is_current && left->is_parked && !left->tid);
	ck_assert(!entered->is_current && !entered->is_parked);
	ck_assert_int_eq(entered->tid, MAIN_TID);
	world_free(snapshot);

	/* Before the switch of stacks, the new fiber is where it was left. */
	world.native[0].registers[rcore_register_sp(EM_X86_64)] = left_stack + size / 2;
	snapshot = world_load();
	left = world_fiber(snapshot, world.running);
	entered = world_fiber(snapshot, world.parked);
	ck_assert(left->is_current && !left->is_parked && left->tid == MAIN_TID);
	ck_assert(!entered->is_current && entered->is_parked && !entered->tid);
	world_free(snapshot);
}
END_TEST

/*
 * fiber_t_alloc() puts a fiber on the list with a copy of its creator's EC,
 * gives it its own EC, and last lets its object point to it.
 */
START_TEST(test_being_made)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	uint64_t ec = world.created + (uint64_t)layout->fiber.saved_ec.offset;
	uint64_t maker = world.running + (uint64_t)layout->fiber.saved_ec.offset;
	uint64_t object = FAKE_GET(vm, world.created, fiber, self);

	FAKE_PUT(vm, object, data, data, 0);
	FAKE_PUT(vm, ec, ec, vm_stack, FAKE_GET(vm, maker, ec, vm_stack));
	FAKE_PUT(vm, ec, ec, vm_stack_size, FAKE_GET(vm, maker, ec, vm_stack_size));
	FAKE_PUT(vm, ec, ec, cfp, FAKE_GET(vm, maker, ec, cfp));
	FAKE_PUT(vm, ec, ec, fiber_ptr, world.running);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_null(world_fiber(snapshot, world.created));
	world_free(snapshot);

	FAKE_PUT(vm, ec, ec, fiber_ptr, world.created);
	snapshot = world_load_whole();
	const struct rcore_fiber *fiber = world_fiber(snapshot, world.created);
	ck_assert(!fiber == !layout->traits.fibers_listed);
	ck_assert(!fiber || !fiber->frame_count);
	world_free(snapshot);
}
END_TEST

START_TEST(test_broken_threads)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool has_ractors = vm->ractor;
	/* A list with a cycle: the main thread is found first. */
	fake_put(&vm->ruby.target, node_of(world.sleeper), node_of(world.sleeper));
	struct rcore_snapshot *snapshot = world_load_broken("does not point back");
	ck_assert_ptr_nonnull(world_thread(snapshot, vm->main_thread));
	ck_assert_ptr_nonnull(world_thread(snapshot, world.sleeper));
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.parked));
	world_free(snapshot);

	/* Broken before the main thread: the VM points to it. */
	fake_put(&vm->ruby.target, threads_head(), 0x10);
	snapshot = world_load_broken("threads: cannot read list node");
	ck_assert_ptr_nonnull(world_thread(snapshot, vm->main_thread));
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.parked));
	world_free(snapshot);

	fake_put(&vm->ruby.target, threads_head(), node_of(vm->main_thread));
	fake_put(&vm->ruby.target, node_of(world.sleeper),
		 has_ractors ? threads_head() : node_of(world.other));
	FAKE_PUT(vm, vm->ractor, ractor, threads_count, 7);
	FAKE_PUT(vm, vm->address, vm, living_count, 7);
	world_free(world_load_broken("the VM counts 7"));
	FAKE_PUT(vm, vm->ractor, ractor, threads_count, 2);
	FAKE_PUT(vm, vm->address, vm, living_count, 3);

	FAKE_PUT(vm, world.sleeper, thread, vm, 0x10);
	snapshot = world_load_broken("its vm does not point back");
	ck_assert_int_eq(world_thread(snapshot, world.sleeper)->status,
			 RCORE_THREAD_STATUS_UNKNOWN);
	world_free(snapshot);
	FAKE_PUT(vm, world.sleeper, thread, vm, vm->address);

	FAKE_PUT(vm, world.sleeper, thread, name, 0x11);
	world_free(world_load_broken("name: "));
	FAKE_PUT(vm, world.sleeper, thread, name, 0);
	FAKE_PUT(vm, world.sleeper, thread, self, world.run);
	world_free(world_load_broken("does not point to its Thread object"));
	FAKE_PUT(vm, world.sleeper, thread, self, 0);
	FAKE_PUT(vm, world.sleeper, thread, ec, 0);
	world_free(world_load_broken("no execution context"));
	FAKE_PUT(vm, world.sleeper, thread, ec, FAKE_GET(vm, vm->main_thread, thread, ec));
	world_free(world_load_broken("runs a fiber of another thread"));
}
END_TEST

/*
 * Up to 2.7, only the order of the list shows which thread is the main one.
 * After fork() it is that which forked, before the list begins anew.
 */
START_TEST(test_other_main_thread)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (vm->ractor)
		return;
	FAKE_PUT(vm, vm->address, vm, main_thread, world.sleeper);
	world_free(world_load_broken("which is not the VM's first thread"));
	world.process.thread_count = 1;
	world_free(world_load_whole());
}
END_TEST

/* The list of threads changes first, then its counter. */
START_TEST(test_counted_later)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool has_ractors = rcore_has(&vm->ruby.layout.ractor.threads_count);
	uint64_t count = has_ractors ? FAKE_GET(vm, vm->ractor, ractor, threads_count)
				     : FAKE_GET(vm, vm->address, vm, living_count);
	for (uint64_t now = count - 1; now <= count + 1; now++) {
		if (has_ractors)
			FAKE_PUT(vm, vm->ractor, ractor, threads_count, now);
		else
			FAKE_PUT(vm, vm->address, vm, living_count, now);
		struct rcore_snapshot *snapshot = world_load_whole();
		ck_assert_uint_eq(snapshot->problem_count, 0);
		world_free(snapshot);
	}
}
END_TEST

START_TEST(test_broken_ractors)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	if (!vm->ractor)
		return;
	uint64_t head = vm->address + (uint64_t)layout->vm.ractor_set.offset;
	/* The main ractor is known without the list. */
	fake_put(&vm->ruby.target, head, 0x10);
	struct rcore_snapshot *snapshot = world_load_broken("ractors: cannot read list node");
	ck_assert_uint_eq(snapshot->ractor_count, 1);
	ck_assert_ptr_nonnull(world_thread(snapshot, world.sleeper));
	world_free(snapshot);
	fake_put(&vm->ruby.target, head,
		 vm->ractor + (uint64_t)layout->ractor.vmlr_node.offset);
	fake_put(&vm->ruby.target, vm->ractor + (uint64_t)layout->ractor.vmlr_node.offset,
		 vm->ractor + (uint64_t)layout->ractor.vmlr_node.offset);
	world_free(world_load_broken("does not point back"));
}
END_TEST

START_TEST(test_broken_fibers)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	uint64_t parked_ec = world.parked + (uint64_t)layout->fiber.saved_ec.offset;
	struct rcore_snapshot *snapshot;

	FAKE_PUT(vm, parked_ec, ec, fiber_ptr, 0);
	snapshot = world_load_broken("its EC does not point back");
	ck_assert_uint_eq(world_fiber(snapshot, world.parked)->frame_count, 0);
	ck_assert_uint_eq(world_fiber(snapshot, world.running)->frame_count, 3);
	world_free(snapshot);
	FAKE_PUT(vm, parked_ec, ec, fiber_ptr, world.parked);

	FAKE_PUT(vm, world.parked, fiber, type, 7);
	world_free(world_load_broken("no rb_fiber_t"));
	/*
	 * A continuation is not a fiber: it has the EC of the fiber in which it
	 * was created.
	 */
	FAKE_PUT(vm, world.parked, fiber, type, 0);
	FAKE_PUT(vm, parked_ec, ec, fiber_ptr, world.running);
	snapshot = world_load_whole();
	ck_assert_ptr_null(world_fiber(snapshot, world.parked));
	world_free(snapshot);
	FAKE_PUT(vm, world.parked, fiber, type, 1);
	FAKE_PUT(vm, parked_ec, ec, fiber_ptr, world.parked);

	FAKE_PUT(vm, parked_ec, ec, thread_ptr, 0);
	snapshot = world_load_broken("belongs to no thread");
	ck_assert_uint_eq(world_fiber(snapshot, world.parked)->frame_count, 3);
	world_free(snapshot);
	FAKE_PUT(vm, parked_ec, ec, thread_ptr, vm->main_thread);

	FAKE_PUT(vm, world.parked, fiber, prev, 0x10);
	world_free(world_load_broken("does not point to a fiber"));
	FAKE_PUT(vm, world.parked, fiber, prev, 0);
	FAKE_PUT(vm, world.parked, fiber, self, world.run);
	world_free(world_load_broken("does not point to its Fiber object"));
}
END_TEST

/* Before 3.3, parked fibers are found by their objects. */
START_TEST(test_broken_heap)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	if (vm->ruby.layout.traits.fibers_listed)
		return;
	/* The file with the type's name is missing; its objects decide. */
	FAKE_PUT(vm, vm->fiber_type, data_type, wrap_struct_name, 0x10);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->fiber_count, 8);
	world_free(snapshot);

	uint64_t page = 0;
	uint64_t list = FAKE_GET(vm, vm->objspace, objspace, heap_pages_sorted);
	rcore_read_u64(&vm->ruby.target.memory, list, &page);
	FAKE_PUT(vm, page, heap_page, start, 0x10);
	snapshot = world_load_broken("parked fibers may be missing: 1 of the pages");
	ck_assert_ptr_nonnull(world_fiber(snapshot, world.running));
	ck_assert_ptr_null(world_fiber(snapshot, world.parked));
	world_free(snapshot);
	FAKE_PUT(vm, vm->address, vm, objspace, 0x10);
	world_free(world_load_broken("parked fibers may be missing: "));
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_list,           test_find,
		test_prove,          test_prove_fiber_switch,
		test_prove_stale_pc, test_prove_counts,
		test_prove_heap,     test_builds,
		test_threads,        test_fibers,
		test_collected,      test_slot_being_made,
		test_in_a_switch,    test_being_made,
		test_counted_later,  test_broken_threads,
		test_broken_ractors, test_broken_fibers,
		test_broken_heap,    test_other_main_thread,
	};
	return world_run("vm", tests, RCORE_COUNT(tests));
}
