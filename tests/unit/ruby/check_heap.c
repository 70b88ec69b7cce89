/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/count.h"
#include "ruby/get.h"
#include "ruby/heap/heap.h"
#include "ruby/heap/moved.h"
#include "ruby/iseq/label.h"
#include "ruby/object/string.h"
#include "ruby_suite.h"

enum { SLOTS = 4 };

static size_t slot_size(void)
{
	return rcore_has(&fake.layout.heap_page.slot_size) ? 80 : 40;
}

/* Creates a page of SLOTS Strings and returns the first one. */
static uint64_t make_page(uint64_t *objspace)
{
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING, RCORE_T_STRING, RCORE_T_STRING,
					      RCORE_T_STRING};
	const struct fake_page page = {80, SLOTS, flags};
	uint64_t start;
	*objspace = fake_objspace(&fake, &page, 1, &start);
	return start;
}

static uint64_t heap_page_of(uint64_t slot)
{
	uint64_t page = 0;
	rcore_read_u64(ruby.memory, slot - slot % fake.layout.traits.heap_page_align, &page);
	return page;
}

static void mark(uint64_t slot)
{
	uint64_t bit = slot % fake.layout.traits.heap_page_align / 40, word = 0;
	uint64_t at = heap_page_of(slot) + (uint64_t)fake.layout.heap_page.mark_bits.offset +
		      bit / 64 * 8;
	rcore_read_u64(ruby.memory, at, &word);
	fake_put(&fake.target, at, word | UINT64_C(1) << bit % 64);
}

/*
 * From the end of marking until its page is swept, an object without a mark is
 * garbage.
 */
START_TEST(test_garbage)
{
	begin(_i);
	uint64_t objspace, start = make_page(&objspace), size = slot_size();
	if (!rcore_has_place(&fake.layout.heap_page.mark_bits))
		return;
	uint64_t page = heap_page_of(start);
	mark(start + size);
	mark(start + 3 * size);
	ck_assert(!rcore_heap_is_garbage(&ruby, start));
	fake_put_field(&fake.target, page, &fake.layout.heap_page.before_sweep, 1);
	for (size_t i = 0; i < SLOTS; i++)
		ck_assert(rcore_heap_is_garbage(&ruby, start + i * size) == !(i % 2));
	for (size_t i = 0; i < SLOTS; i++)
		ck_assert(rcore_heap_is_alive(&ruby, start + i * size, false) == i % 2);
	/* The collector may be sweeping this page. */
	fake_put_field(&fake.target, page, &fake.layout.heap_page.before_sweep, 0);
	for (size_t i = 0; i < SLOTS; i++) {
		ck_assert(rcore_heap_is_alive(&ruby, start + i * size, false));
		ck_assert(rcore_heap_is_alive(&ruby, start + i * size, true) == i % 2);
		ck_assert(rcore_heap_may_be_garbage(&ruby, start + i * size, true) == !(i % 2));
	}
	/* Not a slot. */
	ck_assert(!rcore_heap_is_alive(&ruby, page, false));
	ck_assert(!rcore_heap_is_garbage(&ruby, page));
	ck_assert(!rcore_heap_is_garbage(&ruby, start - 8));
	ck_assert(!rcore_heap_is_garbage(&ruby, 0));
}
END_TEST

static void blank(uint64_t heap_page, uint64_t start)
{
	const struct rcore_layout *layout = &fake.layout;
	fake_put_field(&fake.target, heap_page, &layout->heap_page.start, start);
	fake_put_field(&fake.target, heap_page, &layout->heap_page.total_slots, 0);
	if (rcore_has(&layout->heap_page.slot_size))
		fake_put_field(&fake.target, heap_page, &layout->heap_page.slot_size, 0);
}

/*
 * The last page that was added may be in the list before it has slots. The
 * collector adds one page at a time, so more than one is an error.
 */
START_TEST(test_page_being_made)
{
	enum { PAGES = 3 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING};
	static const struct fake_page pages[PAGES] = {
		{80, SLOTS, flags}, {80, SLOTS, flags}, {80, SLOTS, flags}};
	static const struct {
		size_t tested, held;
	} proofs[] = {{3, 3}, {2, 2}, {2, 1}};
	uint64_t starts[PAGES];
	begin(_i);
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts);
	for (size_t blanks = 0; blanks < RCORE_COUNT(proofs); blanks++) {
		size_t tested, held;
		OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
		ck_assert_uint_eq(tested, proofs[blanks].tested);
		ck_assert_uint_eq(held, proofs[blanks].held);
		uint64_t start = starts[PAGES - 1 - blanks];
		blank(heap_page_of(start), start);
	}
}
END_TEST

static bool count(void *context, uint64_t value, const void *copy, size_t size)
{
	++*(size_t *)context;
	return true;
}

/*
 * The compiler decides whether the number or the size of a page's slots is
 * written first.
 */
START_TEST(test_page_half_made)
{
	enum { PAGES = 3 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING};
	static const struct fake_page pages[PAGES] = {
		{80, SLOTS, flags}, {80, SLOTS, flags}, {80, SLOTS, flags}};
	uint64_t starts[PAGES];
	begin(_i);
	const struct rcore_layout *layout = &fake.layout;
	const struct rcore_field *unwritten[] = {&layout->heap_page.total_slots,
						 &layout->heap_page.slot_size};
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts);
	for (size_t i = 0; i < RCORE_COUNT(unwritten) && rcore_has(unwritten[i]); i++) {
		size_t tested, held, unreadable, objects = 0;
		uint64_t page = heap_page_of(starts[PAGES - 1]), value;
		ck_assert(!rcore_read_field(&fake.target.memory, page, unwritten[i], &value));
		fake_put_field(&fake.target, page, unwritten[i], 0);
		OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
		ck_assert_uint_eq(tested, PAGES - 1);
		ck_assert_uint_eq(held, PAGES - 1);
		OK(rcore_heap_walk(&ruby, objspace, RCORE_T_STRING, count, &objects,
				   &unreadable));
		ck_assert_uint_eq(objects, PAGES - 1);
		ck_assert_uint_eq(unreadable, 0);
		fake_put_field(&fake.target, page, unwritten[i], value);
	}
}
END_TEST

/*
 * Up to 3.3, the body of a page points to its heap_page last. An older page,
 * which has marks, or a body with contents is damaged.
 */
START_TEST(test_page_without_body)
{
	enum { PAGES = 3 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING};
	static const struct fake_page pages[PAGES] = {
		{80, SLOTS, flags}, {80, SLOTS, flags}, {80, SLOTS, flags}};
	static const struct {
		uint64_t back, flags; /* of the first object */
		bool is_marked, is_new;
	} bodies[] = {{0, RCORE_T_STRING, false, false},
		      {0, 0, false, true},
		      {8, 0, false, false},
		      {0, 0, true, false}};
	uint64_t starts[PAGES];
	begin(_i);
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts);
	uint64_t body = starts[1] - starts[1] % fake.layout.traits.heap_page_align, page;
	ck_assert(!rcore_read_u64(ruby.memory, body, &page));
	for (size_t i = 0; i < RCORE_COUNT(bodies); i++) {
		bool is_new = bodies[i].is_new && !fake.layout.traits.heap_pages_darray;
		size_t tested, held, unreadable, objects = 0;
		if (bodies[i].is_marked && !rcore_has_place(&fake.layout.heap_page.mark_bits))
			continue;
		fake_put(&fake.target, body, page);
		if (bodies[i].is_marked)
			mark(starts[1]);
		fake_put(&fake.target, body, bodies[i].back);
		fake_put(&fake.target, starts[1], bodies[i].flags);
		OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
		ck_assert_uint_eq(tested, is_new ? PAGES - 1 : PAGES);
		ck_assert_uint_eq(held, PAGES - 1);
		OK(rcore_heap_walk(&ruby, objspace, RCORE_T_STRING, count, &objects,
				   &unreadable));
		ck_assert_uint_eq(objects, PAGES - 1);
		ck_assert_uint_eq(unreadable, is_new ? 0 : 1);
	}
}
END_TEST

/* A memory that notes whether one range is read. */
struct watch {
	struct rcore_memory memory;
	uint64_t start, end;
	bool is_read;
};

static enum rcore_fault read_watched(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct watch *watch = (struct watch *)memory;
	watch->is_read |= address < watch->end && watch->start < address + size;
	return rcore_read(&fake.target.memory, address, buffer, size);
}

/*
 * A pack keeps all that a proof reads, so no proof reads what objects contain:
 * also if the page is damaged so that it looks like one that is being made.
 */
START_TEST(test_proof_reads_no_contents)
{
	enum { PAGES = 3 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING, RCORE_T_STRING};
	static const struct fake_page pages[PAGES] = {
		{80, SLOTS, flags}, {80, SLOTS, flags}, {80, SLOTS, flags}};
	uint64_t starts[PAGES], page;
	size_t tested, held;
	begin(_i);
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts);
	uint64_t body = starts[1] - starts[1] % fake.layout.traits.heap_page_align;
	ck_assert(!rcore_read_u64(ruby.memory, body, &page));
	const uint64_t backs[] = {page, 0};
	for (size_t i = 0; i < RCORE_COUNT(backs); i++) {
		struct watch watch = {.memory = {.read = read_watched},
				      .start = starts[1] + sizeof(uint64_t),
				      .end = starts[1] + SLOTS * slot_size()};
		fake_put(&fake.target, body, backs[i]);
		ruby.memory = &watch.memory;
		OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
		ruby.memory = &fake.target.memory;
		ck_assert(!watch.is_read);
	}
}
END_TEST

/*
 * From 3.4 on, pages without living objects stay in the list, blank. Most pages
 * may be blank, but not all. The walk reads nothing beyond the list.
 */
START_TEST(test_empty_pages)
{
	enum { PAGES = 300, KEPT = 7 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING, RCORE_T_STRING, RCORE_T_STRING,
					      RCORE_T_STRING};
	struct fake_page pages[PAGES];
	uint64_t starts[PAGES];
	size_t tested, held, unreadable, objects = 0;
	begin(_i);
	if (!fake.layout.traits.heap_pages_darray)
		return;
	for (size_t i = 0; i < PAGES; i++)
		pages[i] = (struct fake_page){80, SLOTS, flags};
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts);
	for (size_t i = 0; i < PAGES; i++)
		if (i % (PAGES / KEPT) != PAGES / KEPT - 1)
			blank(heap_page_of(starts[i]), 0);
	OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
	ck_assert_uint_eq(tested, KEPT);
	ck_assert_uint_eq(held, KEPT);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_STRING, count, &objects, &unreadable));
	ck_assert_uint_eq(objects, KEPT * SLOTS);
	ck_assert_uint_eq(unreadable, 0);
	for (size_t i = 0; i < PAGES; i++)
		blank(heap_page_of(starts[i]), 0);
	ck_assert_int_eq(code(rcore_heap_prove(&ruby, objspace, &tested, &held)),
			 RCORE_ERROR_CORRUPT);
}
END_TEST

/* To insert a page, the collector moves the end of the sorted list up. */
START_TEST(test_page_list_being_moved)
{
	enum { PAGES = 3 };
	static const uint64_t flags[SLOTS] = {RCORE_T_STRING};
	static const struct fake_page pages[PAGES] = {
		{80, SLOTS, flags}, {80, SLOTS, flags}, {80, SLOTS, flags}};
	/* Entries of the list, and how many pages can be tested. */
	static const struct {
		size_t entries[PAGES], tested, held;
	} lists[] = {
		{{0, 1, 2}, 3, 3}, {{0, 1, 1}, 2, 2}, {{0, 0, 2}, 2, 2},
		{{0, 0, 1}, 2, 2}, {{0, 2, 1}, 3, 2}, {{0, 1, 0}, 3, 2},
	};
	uint64_t starts[PAGES], found[PAGES];
	begin(_i);
	uint64_t objspace = fake_objspace(&fake, pages, PAGES, starts), list;
	OK(RCORE_GET(&ruby, objspace, objspace, heap_pages_sorted, &list));
	if (fake.layout.traits.heap_pages_darray)
		list += fake.layout.darray.size;
	for (size_t i = 0; i < PAGES; i++)
		found[i] = heap_page_of(starts[i]);
	for (size_t i = 0; i < RCORE_COUNT(lists); i++) {
		size_t tested, held;
		for (size_t j = 0; j < PAGES; j++)
			fake_put(&fake.target, list + j * 8, found[lists[i].entries[j]]);
		OK(rcore_heap_prove(&ruby, objspace, &tested, &held));
		ck_assert_uint_eq(tested, lists[i].tested);
		ck_assert_uint_eq(held, lists[i].held);
	}
}
END_TEST

static uint64_t vm_of(uint64_t objspace)
{
	uint64_t vm = fake_alloc(&fake.target, fake.layout.vm.size, 8);
	fake_put_field(&fake.target, vm, &fake.layout.vm.objspace, objspace);
	return vm;
}

static struct rcore_error *text_of(uint64_t value, const char **ret)
{
	return rcore_text(&ruby, value, ret, NULL);
}

/*
 * While the heap is compacted, a reference may lead to the slot that its object
 * left.
 */
START_TEST(test_moved)
{
	begin(_i);
	const struct rcore_layout *layout = &fake.layout;
	const char *text = NULL;
	uint64_t objspace, start = make_page(&objspace), vm = vm_of(objspace), flags;
	uint64_t from = start + slot_size(), to = fake_string(&fake, "moved");
	size_t moved = 0;
	if (!rcore_has_place(&layout->moved.destination))
		return;
	fake_put(&fake.target, from, RCORE_T_MOVED);
	fake_put_field(&fake.target, from, &layout->moved.destination, to);
	/* A slot that points nowhere is left as it is. */
	fake_put(&fake.target, start, RCORE_T_MOVED);
	fake_put_field(&fake.target, start, &layout->moved.destination, 0);

	/* After compaction, the old slot is free, and nothing refers to it. */
	rcore_moved_follow(&ruby, vm);
	ck_assert_int_eq(code(text_of(from, &text)), RCORE_ERROR_CORRUPT);
	ck_assert_uint_eq(rcore_moved_to(&ruby, from), from);

	fake_put_field(&fake.target, objspace, &layout->objspace.during_compacting, 1);
	rcore_moved_follow(&ruby, vm);
	OK(text_of(from, &text));
	ck_assert_str_eq(text, "moved");
	OK(text_of(to, &text));
	ck_assert_int_eq(code(text_of(start, &text)), RCORE_ERROR_CORRUPT);
	/*
	 * Code that asks for a slot gets the slot, not the object that left it.
	 */
	uint64_t slot;
	enum rcore_type type;
	ck_assert(rcore_heap_slot(&ruby, from + 8, &slot, &type));
	ck_assert_uint_eq(slot, from);
	ck_assert_int_eq(type, RCORE_T_MOVED);
	ck_assert_uint_eq(rcore_moved_to(&ruby, from), to);
	ck_assert_uint_eq(rcore_moved_to(&ruby, to), to);
	/*
	 * Reads across slots return memory unchanged; a walk of the heap still
	 * sees the old slots.
	 */
	uint64_t words[16];
	ck_assert_int_eq(rcore_read(ruby.memory, from - 8, words, sizeof(words)), 0);
	ck_assert_uint_eq(words[1], RCORE_T_MOVED);
	OK(rcore_heap_walk(&ruby, objspace, RCORE_T_MOVED, count, &moved, NULL));
	ck_assert_uint_eq(moved, 2);
	OK(rcore_flags(&ruby, from, &flags));
	ck_assert_uint_eq(flags & RCORE_T_MASK, RCORE_T_STRING);
}
END_TEST

/*
 * References to one iseq are corrected one after the other: here, that of a
 * block to its parent, but not yet that to its local iseq.
 */
START_TEST(test_half_moved)
{
	begin(_i);
	const struct rcore_layout *layout = &fake.layout;
	const struct rcore_iseq_info *iseq;
	const char *label = NULL, *problem = NULL;
	uint64_t objspace, from = make_page(&objspace), vm = vm_of(objspace);
	if (!rcore_has_place(&layout->moved.destination))
		return;
	uint64_t run = ISEQ(RCORE_ISEQ_METHOD, "a.rb", "run");
	uint64_t block =
		ISEQ(RCORE_ISEQ_BLOCK, "a.rb", "block in run", .parent = run, .local = from);
	fake_put(&fake.target, from, RCORE_T_MOVED);
	fake_put_field(&fake.target, from, &layout->moved.destination, run);
	fake_put_field(&fake.target, objspace, &layout->objspace.during_compacting, 1);
	rcore_moved_follow(&ruby, vm);
	ck_assert(rcore_is_same_object(&ruby, from, run));
	ck_assert(!rcore_is_same_object(&ruby, from, block));
	OK(rcore_iseq(&ruby, block, &iseq));
	OK(rcore_label(&ruby, iseq, NULL, &label, &problem));
	ck_assert_str_eq(label, "block in run");
	ck_assert_ptr_null(problem);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_garbage,
				      test_page_being_made,
				      test_page_half_made,
				      test_page_without_body,
				      test_proof_reads_no_contents,
				      test_empty_pages,
				      test_page_list_being_moved,
				      test_moved,
				      test_half_moved};
	return run_suite("heap", tests, RCORE_COUNT(tests));
}
