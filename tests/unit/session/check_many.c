/* SPDX-License-Identifier: MIT */
/*
 * What a hostile pack or core may list very often. With a walk over one list
 * for each item of another, each of these takes longer than LIMIT seconds.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_target.h"
#include "session/open.h"
#include "session/pack/pack_hide.h"
#include "session/stacks.h"
#include "session/zero_stacks.h"
#include "suite.h"
#include "target/process.h"

enum { COUNT = 250000, LIMIT = 10, FIRST_TID = 1000, STEP = 4096, REGISTER = 77 };

static struct rcore_native_thread threads[COUNT];
static struct rcore_fiber fibers[COUNT];
static struct rcore_other_thread others[COUNT];
static struct rcore_segment segments[COUNT];

/* Both list the same, in opposite orders. */
static size_t opposite(size_t index)
{
	return COUNT - 1 - index;
}

static void list_threads(struct rcore_process *ret)
{
	*ret = (struct rcore_process){.size = sizeof(*ret),
				      .machine = EM_X86_64,
				      .threads = threads,
				      .thread_count = COUNT};
	for (size_t i = 0; i < COUNT; i++)
		threads[i] = (struct rcore_native_thread){.tid = FIRST_TID + (int)i,
							  .has_registers = true,
							  .register_count = 1,
							  .registers = {REGISTER}};
}

START_TEST(unstopped)
{
	static int tids[COUNT];
	struct fake_target fake;
	struct rcore_target target = {0};
	const struct rcore_options options = {.size = sizeof(options)};
	struct rcore_process process;
	struct rcore_pack_facts facts = {
		.live = {.facts = {.present = true, .stopped = true},
			 .unstopped = tids,
			 .unstopped_count = COUNT - 1},
	};
	size_t size;
	list_threads(&process);
	for (size_t i = 0; i < COUNT; i++)
		tids[i] = threads[opposite(i)].tid;
	char *note = rcore_pack_note_write(&facts, &size);
	ck_assert_ptr_nonnull(note);
	process.pack_note = note;
	process.pack_note_size = size;
	fake_target_init(&fake);
	ck_assert_ptr_null(rcore_target_open(&target, &process, &fake.memory, &options));
	ck_assert_ptr_null(target.pack_problem);
	ck_assert_uint_eq(target.process->thread_count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		ck_assert_int_eq(target.process->threads[i].tid, threads[i].tid);
		ck_assert(target.process->threads[i].has_registers == !i);
		ck_assert_uint_eq(target.process->threads[i].registers[0], i ? 0 : REGISTER);
	}
	rcore_target_close(&target);
	fake_target_deinit(&fake);
	free(note);
}
END_TEST

/* Kernel threads without Ruby, and parked fibers, each with one frame. */
START_TEST(packed_stacks)
{
	static struct rcore_native_frame frames[2 * COUNT];
	static struct rcore_packed_stack packed[2 * COUNT + 1];
	static struct rcore_stack_owner owners[2 * COUNT];
	static struct rcore_unwind_context contexts[2 * COUNT];
	struct rcore_pack_facts pack = {.stacks = packed};
	struct rcore_process process;
	struct rcore_snapshot snapshot = {.fibers = fibers, .fiber_count = COUNT};
	const struct rcore_target target = {.process = &process, .pack = &pack};
	struct rcore_stacks stacks = {.contexts = contexts,
				      .owners = owners,
				      .count = 2 * COUNT,
				      .kernel_count = COUNT};
	list_threads(&process);
	for (size_t i = 0; i < COUNT; i++) {
		fibers[i].address = STEP * (i + 1);
		owners[COUNT + i].fiber = (int)i;
	}
	for (size_t i = 0; i < COUNT; i++) {
		packed[i] = (struct rcore_packed_stack){.tid = threads[opposite(i)].tid};
		packed[COUNT + i] =
			(struct rcore_packed_stack){.fiber = fibers[opposite(i)].address};
	}
	for (size_t i = 0; i < 2 * COUNT; i++) {
		frames[i].pc = packed[i].fiber ? packed[i].fiber : (uint64_t)packed[i].tid;
		packed[i].frames = &frames[i];
		packed[i].frame_count = 1;
	}
	/* Of two stacks of one fiber, the first counts. */
	packed[2 * COUNT] = (struct rcore_packed_stack){.fiber = fibers[0].address};
	pack.stack_count = 2 * COUNT + 1;
	ck_assert_ptr_null(rcore_stacks_unpack(&stacks, &target, &snapshot));
	for (size_t i = 0; i < 2 * COUNT; i++) {
		ck_assert_uint_eq(contexts[i].frame_count, 1);
		ck_assert_uint_eq(contexts[i].frames[0].pc,
				  i < COUNT ? (uint64_t)threads[i].tid
					    : fibers[i - COUNT].address);
	}
	rcore_arena_deinit(&snapshot.arena);
}
END_TEST

START_TEST(kernel_threads)
{
	struct fake_target fake;
	struct rcore_process process;
	struct rcore_snapshot snapshot = {.fibers = fibers,
					  .fiber_count = COUNT / 2,
					  .others = others,
					  .other_count = COUNT / 2};
	struct rcore_stacks stacks;
	const struct rcore_traits traits = {0};
	list_threads(&process);
	for (size_t i = 0; i < COUNT / 2; i++) {
		fibers[i].tid = threads[opposite(i)].tid;
		fibers[i].thread = -1;
		others[i].tid = threads[COUNT / 2 - 1 - i].tid;
	}
	fake_target_init(&fake);
	const struct rcore_target target = {.process = &process, .memory = &fake.memory};
	ck_assert_ptr_null(rcore_stacks_init(&stacks, &target, &traits, &snapshot));
	ck_assert_uint_eq(stacks.kernel_count, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		bool is_other = i < COUNT / 2;
		ck_assert_int_eq(stacks.owners[i].fiber, is_other ? -1 : (int)opposite(i));
		ck_assert_int_eq(stacks.owners[i].other,
				 is_other ? (int)(COUNT / 2 - 1 - i) : -1);
	}
	rcore_stacks_deinit(&stacks);
	fake_target_deinit(&fake);
}
END_TEST

/*
 * Lists segments of this size in front of and after `middle`. The one there
 * contains another, as in a hostile core; returns the one that contains it.
 */
static struct rcore_segment *list_segments(uint64_t middle, uint64_t size, uint64_t inside)
{
	enum { HALF = COUNT / 2 };
	uint64_t first = middle - size * HALF;
	for (size_t i = 0; i < COUNT; i++)
		segments[i] = (struct rcore_segment){
			.start = first + size * (i - (i > HALF)),
			.size = size,
		};
	segments[HALF + 1] = (struct rcore_segment){.start = middle + inside, .size = inside};
	return &segments[HALF];
}

/*
 * The stack of each fiber is in a segment of its own, and its text is hidden.
 * The sizes of some VM stacks are damaged: they would contain the others.
 */
START_TEST(stack_segments)
{
	enum { AT = 512 };
	static const char text[] = "harmless";
	struct fake_target fake;
	struct rcore_snapshot snapshot = {.fibers = fibers, .fiber_count = COUNT};
	const struct rcore_pack_source source = {.segments = segments, .segment_count = COUNT};
	size_t pages;
	fake_target_init(&fake);
	uint64_t stack = fake_alloc(&fake, STEP, STEP);
	fake_write(&fake, stack + AT, text, strlen(text));
	list_segments(stack, STEP, AT / 2);
	for (size_t i = 0; i < COUNT; i++)
		fibers[i].stack_base = segments[0].start + STEP * (opposite(i) + 1);
	fibers[0].vm_stack = fibers[1].vm_stack = segments[0].start;
	fibers[0].vm_stack_size = UINT64_MAX - 7;
	fibers[1].vm_stack_size = (uint64_t)STEP * COUNT;
	struct rcore_target target = {.memory = &fake.memory,
				      .recorder = rcore_recorder_new(&fake.memory)};
	struct rcore_redactor *redactor = rcore_redactor_new(RCORE_REDACT_SECRETS);
	struct rcore_known_secrets *taken = rcore_known_secrets_new();
	ck_assert(target.recorder && redactor && taken);
	rcore_recorder_add(target.recorder, stack, STEP);
	ck_assert_ptr_null(rcore_session_hide(&target, &source, redactor, RCORE_REDACT_SECRETS,
					      &snapshot, taken));
	const struct rcore_recorded_page *page =
		rcore_recorder_pages(target.recorder, &pages)[0];
	ck_assert_uint_eq(page->start, stack);
	for (size_t i = 0; i < RCORE_RECORDER_PAGE; i++)
		ck_assert_int_eq(rcore_recorded_is(page, RCORE_RECORDED_HIDDEN, i),
				 i >= AT && i < AT + strlen(text));
	rcore_known_secrets_free(taken);
	rcore_redactor_free(redactor);
	rcore_recorder_free(target.recorder);
	fake_target_deinit(&fake);
}
END_TEST

/*
 * The stack pointer of each thread is in a segment of its own. One of them is
 * saved, and contains zeroes.
 */
START_TEST(saved_stacks)
{
	enum { SIZE = 32 * STEP };
	struct fake_target fake;
	struct rcore_process process;
	size_t count;
	fake_target_init(&fake);
	uint64_t stack = fake_alloc(&fake, STEP, STEP);
	list_threads(&process);
	process.segments = segments;
	process.segment_count = COUNT;
	list_segments(stack, SIZE, 0)->saved = STEP;
	for (size_t i = 0; i < COUNT; i++)
		threads[i].registers[rcore_register_sp(EM_X86_64)] =
			segments[0].start + SIZE * opposite(i);
	ck_assert(rcore_zero_stacks(&process, &fake.memory, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(fake.reads, 1);
	fake_target_deinit(&fake);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {unstopped, packed_stacks, kernel_threads, stack_segments,
				      saved_stacks};
	return rcore_test_suite_run(&(struct rcore_test_suite){
		.name = "many",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = LIMIT,
	});
}
