/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "fake_target.h"
#include "image/unwind/parked.h"
#include "image/unwind/code/prologue.h"
#include "image/symbolize/symbolize_gem.h"
#include "image/unwind/unwind_machine.h"
#include "image/unwind/unwind_row.h"
#include "suite.h"

/* Tests what unwinding knows about machines and files, without a target. */

static const struct {
	const char *path, *gem;
} gems[] = {
	{"/var/lib/gems/3.1.0/gems/pg-1.5.4/lib/pg_ext.so", "pg-1.5.4"},
	{"/var/lib/gems/3.1.0/extensions/x86_64-linux/3.1.0/pg-1.5.4/pg_ext.so", "pg-1.5.4"},
	{"/app/vendor/bundle/ruby/3.3.0/gems/ruby-profiler-0.1.0/ext/a.so",
	 "ruby-profiler-0.1.0"},
	{"/usr/lib/ruby/gems/3.1.0/gems/nokogiri-1.16.0-x86_64-linux/lib/nokogiri/3.1/"
	 "nokogiri.so",
	 "nokogiri-1.16.0-x86_64-linux"},
	{"/srv/bundler/gems/my-gem-0a1b2c3d4e5f/lib/my.so", "my-gem-0a1b2c3d4e5f"},
	{"/srv/bundler/gems/extensions/x86_64-linux/3.1.0/my-gem-0a1b2c3d4e5f/my.so",
	 "my-gem-0a1b2c3d4e5f"},
	{"/opt/gems/outer-1.0/vendor/gems/inner-2.0.beta1/inner.so", "inner-2.0.beta1"},
	{"/opt/gems/outer-1.0/vendor/lib/inner.so", "outer-1.0"},
	{"/usr/lib/ruby/gems/3.1.0/a.so", NULL},
	{"/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", NULL},
	{"/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0/pg_ext.so", NULL},
	{"/opt/gems/pg-1.5.4", NULL},
	{"/opt/mygems/pg-1.5.4/a.so", NULL},
	{"/opt/gems/no-version/a.so", NULL},
	{"/opt/gems/-1/a.so", NULL},
	{"/opt/extensions/a", NULL},
	{"gems/pg-1/a", NULL},
	{"", NULL},
};

START_TEST(gem_of_path)
{
	const char *start = NULL, *gem = gems[_i].gem;
	size_t size = rcore_gem_of_path(gems[_i].path, &start);
	ck_assert_msg(size == (gem ? strlen(gem) : 0), "%s: %zu", gems[_i].path, size);
	if (gem)
		ck_assert_msg(!strncmp(start, gem, size), "%s: %s", gems[_i].path, start);
}
END_TEST

static const struct {
	unsigned machine;
	bool is_call;
	uint8_t code[8]; /* ends at the return address */
} calls[] = {
	{EM_X86_64, true, {0, 0, 0, 0xe8, 1, 2, 3, 4}},
	{EM_X86_64, true, {0, 0, 0, 0, 0, 0, 0xff, 0xd0}},       /* *%rax */
	{EM_X86_64, true, {0, 0, 0, 0, 0, 0x41, 0xff, 0xd4}},    /* *%r12 */
	{EM_X86_64, true, {0, 0, 0, 0, 0, 0xff, 0x53, 0x10}},    /* *16(%rbx) */
	{EM_X86_64, true, {0, 0, 0, 0, 0, 0xff, 0x14, 0xc3}},    /* *(%rbx,%rax,8) */
	{EM_X86_64, true, {0, 0, 0, 0, 0xff, 0x54, 0x24, 0x08}}, /* *8(%rsp) */
	{EM_X86_64, true, {0, 0, 0xff, 0x15, 1, 2, 3, 4}},       /* *x(%rip) */
	{EM_X86_64, true, {0, 0, 0xff, 0x93, 1, 2, 3, 4}},       /* *x(%rbx) */
	{EM_X86_64, true, {0, 0xff, 0x94, 0x24, 1, 2, 3, 4}},    /* *x(%rsp) */
	{EM_X86_64, true, {0, 0xff, 0x14, 0xc5, 1, 2, 3, 4}},    /* *x(,%rax,8) */
	{EM_X86_64, false, {0, 0, 0, 0, 0, 0, 0xff, 0xe0}},      /* jmp *%rax */
	{EM_X86_64, false, {0, 0, 0, 0, 0, 0, 0xff, 0x14}},      /* half a call */
	{EM_X86_64, false, {0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}},
	{EM_X86_64, false, {0, 0, 0xe8, 1, 2, 3, 4, 0x90}},
	{EM_AARCH64, true, {0, 0, 0, 0, 0x12, 0x34, 0x00, 0x94}},  /* bl */
	{EM_AARCH64, true, {0, 0, 0, 0, 0x60, 0x00, 0x3f, 0xd6}},  /* blr x3 */
	{EM_AARCH64, true, {0, 0, 0, 0, 0x71, 0x08, 0x3f, 0xd7}},  /* blraa x3, x17 */
	{EM_AARCH64, false, {0, 0, 0, 0, 0x12, 0x34, 0x00, 0x14}}, /* b */
	{EM_AARCH64, false, {0, 0, 0, 0, 0x60, 0x00, 0x1f, 0xd6}}, /* br x3 */
};

START_TEST(call_instructions)
{
	const struct rcore_unwind_machine *machine = rcore_unwind_machine(calls[_i].machine);
	/* A sanitizer reports reads beyond these. */
	uint8_t *code = malloc(sizeof(calls[_i].code));
	ck_assert_ptr_nonnull(code);
	memcpy(code, calls[_i].code, sizeof(calls[_i].code));
	ck_assert_int_eq(machine->is_call(code + 8, 8), calls[_i].is_call);
	free(code);
}
END_TEST

START_TEST(saved_below_the_stack_pointer)
{
	static const uint8_t code[] = {0x48, 0x83, 0xec, 0x10,        /* sub $16,%rsp */
				       0x48, 0x89, 0x5c, 0x24, 0x08,  /* mov %rbx,8(%rsp) */
				       0x4c, 0x89, 0x64, 0x24, 0xf8}; /* mov %r12,-8(%rsp) */
	struct rcore_prologue frame;
	ck_assert(rcore_prologue_x86(code, sizeof(code), true, &frame));
	ck_assert_uint_eq(frame.size, 16);
	ck_assert_uint_eq(frame.saved, 1 << 3 | 1 << 12);
	ck_assert_uint_eq(frame.below[3], 8);
	ck_assert_uint_eq(frame.below[12], 24);
	/* The pc is at its first instruction, or no instruction is known. */
	ck_assert(rcore_prologue_x86(code, 0, true, &frame));
	ck_assert(!frame.size && !frame.saved);
	ck_assert(!rcore_prologue_x86(code, 0, false, &frame));
}
END_TEST

static const struct {
	int words; /* -1: it does something else */
	size_t size;
	uint8_t code[20];
} epilogues[] = {
	{0, 1, {0xc3}},
	{3, 11, {0x5b, 0x41, 0x5c, 0x41, 0x5d, 0xb8, 0x24, 0, 0, 0, 0xc3}},
	{1, 13, {0x41, 0x5d, 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 0xc3}},
	{1, 9, {0x5d, 0x48, 0xc7, 0xc0, 0x24, 0, 0, 0, 0xc3}},
	{1, 5, {0x5d, 0x4c, 0x89, 0xe0, 0xc3}},
	{-1, 3, {0x5b, 0x53, 0xc3}},             /* push %rbx */
	{-1, 5, {0x5b, 0x48, 0x89, 0xc3, 0xc3}}, /* mov %rax,%rbx */
	{-1, 2, {0x5b, 0x41}},
	{-1, 3, {0x5b, 0x41, 0x5c}},
	{-1, 2, {0x48, 0xb8}},
};

START_TEST(epilogue)
{
	size_t words = 0, size = epilogues[_i].size;
	/* A sanitizer reports reads beyond these. */
	uint8_t *code = malloc(size);
	ck_assert_ptr_nonnull(code);
	memcpy(code, epilogues[_i].code, size);
	bool returns = rcore_epilogue_x86(code, size, &words);
	ck_assert_int_eq(returns ? (int)words : -1, epilogues[_i].words);
	free(code);
}
END_TEST

/*
 * Word n of the saved registers is n + 1; then their places, by the numbers of
 * elf_gregset_t.
 */
static const struct {
	unsigned machine;
	enum rcore_coroutine coroutine;
	unsigned words, pc;
	int count;
	struct {
		int number, word;
	} registers[12];
} saved[] = {
	{EM_X86_64,
	 RCORE_COROUTINE_PC_SLOT,
	 7,
	 6,
	 6,
	 {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 4}, {4, 5}}},
	{EM_X86_64,
	 RCORE_COROUTINE_LINK,
	 7,
	 6,
	 6,
	 {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {5, 4}, {4, 5}}},
	{EM_AARCH64, RCORE_COROUTINE_PC_SLOT, 22, 20, 3, {{19, 8}, {28, 17}, {29, 18}}},
	{EM_AARCH64, RCORE_COROUTINE_LINK, 20, 19, 3, {{19, 8}, {28, 17}, {29, 18}}},
};

START_TEST(parked_registers)
{
	struct fake_target target;
	struct rcore_unwind_context context;
	unsigned machine = saved[_i].machine;
	int sp = rcore_register_sp(machine), pc = rcore_register_pc(machine);
	fake_target_init(&target);
	uint64_t stack = fake_alloc(&target, 8 * 32, 16);

	ck_assert(!rcore_parked_registers(&target.memory, machine, 0, saved[_i].coroutine,
					  &context));
	ck_assert(!rcore_parked_registers(&target.memory, machine, stack + 8 * 31,
					  saved[_i].coroutine, &context));
	ck_assert(!rcore_parked_registers(&target.memory, EM_386, stack, saved[_i].coroutine,
					  &context));

	/* Never resumed: it only has its start address, signed on aarch64. */
	uint64_t start = 0x555500001234, mark = UINT64_C(0x3a) << 56;
	fake_put(&target, stack + 8 * saved[_i].pc, start | (machine == EM_AARCH64 ? mark : 0));
	ck_assert(rcore_parked_registers(&target.memory, machine, stack, saved[_i].coroutine,
					 &context));
	ck_assert(!context.is_parked && context.registers[pc] == start);

	for (unsigned i = 0; i < saved[_i].words; i++)
		fake_put(&target, stack + 8 * i, i + 1);
	ck_assert(rcore_parked_registers(&target.memory, machine, stack, saved[_i].coroutine,
					 &context));
	ck_assert(context.is_parked);
	ck_assert_uint_eq(context.registers[pc], saved[_i].pc + 1);
	ck_assert_uint_eq(context.registers[sp], stack + 8 * saved[_i].words);
	uint64_t known = UINT64_C(1) << pc | UINT64_C(1) << sp;
	for (int i = 0; i < saved[_i].count; i++) {
		int number = saved[_i].registers[i].number;
		ck_assert_int_eq((int)context.registers[number],
				 saved[_i].registers[i].word + 1);
		known |= UINT64_C(1) << number;
	}
	ck_assert_uint_eq(known & ~context.known, 0);
	ck_assert(!context.stack_start && !context.stack_end && !context.problem);
	fake_target_deinit(&target);
}
END_TEST

/* A function that pushed %rbp and uses %rbx for something else. */
static struct rcore_row pushed_rbp(uint64_t rbp_below)
{
	enum { RBP = 6, RSP = 7, R12 = 12, RETURN = 16 };
	struct rcore_row row = {.is_plain = true};
	row.columns[RBP].rule = RCORE_RULE_SAVED;
	row.columns[RBP].offset = -rbp_below;
	row.columns[RSP].rule = RCORE_RULE_OFFSET;
	row.columns[R12].rule = RCORE_RULE_SAME;
	row.columns[RETURN].rule = RCORE_RULE_SAVED;
	row.columns[RETURN].offset = -UINT64_C(8);
	return row;
}

static bool read_target(void *memory, uint64_t address, uint64_t *ret)
{
	return !rcore_read_u64(memory, address, ret);
}

START_TEST(plain_row)
{
	struct fake_target target;
	const struct rcore_unwind_machine *machine = rcore_unwind_machine(EM_X86_64);
	struct rcore_unwind_registers before = {.pc = 0x1000, .known = 0xffff}, registers;
	struct rcore_row row = pushed_rbp(16), outside = pushed_rbp(1 << 20);
	fake_target_init(&target);
	uint64_t stack = fake_alloc(&target, 32, 16), address = stack + 24;
	fake_put(&target, stack + 8, 0xb9);
	for (uint64_t i = 0; i < machine->register_count; i++)
		before.value[i] = 0x100 + i;

	/* Without a return address, nothing changes. */
	registers = before;
	ck_assert_int_eq(rcore_row_apply(&row, machine, address, read_target, &target.memory,
					 &registers),
			 RCORE_ROW_ENDS);
	ck_assert_mem_eq(&registers, &before, sizeof(before));
	fake_put(&target, stack + 16, 0x2000);
	ck_assert_int_eq(rcore_row_apply(&outside, machine, address, read_target,
					 &target.memory, &registers),
			 RCORE_ROW_UNREADABLE);
	ck_assert_mem_eq(&registers, &before, sizeof(before));

	ck_assert_int_eq(rcore_row_apply(&row, machine, address, read_target, &target.memory,
					 &registers),
			 RCORE_ROW_APPLIED);
	ck_assert_uint_eq(registers.pc, 0x2000);
	ck_assert_uint_eq(registers.known, 1 << 6 | 1 << 7 | 1 << 12);
	ck_assert_uint_eq(registers.value[6], 0xb9);
	ck_assert_uint_eq(registers.value[7], address);
	ck_assert_uint_eq(registers.value[12], before.value[12]);

	/* A register that is not known is not known in the caller. */
	registers = before;
	registers.known = 1 << 7;
	ck_assert_int_eq(rcore_row_apply(&row, machine, address, read_target, &target.memory,
					 &registers),
			 RCORE_ROW_APPLIED);
	ck_assert_uint_eq(registers.known, 1 << 6 | 1 << 7);
	fake_target_deinit(&target);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {saved_below_the_stack_pointer, plain_row};
	const struct rcore_test_loop loops[] = {{gem_of_path, RCORE_COUNT(gems)},
						{call_instructions, RCORE_COUNT(calls)},
						{epilogue, RCORE_COUNT(epilogues)},
						{parked_registers, RCORE_COUNT(saved)}};
	const struct rcore_test_suite suite = {
		.name = "unwind tables",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
