/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_vm.h"
#include "heap/dominators.h"
#include "heap/duplicates.h"
#include "heap/path.h"
#include "heap/walk.h"
#include "referrers.h"
#include "ruby/children/graph.h"
#include "ruby/object/value.h"
#include "target.h"
#include "vm/roots.h"

/*
 * The heap of a VM in fake memory, of which words are changed: its slots, edges and roots, and
 * what is computed of them. The first byte selects the layout, then come records of RECORD
 * bytes: which word, how, and a number.
 */
enum { RECORD = 12, RECORD_LIMIT = 64, SLOT = 40, STACK_WORDS = 16, LISTED = 8 };

enum change { SET, FLIP, ADD, POINT, CHANGE_COUNT };

/* One for which the fields of `rcore heap` are measured. */
static void choose_layout(size_t choice, struct rcore_layout *ret)
{
	size_t count = 0;
	while (rcore_layout_builtin_name(count))
		count++;
	for (size_t i = 0; i < count; i++) {
		struct rcore_error *err = rcore_layout_builtin((choice + i) % count, ret);
		if (err)
			abort();
		if (rcore_has_place(&ret->memo.v1))
			return;
	}
	abort();
}

/* Puts a copy of each referrer into the page. */
static void fill_page(struct fake_vm *vm)
{
	for (size_t i = 0; i < referrer_count && vm->slot < vm->slots_end; i++) {
		struct referrer referrer = {0};
		unsigned char slot[SLOT];
		referrers[i](&vm->ruby, &referrer);
		if (!referrer.name ||
		    rcore_read(&vm->ruby.target.memory, referrer.object, slot, sizeof(slot)))
			continue;
		fake_write(&vm->ruby.target, vm->slot, slot, sizeof(slot));
		vm->slot += SLOT;
	}
}

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	memcpy(&number, bytes, size);
	return number;
}

/* Any word: each range has its share, however long it is. */
static void change_word(struct fake_target *target, const uint8_t *record)
{
	struct fake_range *range = &target->ranges[number_at(record, 2) % target->range_count];
	struct fake_range *other = &target->ranges[record[4] % target->range_count];
	uint64_t number = number_at(record + 4, 8), old;
	if (range->size < sizeof(old))
		return;
	size_t at = record[2] % (range->size / sizeof(old)) * sizeof(old);
	memcpy(&old, range->bytes + at, sizeof(old));
	const uint64_t changed[CHANGE_COUNT] = {
		[SET] = number,
		[FLIP] = old ^ UINT64_C(1) << number % 64,
		[ADD] = old + (uint64_t)(int16_t)number,
		[POINT] = other->start + record[5] * sizeof(old),
	};
	memcpy(range->bytes + at, &changed[record[3] % CHANGE_COUNT], sizeof(old));
}

static void compute(const struct rcore_heap *heap)
{
	struct rcore_heap_walk walk;
	struct rcore_dominators dominators;
	struct rcore_heap_paths paths;
	if (!rcore_heap_walk_init(heap, &walk)) {
		if (!rcore_dominators_init(&walk, &dominators))
			rcore_dominators_deinit(&dominators);
		rcore_heap_walk_deinit(&walk);
	}
	if (rcore_heap_paths_init(heap, &paths))
		return;
	for (uint32_t node = 0; node < heap->node_count && node < 64; node++) {
		struct rcore_heap_path path;
		struct rcore_heap_referrers found;
		if (!rcore_heap_path_init(&paths, node, &path))
			rcore_heap_path_deinit(&path);
		if (!rcore_heap_referrers_init(heap, node, LISTED, &found))
			rcore_heap_referrers_deinit(&found);
	}
	rcore_heap_paths_deinit(&paths);
}

static void read_heap(struct fake_vm *vm, uint64_t stack, const struct rcore_range *writable)
{
	struct rcore_arena arena = {0};
	struct rcore_ruby ruby;
	struct rcore_heap heap = {0};
	const uint64_t registers[] = {stack, vm->slot - SLOT};
	const struct rcore_roots_thread thread = {
		.sp = stack, .registers = registers, .register_count = RCORE_COUNT(registers)};
	const struct rcore_roots_source source = {vm->address, vm->objspace, &thread, 1,
						  RCORE_ROOTS_STACK_LIMIT};
	rcore_ruby_init(&ruby, &vm->ruby.target.memory, &vm->ruby.layout, &arena);
	rcore_ruby_set_vm(&ruby, vm->address);
	ruby.global_symbols = vm->ruby.symbols;
	ruby.statics = (struct rcore_statics){
		.writable = writable, .writable_count = 1, .module = {1, UINT64_MAX}};
	struct rcore_error *err = rcore_graph_slots(&ruby, vm->objspace, &heap);
	if (!err)
		err = rcore_graph_edges(&ruby, &heap);
	if (!err)
		err = rcore_roots_find(&ruby, &source, &heap);
	if (!err)
		compute(&heap);
	rcore_error_free(err);
	rcore_heap_deinit(&heap);
	rcore_ruby_deinit(&ruby);
	rcore_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct rcore_layout layout;
	struct fake_vm vm;
	if (!size)
		return 0;
	choose_layout(bytes[0], &layout);
	fake_vm_init(&vm, &layout);
	fill_page(&vm);
	uint64_t stack = fake_alloc(&vm.ruby.target, STACK_WORDS * sizeof(uint64_t), 8);
	for (uint64_t i = 0; i < STACK_WORDS; i++)
		fake_put(&vm.ruby.target, stack + i * sizeof(uint64_t), vm.slot - i * SLOT);
	const struct rcore_range writable = {vm.ruby.statics,
					     vm.ruby.statics + FAKE_STATICS_SIZE};
	for (size_t at = 1; at + RECORD <= size && at < RECORD * RECORD_LIMIT; at += RECORD)
		change_word(&vm.ruby.target, bytes + at);
	read_heap(&vm, stack, &writable);
	fake_vm_deinit(&vm);
	return 0;
}
