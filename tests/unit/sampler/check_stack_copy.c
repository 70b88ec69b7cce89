/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "sampler/stack/stack_copy.h"
#include "suite.h"

/* Tests which reads the copy of a stack answers, and which the process. */

static struct rcore_live *live;
static int child;

static enum rcore_fault read_ones(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	memset(buffer, 1, size);
	return RCORE_FAULT_NONE;
}

static struct rcore_memory process = {.read = read_ones};
static struct rcore_stack_copy copy;

/* A record with an inner part of 64 bytes and an outer one of 16. */
static union {
	struct rcore_bpf_record record;
	uint8_t bytes[sizeof(struct rcore_bpf_record)];
} copied;

static struct rcore_bpf_machine *machine(void)
{
	copied.record.machine_bytes = sizeof(struct rcore_bpf_machine);
	return (struct rcore_bpf_machine *)rcore_bpf_machine(&copied.record);
}

static void setup(void)
{
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	ck_assert_ptr_null(rcore_live_open(child, &live));
	memset(&copied, 0, sizeof(copied));
	memset(machine() + 1, 2, 80);
	rcore_stack_copy_init(&copy, &process, live);
}

static void teardown(void)
{
	rcore_live_close(live);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static bool set(uint64_t inner, uint64_t outer)
{
	machine()->parts[RCORE_BPF_INNER].start = inner;
	machine()->parts[RCORE_BPF_INNER].bytes = 64;
	machine()->parts[RCORE_BPF_OUTER].start = outer;
	machine()->parts[RCORE_BPF_OUTER].bytes = 16;
	return rcore_stack_copy_set(&copy, &copied.record);
}

/*
 * Returns the first byte that is read: 1 from the process, 2 from the copy; 0 if
 * nothing can be read.
 */
static int read_at(uint64_t address, size_t size)
{
	uint8_t bytes[4096] = {0};
	return rcore_read(&copy.memory, address, bytes, size) ? 0 : bytes[0];
}

START_TEST(parts)
{
	enum { INNER = 0x10000, OUTER = 0x20000 };
	setup();
	ck_assert(set(INNER, OUTER));
	ck_assert_int_eq(read_at(INNER, 8), 2);
	ck_assert_int_eq(read_at(INNER, 64), 2);
	ck_assert_int_eq(read_at(INNER + 56, 8), 2);
	ck_assert_int_eq(read_at(OUTER, 16), 2);
	/* What the copy of the stack lacks is not read from the process. */
	ck_assert_int_eq(read_at(INNER + 57, 8), 0);
	ck_assert_int_eq(read_at(INNER + 64, 8), 0);
	ck_assert_int_eq(read_at(INNER - 1, 8), 0);
	ck_assert_int_eq(read_at(INNER - 8, 4096), 0);
	ck_assert_int_eq(read_at(OUTER - 8, 8), 0);
	ck_assert_int_eq(read_at(OUTER + 16, 8), 0);
	/* Other memory is read from the process. */
	ck_assert_int_eq(read_at(INNER - 8, 8), 1);
	ck_assert_int_eq(read_at(INNER + (64ull << 20), 8), 0);
	ck_assert_int_eq(read_at(OUTER + (64ull << 20), 8), 1);
	rcore_stack_copy_set(&copy, NULL);
	ck_assert_int_eq(read_at(INNER, 8), 1);
	teardown();
}
END_TEST

/* Code that is mapped close to a stack can be read. */
START_TEST(code)
{
	setup();
	uint64_t near = (uint64_t)(uintptr_t)read_ones;
	ck_assert(set(near - 4096, near - 2048));
	ck_assert_int_eq(read_at(near, 8), 1);
	ck_assert_int_eq(read_at(near - 4096, 8), 2);
	teardown();
}
END_TEST

/* The outer part may be far from the inner one. */
START_TEST(apart)
{
	const uint64_t inner = 1ull << 40, outer = inner + (1ull << 30);
	setup();
	ck_assert(set(inner, outer));
	ck_assert_int_eq(read_at(outer, 8), 2);
	ck_assert_int_eq(read_at(outer + 16, 8), 0);
	ck_assert_int_eq(read_at(outer - 8, 16), 0);
	ck_assert_int_eq(read_at(outer - 8, 8), 1);
	/* Without an outer part, nothing there is known to be a stack. */
	machine()->parts[RCORE_BPF_OUTER].bytes = 0;
	ck_assert(rcore_stack_copy_set(&copy, &copied.record));
	ck_assert_int_eq(read_at(outer + 16, 8), 1);
	teardown();
}
END_TEST

/* A program may set its registers to anything. */
START_TEST(hostile)
{
	setup();
	ck_assert(set(UINT64_MAX - 7, UINT64_MAX));
	ck_assert_int_eq(read_at(UINT64_MAX - 7, 8), 2);
	ck_assert_int_eq(read_at(UINT64_MAX - 15, 16), 0);
	ck_assert_int_eq(read_at(0, 8), 2);
	ck_assert(set(0, 0));
	ck_assert_int_eq(read_at(0, 64), 2);
	ck_assert_int_eq(read_at(60, 8), 0);
	ck_assert_int_eq(read_at(UINT64_MAX - 3, 8), 0);
	machine()->parts[RCORE_BPF_INNER].bytes = 0;
	ck_assert(!rcore_stack_copy_set(&copy, &copied.record));
	teardown();
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {parts, code, apart, hostile};
	const struct rcore_test_suite suite = {
		.name = "stack_copy", .tests = tests, .count = RCORE_COUNT(tests)};
	return rcore_test_suite_run(&suite);
}
