/* SPDX-License-Identifier: MIT */
/*
 * Finds which function runs an interpreter, by its code only. The test uses
 * small interpreters that are compiled in the ways in which CRuby is, and
 * stripped.
 */
#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "image/unwind/activation.h"
#include "image/unwind/unwind.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_site.h"
#include "self_core.h"
#include "target/core/core.h"
#include "suite.h"

/* ASan has its own malloc(). */
#ifndef __SANITIZE_ADDRESS__
#include "fail_malloc.h"
#endif

enum { INSTRUCTIONS = 2 };

static const struct build {
	const char *flags;
	bool told;
} builds[] = {
	{"-O2", true},
	{"-O0", true},
	{"-Os", true},
	{"-O2 -fno-optimize-sibling-calls", true},
	{"-O2 -DLOOP", true},
	{"-O0 -DLOOP", true},
	{"-O2 -DINLINED", true},
	{"-O0 -DINLINED", true},
	/* Two functions call the core, and neither has many callers. */
	{"-O2 -DLOOP -DFEW", false},
};

struct loaded {
	uint64_t instructions[INSTRUCTIONS], activation;
};

static void load(const char *flags, struct loaded *ret)
{
	char command[512];
	const char *path = temporary_path("interpreter.so");
	snprintf(command, sizeof(command),
		 "gcc -w -s -shared -fPIC -fvisibility=default %s "
		 "-o %s tests/unit/image/programs/interpreter.c",
		 flags, path);
	ck_assert_msg(!system(command), "%s", command);
	void *library = dlopen(path, RTLD_NOW);
	ck_assert_msg(library, "%s", dlerror());
	void (*fill)(void) = (void (*)(void))dlsym(library, "fill");
	const uintptr_t *instructions = dlsym(library, "instructions");
	const uintptr_t *activation = dlsym(library, "activation");
	ck_assert(fill && instructions && activation);
	fill();
	for (size_t i = 0; i < INSTRUCTIONS; i++)
		ret->instructions[i] = instructions[i];
	ret->activation = *activation;
}

/* Memory that fails the test if it is read at one address. */
struct watched {
	struct rcore_memory memory;
	struct rcore_memory *below;
	uint64_t address;
};

static enum rcore_fault watch(struct rcore_memory *memory, uint64_t address, void *buffer,
			      size_t size)
{
	struct watched *watched = (struct watched *)memory;
	/* ck_assert() allocates memory. */
	if (watched->address - address < size)
		ck_abort_msg("code is read from memory");
	return rcore_read(watched->below, address, buffer, size);
}

#ifndef __SANITIZE_ADDRESS__
/*
 * Each allocation fails, with all that follow it. What is not found is said to
 * be missing for want of memory.
 */
static void search_short(struct rcore_modules *modules, struct rcore_memory *memory,
			 const struct rcore_interpreter *interpreter, uint64_t activation)
{
	bool has_failed = true;
	for (size_t first = 1; has_failed; first++) {
		struct rcore_sites sites = {0};
		struct rcore_error *err = rcore_native_modules_open(
			modules, memory, self_machine(), &sites.native);
		ck_assert_msg(!err, "%s", err ? err->message : "");
		fail_malloc_from(first, SIZE_MAX);
		uint64_t found = rcore_activation_find(&sites, interpreter);
		has_failed = fail_malloc_from(0, 0);
		ck_assert_msg(found == activation || sites.native->lacks_memory ||
				      sites.no_memory,
			      "allocation %zu: it is not found", first);
		ck_assert(has_failed || found == activation);
		struct rcore_native_modules *native = sites.native;
		rcore_sites_deinit(&sites);
		rcore_native_modules_close(native);
	}
}

static void unwind_short(struct rcore_code *code, struct rcore_arena *arena,
			 const struct rcore_interpreter *interpreter)
{
	bool has_failed = true;
	for (size_t first = 1; has_failed; first++) {
		struct rcore_interpreter asked = *interpreter;
		fail_malloc_from(first, SIZE_MAX);
		struct rcore_error *err = rcore_unwind(code, arena, NULL, &asked, NULL, 0);
		has_failed = fail_malloc_from(0, 0);
		ck_assert_msg(!err == !has_failed &&
				      (!err || err->code == RCORE_ERROR_NO_MEMORY),
			      "allocation %zu: %s", first, err ? err->message : "no error");
	}
}
#endif

/*
 * What rcore finds in a core of this process. The code comes from the file,
 * because a pack keeps what is read of memory. If the activation is known,
 * first lets allocations fail.
 */
static uint64_t found_in(const uint64_t *instructions, size_t count, uint64_t activation)
{
	struct core_builder builder = {0};
	struct rcore_core *core;
	struct rcore_modules *modules;
	struct rcore_arena arena = {0};
	size_t size;
	self_core(&builder, &(struct self_core_options){0});
	unsigned char *bytes = core_build(&builder, &size);
	const char *path = write_file("core", bytes, size);
	struct rcore_error *err = rcore_core_open(path, &core);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	const struct rcore_process *process = rcore_core_process(core);
	err = rcore_modules_open(process, rcore_core_memory(core), NULL, &modules);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	struct rcore_interpreter interpreter = {.instructions = instructions, .count = count};
	struct watched watched = {
		.memory = {watch},
		.below = rcore_modules_overlay(modules, rcore_core_memory(core)),
		.address = count ? instructions[0] : 0,
	};
	struct rcore_code *code;
	err = rcore_code_open(modules, &watched.memory, self_machine(), &code);
	ck_assert_msg(!err, "%s", err ? err->message : "");
#ifndef __SANITIZE_ADDRESS__
	if (activation) {
		search_short(modules, &watched.memory, &interpreter, activation);
		unwind_short(code, &arena, &interpreter);
	}
#endif
	err = rcore_unwind(code, &arena, NULL, &interpreter, NULL, 0);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	rcore_code_close(code);
	rcore_arena_deinit(&arena);
	rcore_modules_close(modules);
	rcore_core_close(core);
	core_deinit(&builder);
	free(bytes);
	return interpreter.activation;
}

static uint64_t found(const uint64_t *instructions, size_t count)
{
	return found_in(instructions, count, 0);
}

START_TEST(told_by_code)
{
	const struct build *build = &builds[_i];
	struct loaded loaded;
	load(build->flags, &loaded);
	ck_assert_uint_eq(found(loaded.instructions, INSTRUCTIONS),
			  build->told ? loaded.activation : 0);
}
END_TEST

/* What is not found for want of memory is found when there is some again. */
START_TEST(after_lack_of_memory)
{
	struct loaded loaded;
	load("-O2", &loaded);
	ck_assert_uint_eq(found_in(loaded.instructions, INSTRUCTIONS, loaded.activation),
			  loaded.activation);
}
END_TEST

/*
 * Words that are not addresses of instructions, as in an interpreter with
 * another kind of threading.
 */
START_TEST(wrong_instructions)
{
	struct loaded loaded;
	load("-O2", &loaded);
	const uint64_t *true_ones = loaded.instructions;
	const uint64_t mixed[] = {true_ones[0], 1, true_ones[1]},
		       outvoted[] = {true_ones[0], 1, 2, UINT64_MAX}, numbers[] = {0, 1, 2, 3};
	ck_assert_uint_eq(found(mixed, 3), loaded.activation);
	ck_assert_uint_eq(found(outvoted, 4), 0);
	ck_assert_uint_eq(found(numbers, 4), 0);
	ck_assert_uint_eq(found(NULL, 0), 0);
	ck_assert_uint_eq(found(&(uint64_t){(uintptr_t)&strlen}, 1), 0);
}
END_TEST

enum { NONE = 99, BASE = 0x10000 };

static const struct {
	unsigned machine;
	const char *code;
	size_t size, at, place;
	uint64_t target;
	bool is_call;
} branches[] = {
	{EM_X86_64, "\x90\xe8\x10\0\0\0\x90", 7, 0, 1, BASE + 0x16, true},
	{EM_X86_64, "\x90\xe9\x10\0\0\0\x90", 7, 0, 1, BASE + 0x16, false},
	{EM_X86_64, "\x0f\x84\x10\0\0\0\x90", 7, 0, 0, BASE + 0x16, false},
	{EM_X86_64, "\xe8\xf0\xff\xff\xff", 5, 0, 0, BASE - 0xb, true},
	/* Before `at`, cut off, another target, none of these instructions. */
	{EM_X86_64, "\x90\xe8\x10\0\0\0\x90", 7, 2, NONE, BASE + 0x16, false},
	{EM_X86_64, "\x90\xe8\x10\0\0", 5, 0, NONE, BASE + 0x16, false},
	{EM_X86_64, "\x90\xe8\x10\0\0\0\x90", 7, 0, NONE, BASE + 0x17, false},
	{EM_X86_64, "\x90\xb8\x10\0\0\0\x90", 7, 0, NONE, BASE + 0x16, false},
	{EM_X86_64, "", 0, 0, NONE, BASE, false},
	{EM_AARCH64, "\x1f\x20\x03\xd5\x04\0\0\x94", 8, 0, 4, BASE + 0x14, true},
	{EM_AARCH64, "\x1f\x20\x03\xd5\x04\0\0\x14", 8, 0, 4, BASE + 0x14, false},
	{EM_AARCH64, "\xff\xff\xff\x97", 4, 0, 0, BASE - 4, true},
	{EM_AARCH64, "\x04\0\0\x94", 4, 4, NONE, BASE + 0x10, false},
	{EM_AARCH64, "\x04\0\0\x54", 4, 0, NONE, BASE + 0x10, false},
	{EM_AARCH64, "\x04\0\0", 3, 0, NONE, BASE + 0x10, false},
};

START_TEST(branch)
{
	bool is_call = false;
	const struct rcore_unwind_machine *machine = rcore_unwind_machine(branches[_i].machine);
	size_t place =
		machine->find_branch((const uint8_t *)branches[_i].code, branches[_i].size,
				     BASE, branches[_i].at, branches[_i].target, &is_call);
	if (branches[_i].place == NONE)
		ck_assert_uint_ge(place, branches[_i].size);
	else
		ck_assert_uint_eq(place, branches[_i].place);
	ck_assert(branches[_i].place == NONE || is_call == branches[_i].is_call);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {wrong_instructions, after_lack_of_memory};
	const struct rcore_test_loop loops[] = {{told_by_code, RCORE_COUNT(builds)},
						{branch, RCORE_COUNT(branches)}};
	const struct rcore_test_suite suite = {
		.name = "activation",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 60,
	};
	return rcore_test_suite_run(&suite);
}
