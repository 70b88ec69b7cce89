/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "sampler/stack/stack.h"
#include "suite.h"
#include "tables.h"

/*
 * Checks what two copies of a stack prove. The stack has FRAMES frames, the
 * innermost first, each with an environment of its own.
 */

enum { FRAMES = 5, WORDS = 256, ENVIRONMENT = 3 };
enum { ID_THREAD = 0x1000, ID_EC = 0x2000, ID_VM = 0x3000, BOTTOM = 0x100000 };

static struct rcore_layout layout;
static struct rcore_stack_reader reader;
static struct rcore_stack stack;

static void put(uint8_t *bytes, const struct rcore_field *field, uint64_t value)
{
	memcpy(bytes + field->offset, &value, sizeof(value));
}

static uint8_t *piece(enum rcore_piece_id id, uint64_t start, size_t size)
{
	struct rcore_piece *set = &stack.pieces[id];
	ck_assert(rcore_piece_set(set, start, size));
	set->read = size;
	memset(set->bytes, 0, size);
	return set->bytes;
}

static uint64_t top(void)
{
	return BOTTOM + WORDS * sizeof(uint64_t);
}

/* Returns the address of a frame; the innermost is 0. */
static uint64_t frame_at(size_t index)
{
	return top() - (FRAMES - index) * layout.cfp.size;
}

static uint64_t ep_of(size_t index)
{
	return BOTTOM + (FRAMES - index) * 8 * sizeof(uint64_t);
}

static void fill_frames(enum rcore_piece_id id)
{
	uint8_t *bytes = piece(id, frame_at(0), FRAMES * layout.cfp.size);
	for (size_t i = 0; i < FRAMES; i++, bytes += layout.cfp.size) {
		put(bytes, &layout.cfp.pc, 0x5000 + i);
		put(bytes, &layout.cfp.sp, ep_of(i) + sizeof(uint64_t));
		put(bytes, &layout.cfp.iseq, 0x6000 + i);
		put(bytes, &layout.cfp.self, 0x7000 + i);
		put(bytes, &layout.cfp.ep, ep_of(i));
	}
}

static void fill_values(enum rcore_piece_id id)
{
	uint8_t *bytes = piece(id, BOTTOM, ep_of(0) + sizeof(uint64_t) - BOTTOM);
	for (size_t i = 0; i < stack.pieces[id].size / sizeof(uint64_t); i++)
		memcpy(bytes + i * sizeof(i), &i, sizeof(i));
}

/* Makes two equal copies of a stack, whose place was guessed correctly. */
static void make_copies(void)
{
	layout = table_of("3.3.8-x86_64");
	reader = (struct rcore_stack_reader){.layout = &layout, .vm = ID_VM};
	stack = (struct rcore_stack){.thread = ID_THREAD,
				     .ec = ID_EC,
				     .bottom = BOTTOM,
				     .top = top(),
				     .frames_from = frame_at(0),
				     .values_to = ep_of(0) + sizeof(uint64_t)};
	uint8_t *thread = piece(RCORE_PIECE_THREAD, ID_THREAD, layout.thread.size);
	put(thread, &layout.thread.vm, ID_VM);
	put(thread, &layout.thread.ec, ID_EC);
	uint8_t *ec = piece(RCORE_PIECE_EC_BETWEEN, ID_EC, layout.ec.size);
	put(ec, &layout.ec.vm_stack, BOTTOM);
	put(ec, &layout.ec.vm_stack_size, WORDS);
	put(ec, &layout.ec.cfp, frame_at(0));
	put(ec, &layout.ec.thread_ptr, ID_THREAD);
	fill_frames(RCORE_PIECE_FRAMES);
	fill_frames(RCORE_PIECE_FRAMES_AGAIN);
	fill_values(RCORE_PIECE_VALUES);
	fill_values(RCORE_PIECE_VALUES_AGAIN);
}

/* Changes a word of frame `index` in the second copy. */
static void change(size_t index, const struct rcore_field *field)
{
	put(stack.pieces[RCORE_PIECE_FRAMES_AGAIN].bytes + index * layout.cfp.size, field,
	    0x9000);
}

/* Changes a word at or below the ep of frame `index` in the second copy. */
static void change_value(size_t index, size_t below)
{
	uint64_t offset = ep_of(index) - below * sizeof(uint64_t) - BOTTOM;
	stack.pieces[RCORE_PIECE_VALUES_AGAIN].bytes[offset] ^= 1;
}

static void expect(enum rcore_stack_verdict verdict)
{
	ck_assert_int_eq(rcore_stack_check(&reader, &stack), verdict);
	ck_assert_uint_eq(stack.cfp, verdict == RCORE_STACK_GOOD ? frame_at(0) : 0);
}

/* Expects a torn stack, of which the frames from `index` outwards are known. */
static void expect_salvaged(size_t index)
{
	expect(RCORE_STACK_TORN);
	ck_assert(rcore_stack_salvage(&reader, &stack) == (index < FRAMES));
	if (index == FRAMES)
		return;
	ck_assert(stack.is_partial);
	ck_assert_uint_eq(stack.cfp, frame_at(index));
}

START_TEST(equal_copies_are_good)
{
	make_copies();
	expect(RCORE_STACK_GOOD);
}
END_TEST

START_TEST(innermost_frame_may_run)
{
	make_copies();
	change(0, &layout.cfp.pc);
	change(0, &layout.cfp.sp);
	expect(RCORE_STACK_GOOD);
}
END_TEST

START_TEST(other_words_are_torn)
{
	const struct rcore_field *const of_innermost[] = {&layout.cfp.iseq, &layout.cfp.self,
							  &layout.cfp.ep};
	for (size_t i = 0; i < RCORE_COUNT(of_innermost); i++) {
		make_copies();
		change(0, of_innermost[i]);
		expect_salvaged(1);
	}
	const struct rcore_field *const of_all[] = {&layout.cfp.pc, &layout.cfp.sp,
						    &layout.cfp.iseq, &layout.cfp.self,
						    &layout.cfp.ep};
	for (size_t i = 0; i < RCORE_COUNT(of_all) * FRAMES; i++) {
		size_t frame = i / RCORE_COUNT(of_all);
		make_copies();
		change(frame, of_all[i % RCORE_COUNT(of_all)]);
		if (frame)
			expect_salvaged(frame + 1);
	}
}
END_TEST

/* Equal frames with different environments are of different moments. */
START_TEST(environments_are_compared)
{
	for (size_t frame = 0; frame < FRAMES; frame++) {
		for (size_t below = 0; below < ENVIRONMENT; below++) {
			make_copies();
			change_value(frame, below);
			expect_salvaged(frame + 1);
		}
		make_copies();
		change_value(frame, ENVIRONMENT);
		expect(RCORE_STACK_GOOD);
	}
}
END_TEST

/*
 * The innermost frame may not be filled yet, and have the sp of one from
 * before. The values that are read end there. An environment after them is not
 * one in the heap.
 */
START_TEST(environments_are_read)
{
	for (size_t frame = 0; frame < FRAMES; frame++) {
		make_copies();
		stack.values_to = ep_of(frame);
		for (int again = 0; again < 2; again++) {
			put(stack.pieces[again ? RCORE_PIECE_FRAMES_AGAIN : RCORE_PIECE_FRAMES]
				    .bytes,
			    &layout.cfp.sp, stack.values_to);
			struct rcore_piece *values =
				&stack.pieces[again ? RCORE_PIECE_VALUES_AGAIN
						    : RCORE_PIECE_VALUES];
			values->read = values->size = stack.values_to - BOTTOM;
		}
		expect_salvaged(frame + 1);
	}
	make_copies();
	for (int again = 0; again < 2; again++)
		put(stack.pieces[again ? RCORE_PIECE_FRAMES_AGAIN : RCORE_PIECE_FRAMES].bytes,
		    &layout.cfp.ep, top() + 0x1000);
	expect(RCORE_STACK_GOOD);
}
END_TEST

/* The innermost frame that the EC counts may not be filled yet. */
START_TEST(salvage_leaves_out_the_innermost)
{
	make_copies();
	change(0, &layout.cfp.ep);
	uint8_t *ec = stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes;
	put(ec, &layout.ec.cfp, frame_at(2));
	change(2, &layout.cfp.self);
	expect_salvaged(3);
	put(ec, &layout.ec.cfp, frame_at(FRAMES - 1));
	change(FRAMES - 1, &layout.cfp.self);
	expect_salvaged(FRAMES);
}
END_TEST

START_TEST(single_copy_is_trusted)
{
	make_copies();
	reader.is_single = true;
	change(2, &layout.cfp.iseq);
	change_value(2, 0);
	expect(RCORE_STACK_GOOD);
}
END_TEST

/* Makes the single copy of a stack that was read at the last tick, too. */
static void make_resting(void)
{
	make_copies();
	expect(RCORE_STACK_GOOD);
	stack.rests = true;
	piece(RCORE_PIECE_FRAMES_AGAIN, 0, 0);
	piece(RCORE_PIECE_VALUES, 0, 0);
	piece(RCORE_PIECE_VALUES_AGAIN, 0, 0);
}

START_TEST(resting_stacks_need_one_copy)
{
	make_resting();
	expect(RCORE_STACK_GOOD);
	ck_assert(stack.is_light && !stack.rests);

	make_resting();
	put(stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes, &layout.ec.cfp, frame_at(1));
	expect(RCORE_STACK_MOVED);

	/* There are no second copies from which such a stack could be salvaged. */
	make_resting();
	put(stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes, &layout.ec.thread_ptr, ID_THREAD + 8);
	expect(RCORE_STACK_TORN);
	ck_assert(!rcore_stack_salvage(&reader, &stack));
}
END_TEST

/* Nothing is read of it, so what its pieces have must stay as it is. */
START_TEST(sleeping_stacks_are_kept)
{
	make_copies();
	expect(RCORE_STACK_GOOD);
	uint64_t cfp = stack.cfp;
	stack.rests = stack.sleeps = true;
	/* What would be read is not there. */
	reader.live = NULL;
	struct rcore_stack *stacks[] = {&stack};
	ck_assert_ptr_null(rcore_stack_read(&reader, stacks, 1, NULL, 0));
	expect(RCORE_STACK_GOOD);
	ck_assert(stack.is_light && !stack.is_partial && !stack.rests);
	ck_assert_uint_eq(stack.cfp, cfp);
	ck_assert_mem_eq(rcore_stack_frame(&stack, cfp),
			 stack.pieces[RCORE_PIECE_FRAMES_AGAIN].bytes, layout.cfp.size);
	rcore_stack_deinit(&stack);
	rcore_stack_reader_deinit(&reader);
}
END_TEST

START_TEST(wrong_guesses_are_corrected)
{
	make_copies();
	stack.frames_from = frame_at(1);
	expect(RCORE_STACK_MOVED);
	ck_assert_uint_le(stack.frames_from, frame_at(0));

	make_copies();
	uint8_t *ec = stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes;
	put(ec, &layout.ec.vm_stack, BOTTOM - 0x1000);
	put(ec, &layout.ec.vm_stack_size, WORDS + 0x1000 / sizeof(uint64_t));
	expect(RCORE_STACK_MOVED);
	ck_assert_uint_eq(stack.bottom, BOTTOM - 0x1000);

	make_copies();
	stack.values_to -= 2 * sizeof(uint64_t);
	expect(RCORE_STACK_MOVED);
	ck_assert_uint_gt(stack.values_to, ep_of(0));

	make_copies();
	put(stack.pieces[RCORE_PIECE_THREAD].bytes, &layout.thread.ec, ID_EC + 8);
	expect(RCORE_STACK_MOVED);
	ck_assert_uint_eq(stack.ec, ID_EC + 8);
}
END_TEST

/* RUBY_THREAD_VM_STACK_SIZE may be gigabytes; only a small part is in use. */
START_TEST(large_stacks_are_read)
{
	make_copies();
	const uint64_t more = (UINT64_C(16) << 30) / layout.cfp.size * layout.cfp.size;
	uint8_t *ec = stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes;
	put(ec, &layout.ec.vm_stack_size, WORDS + more / sizeof(uint64_t));
	put(ec, &layout.ec.cfp, frame_at(0) + more);
	expect(RCORE_STACK_MOVED);
	ck_assert_uint_eq(stack.bottom, BOTTOM);
	ck_assert_uint_eq(stack.top, top() + more);

	/* More is in use than is read at once. */
	put(ec, &layout.ec.cfp, frame_at(0));
	expect(RCORE_STACK_BROKEN);
}
END_TEST

START_TEST(unsound_words_are_refused)
{
	make_copies();
	put(stack.pieces[RCORE_PIECE_THREAD].bytes, &layout.thread.vm, ID_VM + 8);
	expect(RCORE_STACK_GONE);

	make_copies();
	stack.pieces[RCORE_PIECE_EC_BETWEEN].read = 0;
	expect(RCORE_STACK_GONE);

	make_copies();
	uint8_t *ec = stack.pieces[RCORE_PIECE_EC_BETWEEN].bytes;
	put(ec, &layout.ec.cfp, 0);
	expect(RCORE_STACK_EMPTY);
	put(ec, &layout.ec.cfp, top());
	expect(RCORE_STACK_EMPTY);
	put(ec, &layout.ec.cfp, frame_at(1) + 8);
	expect(RCORE_STACK_BROKEN);
	put(ec, &layout.ec.cfp, BOTTOM - layout.cfp.size);
	expect(RCORE_STACK_BROKEN);
	put(ec, &layout.ec.cfp, frame_at(0));
	put(ec, &layout.ec.vm_stack_size, UINT64_MAX / 4);
	expect(RCORE_STACK_BROKEN);
	put(ec, &layout.ec.vm_stack_size, WORDS);
	put(ec, &layout.ec.thread_ptr, ID_THREAD + 8);
	expect(RCORE_STACK_TORN);
	ck_assert(!rcore_stack_salvage(&reader, &stack));
}
END_TEST

static void end(void)
{
	rcore_stack_deinit(&stack);
}

int main(void)
{
	const TTest *const tests[] = {
		equal_copies_are_good,        large_stacks_are_read,
		innermost_frame_may_run,      other_words_are_torn,
		environments_are_compared,    salvage_leaves_out_the_innermost,
		environments_are_read,        single_copy_is_trusted,
		resting_stacks_need_one_copy, sleeping_stacks_are_kept,
		wrong_guesses_are_corrected,  unsound_words_are_refused,
	};
	const struct rcore_test_suite suite = {
		.name = "stack", .tests = tests, .count = RCORE_COUNT(tests), .end = end};
	return rcore_test_suite_run(&suite);
}
