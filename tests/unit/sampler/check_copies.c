/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "sampler/stack/copies.h"
#include "suite.h"

/*
 * Checks which reads the copies of a tick answer, and which the process, whose
 * bytes are all 1.
 */

enum { COUNT = 5, SIZE = 64, STEP = 0x1000, THREADS = 0x10000, STACKS = 0x90000 };

static struct rcore_stack stacks[COUNT];
static struct rcore_stack *sorted[COUNT];
static struct rcore_copies copies;

static enum rcore_fault read_ones(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	memset(buffer, 1, size);
	return RCORE_FAULT_NONE;
}

static struct rcore_memory process = {.read = read_ones};

static void fill(struct rcore_piece *piece, uint64_t start, int value)
{
	ck_assert(rcore_piece_set(piece, start, SIZE));
	piece->read = SIZE;
	memset(piece->bytes, value, SIZE);
}

/* The bytes of thread `i` are 10 + i, those of its stack 20 + i. */
static void setup(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		/* Not in the order of their addresses. */
		uint64_t place = (i * 3 % COUNT) * STEP;
		stacks[i] = (struct rcore_stack){.thread = THREADS + place,
						 .bottom = STACKS + place,
						 .top = STACKS + place + SIZE};
		fill(&stacks[i].pieces[RCORE_PIECE_THREAD], THREADS + place, 10 + (int)i);
		fill(&stacks[i].pieces[RCORE_PIECE_VALUES], STACKS + place, 20 + (int)i);
		sorted[i] = &stacks[i];
	}
	rcore_copies_init(&copies, &process);
}

static void teardown(void)
{
	for (size_t i = 0; i < COUNT; i++)
		rcore_stack_deinit(&stacks[i]);
}

static void expect(uint64_t address, size_t size, uint8_t wanted)
{
	uint8_t bytes[2 * SIZE] = {0};
	ck_assert_int_eq(rcore_read(&copies.memory, address, bytes, size), RCORE_FAULT_NONE);
	ck_assert_uint_eq(bytes[0], wanted);
	ck_assert_uint_eq(bytes[size - 1], wanted);
}

START_TEST(threads_are_found)
{
	rcore_copies_add_threads(&copies, sorted, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		expect(stacks[i].thread, 8, (uint8_t)(10 + i));
		expect(stacks[i].thread + SIZE - 8, 8, (uint8_t)(10 + i));
		/* Neither before it, nor past its end. */
		expect(stacks[i].thread - 8, 8, 1);
		expect(stacks[i].thread + SIZE - 4, 8, 1);
		expect(stacks[i].bottom, 8, 1);
	}
}
END_TEST

START_TEST(stacks_are_found)
{
	rcore_copies_add(&copies, sorted, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		expect(stacks[i].bottom, SIZE, (uint8_t)(20 + i));
		expect(stacks[i].bottom + 8, SIZE, 1);
	}
}
END_TEST

/* A read of the process failed. */
START_TEST(what_was_not_read_is_not_answered)
{
	stacks[2].pieces[RCORE_PIECE_THREAD].read = 0;
	rcore_copies_add_threads(&copies, sorted, COUNT);
	expect(stacks[2].thread, 8, 1);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {threads_are_found, stacks_are_found,
				      what_was_not_read_is_not_answered};
	const struct rcore_test_suite suite = {
		.name = "copies",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.begin = setup,
		.end = teardown,
	};
	return rcore_test_suite_run(&suite);
}
