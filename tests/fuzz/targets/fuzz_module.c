/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "fake_target.h"
#include "image/elf/elf_headers.h"
#include "image/elf/modules.h"
#include "image/unwind/unwind.h"
#include "target.h"
#include "target/process.h"

/*
 * Reads an ELF file that a process has mapped: its headers, symbols, variables and debug
 * information. Unwinds through its call frame information a stack that is full of addresses in it.
 */

enum { PAGE = 4096, STACK_WORDS = 512, CONTEXTS = 8 };

/* xorshift: what follows is a function of the input alone. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t seed_of(const uint8_t *bytes, size_t size)
{
	uint64_t seed = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < size; i++)
		seed = (seed ^ bytes[i]) * 0x100000001b3;
	return seed | 1;
}

static void ask(struct rcore_modules *modules, struct rcore_module *module)
{
	static const char *const names[] = {"enter", "nap", "data", "no_such_name", ""};
	struct rcore_symbol symbol;
	uint64_t start, end;
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		rcore_module_symbol(modules, module, names[i], &symbol);
		rcore_module_dwarf_variable(modules, module, names[i], &start);
	}
	for (size_t i = 0; rcore_module_writable(modules, module, i, &start, &end); i++)
		if (end < start)
			abort();
	rcore_module_thread_block(module);
	rcore_module_debug_file(modules, module);
}

/*
 * A sanitizer that finds something in the helper ends it. A library that does
 * not survive the file is killed by a signal, which is no finding.
 */
static void check_helper(const struct rcore_modules *modules)
{
	const char *problem = rcore_modules_problem(modules);
	if (problem && strstr(problem, "(it ended)"))
		abort();
}

static void unwind(struct rcore_modules *modules, struct rcore_memory *memory, unsigned machine,
		   uint64_t stack, struct rcore_unwind_context *contexts)
{
	struct rcore_arena arena = {0};
	struct rcore_code *code;
	struct rcore_error *err = rcore_code_open(modules, memory, machine, &code);
	if (!err) {
		err = rcore_unwind(code, &arena, NULL, NULL, contexts, CONTEXTS);
		rcore_code_close(code);
	}
	/* Each frame takes at least a word of the stack. */
	for (size_t i = 0; !err && i < CONTEXTS; i++)
		if (contexts[i].frame_count > 2 * STACK_WORDS)
			abort();
	rcore_error_free(err);
	rcore_arena_deinit(&arena);
}

static void examine(const char *path, const uint8_t *bytes, size_t size)
{
	struct fake_target target;
	struct rcore_unwind_context contexts[CONTEXTS] = {0};
	struct rcore_modules *modules;
	uint64_t state = seed_of(bytes, size);
	const unsigned machine =
		bytes[offsetof(Elf64_Ehdr, e_machine)] == EM_AARCH64 ? EM_AARCH64 : EM_X86_64;
	fake_target_init(&target);
	uint64_t base = fake_alloc(&target, (size + PAGE - 1) & -(size_t)PAGE, PAGE);
	uint64_t stack = fake_alloc(&target, STACK_WORDS * sizeof(uint64_t), PAGE);
	fake_write(&target, base, bytes, size);
	for (size_t i = 0; i < STACK_WORDS; i++)
		fake_put(&target, stack + i * sizeof(uint64_t),
			 next(&state) % 4 ? base + next(&state) % size
					  : stack + next(&state) % (STACK_WORDS * 8));
	for (size_t i = 0; i < CONTEXTS; i++) {
		for (size_t k = 0; k < RCORE_MAX_REGISTERS; k++)
			contexts[i].registers[k] = base + next(&state) % size;
		contexts[i].registers[rcore_register_sp(machine)] = stack + i * 8;
		contexts[i].known = UINT64_MAX;
		contexts[i].is_parked = i % 2;
		contexts[i].stack_start = stack;
		contexts[i].stack_end = stack + STACK_WORDS * sizeof(uint64_t);
	}
	struct rcore_mapping mapping = {
		.start = base,
		.end = base + ((size + PAGE - 1) & -(size_t)PAGE),
		.path = "/app/fuzz.so",
		.file = path,
	};
	const struct rcore_process process = {
		.size = sizeof(process),
		.source = "fuzz",
		.machine = machine,
		.mappings = &mapping,
		.mapping_count = 1,
	};
	struct rcore_error *err = rcore_modules_open(&process, &target.memory, NULL, &modules);
	if (!err) {
		for (size_t i = 0; i < rcore_modules_count(modules); i++)
			ask(modules, rcore_modules_get(modules, i));
		unwind(modules, rcore_modules_overlay(modules, &target.memory), machine, stack,
		       contexts);
		check_helper(modules);
		rcore_modules_close(modules);
	}
	rcore_error_free(err);
	fake_target_deinit(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_file file;
	if (size < sizeof(Elf64_Ehdr))
		return 0;
	fuzz_file_open(&file, bytes, size);
	examine(file.path, bytes, size);
	fuzz_file_close(&file);
	return 0;
}
