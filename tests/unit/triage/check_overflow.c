/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "base/count.h"
#include "triage/overflow.h"
#include "suite.h"

/*
 * From low to high: a fiber's guard and stack, a thread's, one whose guard is
 * in no map, and the main stack.
 */
static const struct rcore_segment segments[] = {
	{.start = 0x10000, .size = 0x1000},
	{.start = 0x11000, .size = 0x20000, .readable = true, .writable = true},
	{.start = 0x100000, .size = 0x2000},
	{.start = 0x102000, .size = 0x100000, .readable = true, .writable = true},
	{.start = 0x400000, .size = 0x100000, .readable = true, .writable = true},
	{.start = 0x1000000, .size = 0x1000, .readable = true, .executable = true},
	{.start = 0x7000000, .size = 0x800000, .readable = true, .writable = true},
};

enum { FIBER, THREAD, MARKED, MAIN, NO_FIBER };

static struct rcore_fiber fibers[] = {
	[FIBER] = {.id = "T1.F3", .machine_stack = 0x11000, .machine_stack_size = 0x20000},
	[THREAD] = {.id = "T2.F0", .is_root = true, .stack_base = 0x201ff0},
	[MARKED] = {.id = "T2.F0", .is_root = true, .stack_base = 0x4ffff0},
	[MAIN] = {.id = "T1.F0", .is_root = true, .stack_base = 0x7800000},
};

static struct rcore_thread threads[] = {
	{.id = "T1", .is_main = true},
	{.id = "T2"},
};

static const struct fault {
	int fiber, thread;
	uint64_t address, sp;
	const char *text; /* NULL: none */
} faults[] = {
	{FIBER, 0, 0x10ff8, 0x11000,
	 "stack overflow of fiber T1.F3: address 0x10ff8 is in the guard page 0x10000-0x11000 "
	 "below its machine stack of 128 KiB"},
	{FIBER, 0, 0x10100, 0xf000,
	 "stack overflow of fiber T1.F3: address 0x10100 is in the guard page 0x10000-0x11000 "
	 "below its machine stack of 128 KiB"},
	{THREAD, 1, 0x101800, 0x101000,
	 "stack overflow of thread T2, fiber T2.F0: address 0x101800 is in the guard page "
	 "0x100000-0x102000 below its machine stack of 1024 KiB"},
	{MARKED, 1, 0x400ff8, 0x401000,
	 "stack overflow of thread T2, fiber T2.F0: address 0x400ff8 is in the guard page "
	 "0x400000-0x401000 below its machine stack of 1020 KiB"},
	{MAIN, 0, 0x6fffff8, 0x7000000,
	 "stack overflow of the main thread T1, fiber T1.F0: address 0x6fffff8 is where "
	 "nothing is mapped, just below its machine stack of 8192 KiB"},
	{NO_FIBER, -1, 0x101ff8, 0x102000,
	 "stack overflow of kernel thread 7, which runs no Ruby thread: address 0x101ff8 is in "
	 "the guard page 0x100000-0x102000 below its machine stack of 1024 KiB"},
	/*
	 * qemu saves no siginfo; stp faults before it changes the stack
	 * pointer.
	 */
	{FIBER, 0, 0, 0x10ff0,
	 "stack overflow of fiber T1.F3: its stack pointer 0x10ff0 is at the guard page "
	 "0x10000-0x11000 below its machine stack of 128 KiB"},
	{FIBER, 0, 0, 0x11000,
	 "stack overflow of fiber T1.F3: its stack pointer 0x11000 is at the guard page "
	 "0x10000-0x11000 below its machine stack of 128 KiB"},
	{FIBER, 0, 0, 0x18000, NULL},
	/* A wild pointer into a guard page, and others. */
	{FIBER, 0, 0x10800, 0x18000, NULL},
	{FIBER, 0, 0x28, 0x11000, NULL},
	{FIBER, 0, 0x100ff8, 0x11000, NULL},
	{MAIN, 0, 0x28, 0x7000000, NULL},
	{MAIN, 0, 0x6fffff8, 0x7400000, NULL},
	{MAIN, 0, 0x6e00000, 0x6e00000, NULL},
	{MAIN, 0, 0x101ff8, 0x102000, NULL},
	{THREAD, 1, 0x150000, 0x102000, NULL},
	{MARKED, 1, 0x480000, 0x480000, NULL},
	{MAIN, 0, UINT64_MAX, UINT64_MAX, NULL},
	{MAIN, 0, 1, 0, NULL},
};

static void find(const struct fault *fault, const struct rcore_process *process,
		 struct rcore_snapshot *snapshot)
{
	snapshot->cause.tid = 7;
	snapshot->cause.thread = fault->thread;
	snapshot->cause.fiber = fault->fiber == NO_FIBER ? -1 : fault->fiber;
	snapshot->fibers = fibers;
	snapshot->threads = threads;
	rcore_overflow_find(process, snapshot, fault->address, fault->sp,
			    &snapshot->cause.overflow);
}

START_TEST(known)
{
	const struct fault *fault = &faults[_i];
	struct rcore_process process = {.segments = segments,
					.segment_count = RCORE_COUNT(segments)};
	struct rcore_snapshot snapshot = {0};
	char text[256] = "";
	find(fault, &process, &snapshot);
	if (snapshot.cause.overflow.present)
		rcore_overflow_text(&snapshot, text, sizeof(text));
	ck_assert_str_eq(text, fault->text ? fault->text : "");
}
END_TEST

/*
 * A debugger does not report what is mapped, but a fiber's guard page is still
 * known.
 */
START_TEST(without_map)
{
	struct rcore_process process = {0};
	for (size_t i = 0; i < RCORE_COUNT(faults); i++) {
		struct rcore_snapshot snapshot = {0};
		find(&faults[i], &process, &snapshot);
		ck_assert_int_eq(snapshot.cause.overflow.present,
				 faults[i].fiber == FIBER && faults[i].text);
	}
}
END_TEST

/* The page size of another machine, and an invalid one. */
START_TEST(pages)
{
	uint64_t large[] = {AT_PAGESZ, 0x10000}, broken[] = {AT_PAGESZ, 12345};
	const struct fault fault = {FIBER, 0, 0x2800, 0x11000, NULL};
	struct rcore_process process = {.auxv = large, .auxv_pairs = 1};
	struct rcore_snapshot snapshot = {0};
	find(&fault, &process, &snapshot);
	ck_assert(snapshot.cause.overflow.present);
	ck_assert_uint_eq(snapshot.cause.overflow.guard_start, 0x1000);
	process.auxv = broken;
	snapshot.cause.overflow.present = false;
	find(&fault, &process, &snapshot);
	ck_assert(!snapshot.cause.overflow.present);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {without_map, pages};
	const struct rcore_test_loop loops[] = {{known, RCORE_COUNT(faults)}};
	const struct rcore_test_suite suite = {
		.name = "overflow",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
