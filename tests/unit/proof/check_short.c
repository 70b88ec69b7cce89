/* SPDX-License-Identifier: MIT */
#include "base/count.h"
#include "proof/prove.h"
#include "vm_suite.h"

/* ASan has its own malloc(). */
#ifndef __SANITIZE_ADDRESS__
#include "fail_malloc.h"

/*
 * Whichever allocation fails, alone or with all that follow it: if a proof then
 * fails, the reader says that memory is short.
 */
START_TEST(prove_without_memory)
{
	static const size_t runs[] = {1, SIZE_MAX};
	struct fake_vm *vm = &world.vm;
	struct rcore_proof proofs[RCORE_PROOF_LIMIT];
	size_t lacks = 0;
	world_begin(_i);
	/* The first slots of the heap contain no String in this VM. */
	FAKE_PUT(vm, vm->slot, basic, flags, RCORE_T_STRING);
	for (size_t i = 0; i < RCORE_COUNT(runs); i++) {
		bool has_failed = true;
		for (size_t first = 1; has_failed; first++) {
			struct rcore_arena arena = {0};
			struct rcore_ruby ruby;
			size_t count = 0;
			rcore_ruby_init(&ruby, &vm->ruby.target.memory, &vm->ruby.layout,
					&arena);
			rcore_ruby_set_vm(&ruby, vm->address);
			ruby.global_symbols = vm->ruby.symbols;
			fail_malloc_from(first, runs[i]);
			size_t passed = rcore_prove(&ruby, vm->address, proofs, &count);
			has_failed = fail_malloc_from(0, 0);
			ck_assert_msg(passed == count || ruby.lacks_memory,
				      "allocation %zu: %zu of %zu", first, passed, count);
			lacks += ruby.lacks_memory;
			rcore_ruby_deinit(&ruby);
			rcore_arena_deinit(&arena);
		}
	}
	ck_assert_uint_gt(lacks, 0);
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {
#ifndef __SANITIZE_ADDRESS__
		prove_without_memory,
#endif
		NULL,
	};
	return world_run("short", tests, RCORE_COUNT(tests) - 1);
}
