/* SPDX-License-Identifier: MIT */
#include <elf.h>

#include "base/count.h"
#include "fake_target.h"
#include "image/elf/tls.h"
#include "suite.h"

enum { MODULES = 4 };

/* A glibc thread with the blocks of some modules. */
static struct thread {
	struct fake_target target;
	unsigned machine;
	uint64_t pointer, vector, blocks[MODULES + 1];
} thread;

static void begin(unsigned machine)
{
	bool arm = machine == EM_AARCH64;
	thread = (struct thread){.machine = machine};
	fake_target_init(&thread.target);
	thread.pointer = fake_alloc(&thread.target, 24, 16);
	thread.vector = fake_alloc(&thread.target, 16 * (MODULES + 2), 16) + 16;
	fake_put(&thread.target, thread.vector - 16, MODULES);
	fake_put(&thread.target, thread.pointer + (arm ? 0 : 8), thread.vector);
	if (!arm) {
		fake_put(&thread.target, thread.pointer, thread.pointer);
		fake_put(&thread.target, thread.pointer + 16, thread.pointer);
	}
	for (uint64_t i = 1; i <= MODULES; i++) {
		thread.blocks[i] = i < 3    ? fake_alloc(&thread.target, 64, 8)
				   : i == 3 ? UINT64_MAX
					    : 0;
		fake_put(&thread.target, thread.vector + i * 16, thread.blocks[i]);
	}
}

static void end(void)
{
	fake_target_deinit(&thread.target);
}

/* Returns the error's code, or 0. */
static int address_of(struct rcore_tls_variable variable, uint64_t *ret)
{
	struct rcore_error *err = rcore_tls_address(&thread.target.memory, thread.machine,
						    thread.pointer, &variable, ret);
	int code = err ? (int)err->code : 0;
	rcore_error_free(err);
	return code;
}

static const unsigned machines[] = {EM_X86_64, EM_AARCH64};

START_TEST(test_address)
{
	begin(machines[_i]);
	uint64_t address = 1;
	for (uint64_t module = 1; module <= 2; module++) {
		ck_assert_int_eq(
			address_of((struct rcore_tls_variable){.module = module, .offset = 24},
				   &address),
			0);
		ck_assert_uint_eq(address, thread.blocks[module] + 24);
	}
	/* Not used yet; loaded since this thread last looked. */
	static const uint64_t untouched[] = {3, 4, 5, 1000};
	for (size_t i = 0; i < RCORE_COUNT(untouched); i++) {
		address = 1;
		ck_assert_int_eq(address_of((struct rcore_tls_variable){.module = untouched[i]},
					    &address),
				 0);
		ck_assert_uint_eq(address, 0);
	}
	ck_assert_int_eq(address_of((struct rcore_tls_variable){.is_static = true,
								.offset = (uint64_t)-32},
				    &address),
			 0);
	ck_assert_uint_eq(address, thread.pointer - 32);
}
END_TEST

START_TEST(test_no_thread)
{
	begin(machines[_i]);
	uint64_t address;
	const struct rcore_tls_variable variable = {.module = 1};
	fake_put(&thread.target, thread.vector - 16, UINT64_MAX);
	ck_assert_int_eq(address_of(variable, &address), RCORE_ERROR_CORRUPT);
	fake_put(&thread.target, thread.vector - 16, 0);
	ck_assert_int_eq(address_of(variable, &address), RCORE_ERROR_CORRUPT);
	if (machines[_i] == EM_X86_64) {
		fake_put(&thread.target, thread.pointer + 16, thread.pointer + 8);
		ck_assert_int_eq(address_of(variable, &address), RCORE_ERROR_CORRUPT);
	}
	thread.pointer = 0x10000;
	ck_assert_int_eq(address_of(variable, &address), RCORE_ERROR_FAULT);
}
END_TEST

START_TEST(test_faults)
{
	begin(machines[_i]);
	uint64_t address;
	const struct rcore_tls_variable variable = {.module = 2, .offset = 8};
	fake_target_fault(&thread.target, 0, false);
	ck_assert_int_eq(address_of(variable, &address), 0);
	size_t reads = thread.target.reads;
	for (size_t at = 1; at <= reads; at++) {
		fake_target_fault(&thread.target, at, false);
		ck_assert_int_eq(address_of(variable, &address), RCORE_ERROR_FAULT);
	}
}
END_TEST

int main(void)
{
	const struct rcore_test_loop loops[] = {
		{test_address, 2}, {test_no_thread, 2}, {test_faults, 2}};
	const struct rcore_test_suite suite = {
		.name = "tls",
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.end = end,
	};
	return rcore_test_suite_run(&suite);
}
