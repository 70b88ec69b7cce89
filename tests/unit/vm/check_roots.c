/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_ivar.h"
#include "ruby/children/graph.h"
#include "ruby/object/value.h"
#include "vm/roots.h"
#include "vm_suite.h"

enum { STACK_WORDS = 4, VARIABLES = 9 };

/* One object for each kind of root. */
static struct {
	uint64_t top_self, thread, registered, second, finalizer, symbols, global, indirect,
		stack, reg, below, beyond;
	uint64_t entries[2], table, globals, statics, ids, list;
	uint64_t stack_at, registers[2];
} made;

static uint64_t object(void)
{
	static uint64_t type;
	type = fake_data_type(&world.vm, "object");
	return fake_data(&world.vm, type, 0);
}

static void put(uint64_t address, uint64_t word)
{
	fake_put(&world.vm.ruby.target, address, word);
}

/* A variable with the value; returns its address. */
static uint64_t variable(uint64_t value)
{
	uint64_t address = fake_alloc(&world.vm.ruby.target, 16, 8);
	put(address, value);
	return address;
}

static void make_registered(void)
{
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	for (size_t i = 0; i < RCORE_COUNT(made.entries); i++)
		made.entries[i] =
			fake_alloc(&world.vm.ruby.target, layout->global_list_entry.size, 8);
	FAKE_PUT(&world.vm, made.entries[0], global_list_entry, address,
		 variable(made.registered));
	FAKE_PUT(&world.vm, made.entries[0], global_list_entry, next, made.entries[1]);
	FAKE_PUT(&world.vm, made.entries[1], global_list_entry, address, variable(made.second));
	FAKE_PUT(&world.vm, made.entries[1], global_list_entry, next, 0);
	FAKE_PUT(&world.vm, world.vm.address, vm, global_object_list, made.entries[0]);
	if (!rcore_has(&layout->vm.global_object_list))
		FAKE_PUT(&world.vm, world.vm.objspace, objspace, global_list, made.entries[0]);
}

/* $a0 has its value itself; the others are variables of C code, of which one has a value. */
static void make_globals(void)
{
	struct fake_ruby *ruby = &world.vm.ruby;
	size_t size = ruby->layout.id_item.size;
	uint64_t items = fake_alloc(&ruby->target, 2 * VARIABLES * size, 8);
	made.globals = fake_alloc(&ruby->target, ruby->layout.id_table.size, 8);
	FAKE_PUT(&world.vm, made.globals, id_table, capacity, 2 * VARIABLES);
	FAKE_PUT(&world.vm, made.globals, id_table, count, VARIABLES);
	FAKE_PUT(&world.vm, made.globals, id_table, items, items);
	for (uint64_t i = 0; i < VARIABLES; i++) {
		uint64_t item = items + 2 * i * size, entry = variable(0), global = variable(0);
		char name[] = "$a0";
		name[2] = (char)(name[2] + i);
		FAKE_PUT(&world.vm, item, id_item, key,
			 fake_id(ruby, name) >> ruby->layout.constant.id_scope_shift);
		FAKE_PUT(&world.vm, item, id_item, value, entry);
		put(entry, global);
		if (!i)
			put(global + 8, made.global);
		else
			put(global + 8, variable(i == 1 ? made.indirect : 0));
	}
	made.statics = variable(made.globals);
}

/* Returns false if the fields of `rcore heap` are not measured for this Ruby. */
static bool make(int index)
{
	world_begin(index);
	if (!rcore_has_place(&world.vm.ruby.layout.memo.v1))
		return false;
	struct fake_vm *vm = &world.vm;
	const struct rcore_layout *layout = &vm->ruby.layout;
	memset(&made, 0, sizeof(made));
	uint64_t *const objects[] = {&made.top_self,  &made.registered, &made.second,
				     &made.finalizer, &made.symbols,    &made.global,
				     &made.indirect,  &made.stack,      &made.reg,
				     &made.below,     &made.beyond};
	for (size_t i = 0; i < RCORE_COUNT(objects); i++)
		*objects[i] = object();
	FAKE_PUT(vm, vm->address, vm, top_self, made.top_self);
	if (rcore_has(&layout->vm.root_box)) {
		/* From 4.0 on, it is in a box. */
		uint64_t box = fake_alloc(&vm->ruby.target, layout->box.size, 8);
		FAKE_PUT(vm, vm->address, vm, root_box, box);
		put(box + 8, made.top_self);
	}
	made.thread = FAKE_GET(vm, vm->main_thread, thread, self);
	made.list = vm->address + (uint64_t)layout->vm.living_threads.offset;
	if (rcore_has(&layout->vm.ractor_set)) {
		made.thread = object();
		FAKE_PUT(vm, vm->ractor, ractor, self, made.thread);
		made.list = vm->address + (uint64_t)layout->vm.ractor_set.offset;
	}
	make_registered();
	const struct fake_ivar finalizer = {object(), made.finalizer};
	made.table = fake_st_table(&vm->ruby, &finalizer, 1, 0);
	FAKE_PUT(vm, vm->objspace, objspace, finalizer_table, made.table);
	make_globals();
	/* From 4.0 on, sym_set. */
	put(vm->ruby.symbols + (uint64_t)layout->symbols.ids.offset - 8, made.symbols);
	/* below | sp: stack, | thread pointer: beyond */
	made.stack_at = fake_alloc(&vm->ruby.target, STACK_WORDS * 8, 8);
	put(made.stack_at, made.below);
	put(made.stack_at + 8, made.stack);
	put(made.stack_at + 24, made.beyond);
	made.registers[0] = made.stack_at + 8;
	made.registers[1] = made.reg;
	return true;
}

static void find_from(const struct rcore_roots_thread *threads, size_t count,
		      uint64_t stack_limit, struct rcore_heap *heap)
{
	struct rcore_ruby ruby;
	struct rcore_arena arena = {0};
	const struct rcore_roots_source source = {.vm = world.vm.address,
						  .objspace = world.vm.objspace,
						  .threads = threads,
						  .thread_count = count,
						  .stack_limit = stack_limit};
	struct rcore_range writable = {made.statics, made.statics + 8};
	rcore_ruby_init(&ruby, &world.vm.ruby.target.memory, &world.vm.ruby.layout, &arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ruby.global_symbols = world.vm.ruby.symbols;
	ruby.statics = (struct rcore_statics){.writable = &writable, .writable_count = 1};
	ck_assert_int_eq(world_code(rcore_roots_find(&ruby, &source, heap)), 0);
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
}

static void find(struct rcore_heap *heap)
{
	const struct rcore_roots_thread thread = {.sp = made.stack_at + 8,
						  .thread_pointer = made.stack_at + 24,
						  .registers = made.registers,
						  .register_count = 2};
	find_from(&thread, 1, RCORE_ROOTS_STACK_LIMIT, heap);
}

static void slots(struct rcore_heap *heap)
{
	struct rcore_ruby ruby;
	struct rcore_arena arena = {0};
	rcore_ruby_init(&ruby, &world.vm.ruby.target.memory, &world.vm.ruby.layout, &arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ck_assert_int_eq(world_code(rcore_graph_slots(&ruby, world.vm.objspace, heap)), 0);
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
}

/* The first root of an object and a kind; NULL: none. */
static const struct rcore_heap_root *root_of(const struct rcore_heap *heap, uint64_t value,
					     enum rcore_root_kind kind)
{
	uint32_t node = rcore_heap_node_at(heap, value, false);
	for (size_t i = 0; i < heap->root_count; i++)
		if (heap->roots[i].node == node && heap->roots[i].kind == kind)
			return &heap->roots[i];
	return NULL;
}

START_TEST(test_roots)
{
	if (!make(_i))
		return;
	struct rcore_heap heap;
	const struct {
		uint64_t value;
		enum rcore_root_kind kind;
		const char *name;
	} expected[] = {
		{made.top_self, RCORE_ROOT_VM, ""},
		{made.thread, RCORE_ROOT_THREAD, ""},
		{made.registered, RCORE_ROOT_REGISTERED, ""},
		{made.second, RCORE_ROOT_REGISTERED, ""},
		{made.symbols, RCORE_ROOT_SYMBOL, ""},
		{made.finalizer, RCORE_ROOT_FINALIZER, ""},
		{made.global, RCORE_ROOT_GLOBAL, "$a0"},
		{made.indirect, RCORE_ROOT_GLOBAL, "$a1"},
		{made.stack, RCORE_ROOT_MACHINE, ""},
		{made.reg, RCORE_ROOT_MACHINE, ""},
	};
	slots(&heap);
	find(&heap);
	ck_assert_str_eq(heap.problem, "");
	for (size_t i = 0; i < RCORE_COUNT(expected); i++) {
		const struct rcore_heap_root *root =
			root_of(&heap, expected[i].value, expected[i].kind);
		ck_assert_msg(root, "no root of kind %d to 0x%lx", expected[i].kind,
			      (unsigned long)expected[i].value);
		ck_assert(root->is_conservative == (root->kind == RCORE_ROOT_MACHINE));
		if (expected[i].name[0])
			ck_assert_str_eq(heap.names[root->name], expected[i].name);
	}
	if (rcore_has(&world.vm.ruby.layout.vm.top_self)) {
		const struct rcore_heap_root *root =
			root_of(&heap, made.top_self, RCORE_ROOT_VM);
		ck_assert_str_eq(heap.names[root->name], "top_self");
	}
	/* Below the stack pointer, and what follows the stack. */
	ck_assert_ptr_null(root_of(&heap, made.below, RCORE_ROOT_MACHINE));
	ck_assert_ptr_null(root_of(&heap, made.beyond, RCORE_ROOT_MACHINE));
	rcore_heap_deinit(&heap);
}
END_TEST

/* A root is only lost with a problem that says so. */
START_TEST(test_faults)
{
	if (!make(_i))
		return;
	struct fake_target *target = &world.vm.ruby.target;
	struct rcore_heap whole, heap;
	slots(&whole);
	fake_target_fault(target, 0, false);
	find(&whole);
	size_t reads = target->reads;
	for (size_t fail = 1; fail <= reads; fail++) {
		fake_target_fault(target, 0, false);
		slots(&heap);
		fake_target_fault(target, fail, true);
		find(&heap);
		/* The end of a machine stack is where memory ends. */
		size_t machine = 0;
		for (size_t i = 0; i < whole.root_count; i++)
			machine += whole.roots[i].kind == RCORE_ROOT_MACHINE;
		ck_assert_msg(heap.problem[0] || heap.root_count + machine >= whole.root_count,
			      "read %zu of %zu fails: %zu of %zu roots", fail, reads,
			      heap.root_count, whole.root_count);
		rcore_heap_deinit(&heap);
	}
	fake_target_fault(target, 0, false);
	rcore_heap_deinit(&whole);
}
END_TEST

static void check_cycle(const char *problem)
{
	struct rcore_heap heap;
	fake_target_fault(&world.vm.ruby.target, 0, false);
	slots(&heap);
	find(&heap);
	ck_assert_msg(strstr(heap.problem, problem), "'%s'", heap.problem);
	ck_assert_uint_lt(world.vm.ruby.target.reads, 10000);
	ck_assert_uint_lt(heap.root_count, 1000);
	rcore_heap_deinit(&heap);
}

START_TEST(test_cycles)
{
	if (!make(_i))
		return;
	for (size_t i = 0; i < RCORE_COUNT(made.entries); i++) {
		FAKE_PUT(&world.vm, made.entries[1], global_list_entry, next, made.entries[i]);
		check_cycle("rb_gc_register_address() never ends");
	}
	FAKE_PUT(&world.vm, made.entries[1], global_list_entry, next, 0);
	/* The first node of the list leads to itself, past the head. */
	uint64_t node = 0;
	rcore_read_u64(&world.vm.ruby.target.memory, made.list, &node);
	put(node, node);
	check_cycle("threads or Ractors never ends");
}
END_TEST

static size_t count_stack_roots(const struct rcore_heap *heap)
{
	size_t count = 0;
	for (size_t i = 0; i < heap->root_count; i++)
		count += heap->roots[i].kind == RCORE_ROOT_MACHINE && heap->roots[i].address;
	return count;
}

/* Threads that share one stack add its words once; the limit is for all. */
START_TEST(test_stacks)
{
	enum { THREADS = 200, WORDS = 1000 };
	if (!make(_i))
		return;
	struct rcore_heap heap;
	struct rcore_roots_thread threads[THREADS];
	uint64_t stack = fake_alloc(&world.vm.ruby.target, WORDS * 8, 8);
	for (uint64_t i = 0; i < WORDS; i++)
		put(stack + i * 8, made.stack);
	/* Half of them are within others; the last thread has all of it. */
	for (uint64_t i = 0; i < THREADS; i++)
		threads[i] = (struct rcore_roots_thread){
			.sp = i == THREADS - 1 ? stack : stack + i % 2 * WORDS * 4,
			.thread_pointer = stack + WORDS * (i % 3 || i == THREADS - 1 ? 8 : 6),
		};
	fake_target_fault(&world.vm.ruby.target, 0, false);
	slots(&heap);
	find_from(threads, THREADS, RCORE_ROOTS_STACK_LIMIT, &heap);
	ck_assert_str_eq(heap.problem, "");
	ck_assert_uint_eq(count_stack_roots(&heap), WORDS);
	rcore_heap_deinit(&heap);
	/* A limit that is reached is a problem. */
	slots(&heap);
	find_from(threads, THREADS, WORDS * 8, &heap);
	ck_assert_str_eq(heap.problem, "");
	ck_assert_uint_eq(count_stack_roots(&heap), WORDS);
	rcore_heap_deinit(&heap);
	slots(&heap);
	find_from(threads, THREADS, WORDS * 8 - 8, &heap);
	ck_assert_str_eq(heap.problem, "the machine stacks together are too large");
	ck_assert_uint_lt(count_stack_roots(&heap), WORDS);
	rcore_heap_deinit(&heap);
}
END_TEST

/* Tables of 2^60 entries. */
START_TEST(test_lengths)
{
	if (!make(_i))
		return;
	FAKE_PUT(&world.vm, made.table, st_table, entries_bound, UINT64_C(1) << 60);
	check_cycle("finalizers cannot be read");
	FAKE_PUT(&world.vm, made.table, st_table, entries_bound, 1);
	FAKE_PUT(&world.vm, made.globals, id_table, capacity, INT32_MAX);
	check_cycle("global variables was not found");
}
END_TEST

struct wanted {
	uint64_t value;
	bool is_found;
};

static void note(void *context, const struct rcore_child *child)
{
	struct wanted *wanted = context;
	wanted->is_found |= child->value == wanted->value;
}

/* Whether the object refers to the value; `*state` is what else is known of it. */
static bool refers(uint64_t from, uint64_t to, uint8_t *state)
{
	struct wanted wanted = {to, false};
	struct rcore_children children;
	struct rcore_ruby ruby;
	struct rcore_arena arena = {0};
	unsigned char slot[40];
	struct rcore_memory *memory = &world.vm.ruby.target.memory;
	rcore_ruby_init(&ruby, memory, &world.vm.ruby.layout, &arena);
	rcore_ruby_set_vm(&ruby, world.vm.address);
	ck_assert_int_eq(world_code(rcore_children_init(&children, &ruby, note, &wanted)), 0);
	ck_assert_int_eq(rcore_read(memory, from, slot, sizeof(slot)), 0);
	rcore_children_of(&children, from, slot, sizeof(slot));
	*state = children.state;
	rcore_children_deinit(&children);
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
	return wanted.is_found;
}

/* Threads refer to their fibers, and these to what is on their stacks. */
START_TEST(test_threads)
{
	if (!make(_i))
		return;
	struct fake_vm *vm = &world.vm;
	uint8_t state;
	uint64_t type = fake_alloc(&vm->ruby.target, 8, 8), receiver = object();
	uint64_t thread = FAKE_GET(vm, vm->main_thread, thread, self);
	uint64_t fiber = FAKE_GET(vm, world.parked, fiber, self);
	uint64_t running = FAKE_GET(vm, world.running, fiber, self);
	/* A type without dmark refers to nothing. */
	FAKE_PUT(vm, vm->thread_type, data_type, dmark, type);
	FAKE_PUT(vm, vm->fiber_type, data_type, dmark, type);
	FAKE_PUT(vm, world.parked_cfp[1], cfp, self, receiver);
	ck_assert(refers(thread, running, &state));
	ck_assert(refers(fiber, receiver, &state));
	ck_assert_int_eq(state & RCORE_HEAP_PARTIAL, 0);
	ck_assert(refers(fiber, world.run, &state));
	ck_assert(refers(fiber, thread, &state));
	/* A stack that is not there. */
	FAKE_PUT(vm, world.parked_cfp[1], cfp, ep, 0x1000);
	ck_assert(refers(fiber, receiver, &state));
	ck_assert_int_eq(state & RCORE_HEAP_PARTIAL, RCORE_HEAP_PARTIAL);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_roots,  test_faults,  test_cycles,
				      test_stacks, test_lengths, test_threads};
	return world_run("roots", tests, RCORE_COUNT(tests));
}
