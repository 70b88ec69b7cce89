/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/count.h"
#include "core_builder.h"
#include "referrers.h"
#include "ruby/children/census.h"
#include "ruby/children/memsize.h"
#include "ruby/heap/heap_core_scan.h"
#include "ruby/object/shape.h"
#include "ruby_suite.h"
#include "target/core/core.h"

/* A heap of more than the megabyte from which on two threads count it. */
enum { HEAP = 3 << 19, CLASSES = 300 };

struct heap {
	uint64_t objspace;
	size_t count;
	uint64_t *starts, *heap_pages;
};

/* Gives each slot a type, a class and words, some of which lead to memory. */
static void fill(const struct heap *heap, size_t page)
{
	const struct rcore_layout *layout = &fake.layout;
	uint64_t start = heap->starts[page], size = layout->traits.default_slot_size;
	uint64_t slots = 0;
	ck_assert(!rcore_read_field(ruby.memory, heap->heap_pages[page],
				    &layout->heap_page.total_slots, &slots));
	if (rcore_has(&layout->heap_page.slot_size))
		ck_assert(!rcore_read_field(ruby.memory, heap->heap_pages[page],
					    &layout->heap_page.slot_size, &size));
	for (uint64_t i = 0; i < slots; i++) {
		uint64_t slot = start + i * size;
		fake_put(&fake.target, slot, (uint64_t)rand() << 5 | (rand() & RCORE_T_MASK));
		fake_put(&fake.target, slot + 8, 0x10000 + rand() % CLASSES * 8);
		for (uint64_t at = 16; at < size; at += 8)
			fake_put(&fake.target, slot + at,
				 rand() % 2 ? (uint64_t)rand() % 5000
					    : heap->starts[(size_t)rand() % heap->count]);
	}
	fake_put_field(&fake.target, heap->heap_pages[page], &layout->heap_page.before_sweep,
		       page % 4 == 1);
	if (rcore_has_place(&layout->heap_page.mark_bits))
		for (uint64_t at = 0; at < 16; at++)
			fake_put(&fake.target,
				 heap->heap_pages[page] +
					 (uint64_t)layout->heap_page.mark_bits.offset + at * 8,
				 (uint64_t)rand() << 32 | (uint64_t)rand());
}

static struct heap make(void)
{
	static const size_t sizes[] = {40, 80, 160, 320, 640};
	size_t count = HEAP / fake.layout.traits.heap_page_align + 1;
	struct fake_page *pages = calloc(count, sizeof(*pages));
	struct heap heap = {.count = count,
			    .starts = calloc(count, sizeof(*heap.starts)),
			    .heap_pages = calloc(count, sizeof(*heap.heap_pages))};
	ck_assert(pages && heap.starts && heap.heap_pages);
	for (size_t i = 0; i < count; i++)
		pages[i].slot_size = sizes[i % RCORE_COUNT(sizes)];
	heap.objspace = fake_objspace(&fake, pages, count, heap.starts);
	for (size_t i = 0; i < count; i++) {
		uint64_t body =
			heap.starts[i] - heap.starts[i] % fake.layout.traits.heap_page_align;
		ck_assert(!rcore_read_u64(ruby.memory, body, &heap.heap_pages[i]));
	}
	for (size_t i = 0; i < count; i++)
		fill(&heap, i);
	free(pages);
	return heap;
}

/* A core of all memory but the range at `left_out`. */
static struct rcore_core *core_of(uint64_t left_out)
{
	struct core_builder builder = {0};
	struct rcore_core *core;
	size_t size;
	core_note_status(&builder, 1, 6, 0, 0, 0);
	for (size_t i = 0; i < fake.target.range_count; i++) {
		const struct fake_range *range = &fake.target.ranges[i];
		core_load(&builder, range->start, range->bytes,
			  range->start == left_out ? 0 : range->size, range->size, 6);
	}
	unsigned char *bytes = core_build(&builder, &size);
	OK(rcore_core_open(write_file("core", bytes, size), &core));
	free(bytes);
	core_deinit(&builder);
	return core;
}

static void is_same(const struct rcore_census *a, const struct rcore_census *b)
{
	ck_assert_uint_eq(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		ck_assert_uint_eq(a->items[i].key, b->items[i].key);
		ck_assert_uint_eq(a->items[i].type, b->items[i].type);
		ck_assert_uint_eq(a->items[i].count, b->items[i].count);
		ck_assert_uint_eq(a->items[i].bytes, b->items[i].bytes);
	}
	ck_assert_uint_eq(a->pools.count, b->pools.count);
	for (size_t i = 0; i < a->pools.count; i++) {
		const struct rcore_census_pool *x = &a->pools.items[i];
		const struct rcore_census_pool *y = &b->pools.items[i];
		ck_assert_uint_eq(x->slot_size, y->slot_size);
		ck_assert_uint_eq(x->pages, y->pages);
		ck_assert_uint_eq(x->slots, y->slots);
		ck_assert_uint_eq(x->free, y->free);
		ck_assert_uint_eq(x->sparse_pages, y->sparse_pages);
	}
	ck_assert_uint_eq(a->unknown_sizes, b->unknown_sizes);
	ck_assert_uint_eq(a->unswept, b->unswept);
	ck_assert_uint_eq(a->absent_pages, b->absent_pages);
}

static bool see(void *context, int thread, const struct rcore_heap_page *page,
		const unsigned char *slots)
{
	__atomic_fetch_add((size_t *)context + thread, 1, __ATOMIC_RELAXED);
	return true;
}

/* Counts a core by the pages it has mapped, and by reads; the same comes out. */
static void compare(const struct heap *heap, uint64_t left_out, bool is_scanned)
{
	struct rcore_core *core = core_of(left_out);
	struct rcore_census scanned, walked;
	size_t pages[2] = {0};
	read_again();
	ruby.memory = rcore_core_memory(core);
	OK(rcore_census(&ruby, heap->objspace, &walked));
	ck_assert_uint_gt(walked.count, CLASSES);
	read_again();
	ruby.memory = rcore_core_memory(core);
	ruby.core = core;
	ck_assert(rcore_heap_core_scan(&ruby, heap->objspace, see, pages) == is_scanned);
	if (is_scanned)
		ck_assert_uint_eq(pages[0] + pages[1], heap->count);
	OK(rcore_census(&ruby, heap->objspace, &scanned));
	is_same(&scanned, &walked);
	rcore_census_deinit(&scanned);
	rcore_census_deinit(&walked);
	ruby.core = NULL;
	ruby.memory = &fake.target.memory;
	rcore_core_close(core);
}

START_TEST(test_threads_count_the_same)
{
	begin(_i);
	srand((unsigned)_i);
	struct heap heap = make();
	compare(&heap, 0, true);
	/* the body of a page, and a heap_page */
	uint64_t align = fake.layout.traits.heap_page_align;
	compare(&heap, heap.starts[3] - heap.starts[3] % align, false);
	compare(&heap, heap.heap_pages[heap.count - 1], false);
	/* a page that points to another struct */
	fake_put(&fake.target, heap.starts[2] - heap.starts[2] % align, heap.heap_pages[1]);
	compare(&heap, 0, false);
	free(heap.starts);
	free(heap.heap_pages);
}
END_TEST

/* The memory of a core whose file has lost a page since it was scanned. */
struct shrunk {
	struct rcore_memory base;
	struct rcore_memory *memory;
	uint64_t start, end;
};

static enum rcore_fault read_shrunk(struct rcore_memory *memory, uint64_t address, void *buffer,
				    size_t size)
{
	struct shrunk *shrunk = (struct shrunk *)memory;
	return address + size > shrunk->start && address < shrunk->end
		       ? RCORE_FAULT_NOT_SAVED
		       : rcore_read(shrunk->memory, address, buffer, size);
}

/* What can no longer be read is counted, and its size is not known. */
START_TEST(test_lost_objects_are_counted)
{
	begin(_i);
	srand((unsigned)_i);
	struct heap heap = make();
	struct rcore_core *core = core_of(0);
	struct rcore_census whole, other;
	struct shrunk shrunk = {.base.read = read_shrunk,
				.memory = rcore_core_memory(core),
				.start = heap.starts[0],
				.end = heap.starts[1]};
	uint64_t sums[2] = {0};
	ck_assert_uint_lt(shrunk.start, shrunk.end);
	read_again();
	ruby.memory = rcore_core_memory(core);
	ruby.core = core;
	OK(rcore_census(&ruby, heap.objspace, &whole));
	read_again();
	ruby.memory = &shrunk.base;
	ruby.core = core;
	OK(rcore_census(&ruby, heap.objspace, &other));
	for (size_t i = 0; i < whole.count; i++)
		sums[0] += whole.items[i].count;
	for (size_t i = 0; i < other.count; i++)
		sums[1] += other.items[i].count;
	ck_assert_uint_eq(sums[0], sums[1]);
	ck_assert_uint_gt(other.unknown_sizes, whole.unknown_sizes);
	rcore_census_deinit(&whole);
	rcore_census_deinit(&other);
	ruby.core = NULL;
	ruby.memory = &fake.target.memory;
	rcore_core_close(core);
	free(heap.starts);
	free(heap.heap_pages);
}
END_TEST

/* Whatever their other words are, objects in their slots alone add nothing. */
START_TEST(test_flags_show_objects_in_their_slots)
{
	enum { ROUNDS = 2000, WORDS = 5 };
	size_t found = 0;
	begin(_i);
	srand((unsigned)_i);
	const struct rcore_slot_only rules = rcore_slot_only(&ruby);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t words[WORDS], bytes = 1;
		for (size_t k = 0; k < WORDS; k++)
			words[k] = (uint64_t)rand() << 32 | (uint64_t)rand();
		words[0] &= UINT64_C(0xffffffff);
		if (!rcore_is_slot_only(&rules, words[0]))
			continue;
		found++;
		ck_assert(rcore_memsize(&ruby, 0x10000, words, sizeof(words), &bytes));
		ck_assert_uint_eq(bytes, 0);
	}
	ck_assert_uint_gt(found, ROUNDS / 10);
}
END_TEST

/* The C memory of a T_DATA; false if it is not known. */
static bool measure(uint64_t object, uint64_t *bytes)
{
	unsigned char copy[40];
	ck_assert(!rcore_read(ruby.memory, object, copy, sizeof(copy)));
	return rcore_memsize(&ruby, object, copy, sizeof(copy), bytes);
}

/* A T_DATA whose type has a dsize function. */
static uint64_t sized(const char *name, uint64_t *data)
{
	const struct rcore_layout *layout = &fake.layout;
	uint64_t type;
	*data = fake_alloc(&fake.target, 256, 8);
	uint64_t object = fake_typed(&fake, name, *data);
	ck_assert(!rcore_read_field(ruby.memory, object, &layout->data.type, &type));
	fake_put_field(&fake.target, type, &layout->data_type.dsize, 0x1000);
	return object;
}

/* Only types in the module of the VM are those that rcore knows by name. */
START_TEST(test_types_of_extensions_have_no_known_size)
{
	static const char *const names[] = {"mutex", "method", "proc", "condvar"};
	uint64_t data, bytes, mutex_data;
	begin(_i);
	const struct rcore_layout *layout = &fake.layout;
	const struct rcore_range none = {0}, all = {1, UINT64_MAX};
	if (!rcore_has(&layout->data_type.dsize))
		return;
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		uint64_t object = sized(names[i], &data);
		ck_assert(!measure(object, &bytes));
		read_again();
		ruby.statics.module = none;
		ck_assert(!measure(object, &bytes));
		read_again();
		ruby.statics.module = all;
		ck_assert(measure(object, &bytes));
		ck_assert_uint_gt(bytes, 0);
		read_again();
	}
	if (!layout->monitor.size)
		return;
	/* An extension that comes with Ruby; what it wraps shows that. */
	uint64_t monitor = sized("monitor", &data), mutex = sized("mutex", &mutex_data), type;
	ck_assert(!measure(monitor, &bytes));
	fake_put_field(&fake.target, data, &layout->monitor.mutex, mutex);
	read_again();
	ck_assert(!measure(monitor, &bytes));
	read_again();
	ck_assert(!rcore_read_field(ruby.memory, mutex, &layout->data.type, &type));
	ruby.statics.module = (struct rcore_range){type, type + 1};
	ck_assert(measure(monitor, &bytes));
	ck_assert_uint_eq(bytes, layout->monitor.size);
}
END_TEST

/* If no shape is the one of a table, that is found out once. */
START_TEST(test_lack_of_a_shape_is_remembered)
{
	begin(_i);
	if (!fake.layout.traits.shapes)
		return;
	fake.layout.constant.shape_too_complex = 100;
	fake.layout.constant.shape_id_fl_too_complex = RCORE_NO_CONSTANT;
	fake_target_fault(&fake.target, 0, false);
	ck_assert_uint_eq(rcore_shape_of_too_complex(&ruby), RCORE_NO_SHAPE);
	ck_assert_uint_gt(fake.target.reads, 0);
	fake_target_fault(&fake.target, 0, false);
	ck_assert_uint_eq(rcore_shape_of_too_complex(&ruby), RCORE_NO_SHAPE);
	ck_assert_uint_eq(fake.target.reads, 0);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_threads_count_the_same,
				      test_lost_objects_are_counted,
				      test_flags_show_objects_in_their_slots,
				      test_types_of_extensions_have_no_known_size,
				      test_lack_of_a_shape_is_remembered};
	return run_suite("census", tests, RCORE_COUNT(tests));
}
