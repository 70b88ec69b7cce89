/* SPDX-License-Identifier: MIT */
/* Which stacks a debugger could not read. */
#include <elf.h>

#include "base/count.h"
#include "session/zero_stacks.h"
#include "target/process.h"
#include "fake_target.h"
#include "suite.h"

enum { SIZE = 1024 * 1024, SP = 1000 };

static const struct example {
	uint64_t saved, word; /* where the only word is that is not 0; 0: none */
	size_t count;
	uint64_t size; /* 0: SIZE */
} examples[] = {
	{SIZE, 0, 1, 0},
	{8192, 0, 1, 0},
	{SP + 8, 0, 1, 0},
	/* A word below sp is left from an earlier call. */
	{SIZE, SP - 8, 1, 0},
	{SIZE, SP, 0, 0},
	/* After a buffer of zeroes. */
	{SIZE, SP + 4096, 0, 0},
	{SIZE, SP + 256 * 1024 - 8, 0, 0},
	{8192, 8184, 0, 0},
	/* Nothing is saved. */
	{0, 0, 0, 0},
	{SP, 0, 0, 0},
	/* A guard, into which a stack has overflowed. */
	{4096, 0, 0, 4096},
};

START_TEST(stacks)
{
	const struct example *example = &examples[_i];
	struct fake_target fake;
	fake_target_init(&fake);
	uint64_t start = fake_alloc(&fake, SIZE, 4096);
	if (example->word)
		fake_put(&fake, start + example->word, 0x401000);
	struct rcore_segment segment = {.start = start,
					.size = example->size ? example->size : SIZE,
					.saved = example->saved};
	/* The registers of the second thread are unknown. */
	struct rcore_native_thread threads[] = {{.has_registers = true}, {.tid = 2}};
	threads[0].registers[rcore_register_sp(EM_X86_64)] = start + SP;
	const struct rcore_process process = {.machine = EM_X86_64,
					      .segments = &segment,
					      .segment_count = 1,
					      .threads = threads,
					      .thread_count = RCORE_COUNT(threads)};
	size_t count;
	ck_assert(rcore_zero_stacks(&process, &fake.memory, &count));
	ck_assert_uint_eq(count, example->count);
	fake_target_deinit(&fake);
}
END_TEST

int main(void)
{
	const struct rcore_test_loop loops[] = {{stacks, RCORE_COUNT(examples)}};
	const struct rcore_test_suite suite = {
		.name = "zero_stacks",
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
