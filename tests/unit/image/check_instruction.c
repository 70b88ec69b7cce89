/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>

#include "base/count.h"
#include "image/unwind/code/instruction.h"
#include "suite.h"

/* Their indices in elf_gregset_t. */
enum { R12 = 3, RBP = 4, RBX = 5, R11 = 6, R9 = 8, RAX = 10, RCX, RDX, RSI, RDI };
enum { RIP = 16, RSP = 19, FS_BASE = 21 };

static uint64_t value_of(int index)
{
	return UINT64_C(0x100000) * (unsigned)(index + 1);
}

#define R    RCORE_ACCESS_READ
#define W    RCORE_ACCESS_WRITE
#define NONE RCORE_ACCESS_UNKNOWN

/*
 * As written by GNU as. The address is that register (-1: none) plus `offset`.
 */
static const struct {
	const char *text, *code;
	size_t size;
	enum rcore_access access;
	int base;
	int64_t offset;
} x86[] = {
	{"movl $1,(%rax)", "\xc7\x00\x01\x00\x00\x00", 6, W, RAX, 0},
	{"mov 0x28(%rdi),%eax", "\x8b\x47\x28", 3, R, RDI, 0x28},
	{"mov %al,0x10(%rbx,%rcx,4)", "\x88\x44\x8b\x10", 4, W, RBX,
	 0x10 + 4 * 0x100000 * (RCX + 1)},
	{"mov (%r12),%r13", "\x4d\x8b\x2c\x24", 4, R, R12, 0},
	{"mov %r13,0x8(%rsp)", "\x4c\x89\x6c\x24\x08", 5, W, RSP, 8},
	{"cmpl $0x5,0x20(%rdx)", "\x83\x7a\x20\x05", 4, R, RDX, 0x20},
	{"addl $0x5,0x20(%rdx)", "\x83\x42\x20\x05", 4, W, RDX, 0x20},
	{"testb $0x1,(%rsi)", "\xf6\x06\x01", 3, R, RSI, 0},
	{"incq 0x8(%rax)", "\x48\xff\x40\x08", 4, W, RAX, 8},
	{"call *0x18(%rax)", "\xff\x50\x18", 3, R, RAX, 0x18},
	{"jmp *(%r11)", "\x41\xff\x23", 3, R, R11, 0},
	{"push 0x8(%rcx)", "\xff\x71\x08", 3, R, RCX, 8},
	{"movzbl 0x3(%rbp),%edx", "\x0f\xb6\x55\x03", 4, R, RBP, 3},
	{"movups %xmm0,(%rdi)", "\x0f\x11\x07", 3, W, RDI, 0},
	{"movups (%rsi),%xmm1", "\x0f\x10\x0e", 3, R, RSI, 0},
	{"vmovdqu %ymm0,(%rdi)", "\xc5\xfe\x7f\x07", 4, W, RDI, 0},
	{"vmovdqu 0x20(%rsi),%ymm1", "\xc5\xfe\x6f\x4e\x20", 5, R, RSI, 0x20},
	{"movq %xmm0,0x8(%rax)", "\x66\x0f\xd6\x40\x08", 5, W, RAX, 8},
	{"movq 0x8(%rax),%xmm0", "\xf3\x0f\x7e\x40\x08", 5, R, RAX, 8},
	{"lock cmpxchg %rcx,(%rdx)", "\xf0\x48\x0f\xb1\x0a", 5, W, RDX, 0},
	{"xadd %eax,(%rdx)", "\x0f\xc1\x02", 3, W, RDX, 0},
	{"rep movsb, at its source", "\xf3\xa4", 2, R, RSI, 0},
	{"rep stos %rax,%es:(%rdi)", "\xf3\x48\xab", 3, W, RDI, 0},
	{"lods %ds:(%rsi),%al", "\xac", 1, R, RSI, 0},
	{"lea 0x8(%rax),%rbx", "\x48\x8d\x58\x08", 4, NONE, -1, 0},
	{"mov %eax,%ebx", "\x89\xc3", 2, NONE, -1, 0},
	{"mov 0x1000(%rip),%rax", "\x48\x8b\x05\x00\x10\x00\x00", 7, R, RIP, 0x1007},
	{"mov %fs:0x10,%rax", "\x64\x48\x8b\x04\x25\x10\x00\x00\x00", 9, R, FS_BASE, 0x10},
	{"movabs 0x1122334455667788,%al", "\xa0\x88\x77\x66\x55\x44\x33\x22\x11", 9, R, -1,
	 0x1122334455667788},
	{"setne (%rdi)", "\x0f\x95\x07", 3, W, RDI, 0},
	{"btl $0x3,(%rdi)", "\x0f\xba\x27\x03", 4, R, RDI, 0},
	{"btsl $0x3,(%rdi)", "\x0f\xba\x2f\x03", 4, W, RDI, 0},
	{"fldl (%rax)", "\xdd\x00", 2, R, RAX, 0},
	{"fstpl (%rax)", "\xdd\x18", 2, W, RAX, 0},
	{"notl (%rax)", "\xf7\x10", 2, W, RAX, 0},
	{"ret", "\xc3", 1, R, RSP, 0},
	{"push %rbp", "\x55", 1, W, RSP, -8},
	{"leave", "\xc9", 1, R, RBP, 0},
	{"stmxcsr (%rsp)", "\x0f\xae\x1c\x24", 4, W, RSP, 0},
	{"pextrw $0x1,%xmm0,(%rdi)", "\x66\x0f\x3a\x15\x07\x01", 6, W, RDI, 0},
	{"movdqa %xmm1,0x40(%r9)", "\x66\x41\x0f\x7f\x49\x40", 6, W, R9, 0x40},
	{"prefixes alone", "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", 15,
	 NONE, -1, 0},
	{"cut off", "\x8b", 1, NONE, -1, 0},
	{"nothing", "", 0, NONE, -1, 0},
};

START_TEST(decodes_x86)
{
	uint64_t registers[RCORE_MAX_REGISTERS];
	struct rcore_operand operand;
	for (int i = 0; i < RCORE_MAX_REGISTERS; i++)
		registers[i] = value_of(i);
	bool found =
		rcore_instruction_operand(EM_X86_64, (const uint8_t *)x86[_i].code,
					  x86[_i].size, registers, value_of(RSI), &operand);
	ck_assert_msg(operand.access == x86[_i].access, "%s", x86[_i].text);
	ck_assert_int_eq(found, x86[_i].access != NONE);
	if (found)
		ck_assert_msg(operand.address ==
				      (x86[_i].base < 0 ? 0 : value_of(x86[_i].base)) +
					      (uint64_t)x86[_i].offset,
			      "%s: 0x%lx", x86[_i].text, (unsigned long)operand.address);
}

START_TEST(tells_source_from_destination)
{
	uint64_t registers[RCORE_MAX_REGISTERS] = {[RSI] = 0x1000, [RDI] = 0x2000};
	struct rcore_operand operand;
	ck_assert(rcore_instruction_operand(EM_X86_64, (const uint8_t *)"\xa4", 1, registers,
					    0x2000, &operand));
	ck_assert_int_eq(operand.access, W);
	ck_assert_uint_eq(operand.address, 0x2000);
}

static const struct {
	const char *text;
	uint32_t code;
	enum rcore_access access;
} arm[] = {
	{"str x0, [x1]", 0xf9000020, W},
	{"ldr x0, [x1, #8]", 0xf9400420, R},
	{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, W},
	{"ldp x0, x1, [x2]", 0xa9400440, R},
	{"strb w0, [x1, x2]", 0x38226820, W},
	{"ldrsw x0, [x1]", 0xb9800020, R},
	{"str q0, [x1]", 0x3d800020, W},
	{"ldr q0, [x1]", 0x3dc00020, R},
	{"ldxr x0, [x1]", 0xc85f7c20, R},
	{"stxr w2, x0, [x1]", 0xc8027c20, W},
	{"ldadd x0, x1, [x2]", 0xf8200041, W},
	{"ldr x0, .+16", 0x58000080, R},
	{"ld1 {v0.16b}, [x0]", 0x4c407000, R},
	{"st1 {v0.16b}, [x0]", 0x4c007000, W},
	{"stur x0, [x1, #-8]", 0xf81f8020, W},
	{"ldur x0, [x1, #-8]", 0xf85f8020, R},
	{"add x0, x1, x2", 0x8b020020, NONE},
};

START_TEST(decodes_arm)
{
	uint64_t registers[RCORE_MAX_REGISTERS] = {0};
	struct rcore_operand operand;
	rcore_instruction_operand(EM_AARCH64, (const uint8_t *)&arm[_i].code, 4, registers, 0,
				  &operand);
	ck_assert_msg(operand.access == arm[_i].access, "%s", arm[_i].text);
	ck_assert(!operand.has_address);
}

/*
 * No byte of a target makes the decoder read outside the instruction; ASan
 * would report it.
 */
START_TEST(takes_any_bytes)
{
	uint64_t registers[RCORE_MAX_REGISTERS] = {0}, state = 1;
	struct rcore_operand operand;
	for (int round = 0; round < 200000; round++) {
		uint8_t *code = malloc(RCORE_INSTRUCTION_SIZE);
		size_t size = (size_t)round % (RCORE_INSTRUCTION_SIZE + 1);
		for (size_t i = 0; i < size; i++) {
			state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
			code[i] = (uint8_t)(state >> 56);
		}
		uint8_t *exact = realloc(code, size ? size : 1);
		rcore_instruction_operand(EM_X86_64, exact, size, registers, 0, &operand);
		free(exact);
	}
}

START_TEST(names_registers)
{
	ck_assert_str_eq(rcore_register_name(EM_X86_64, RDI), "rdi");
	ck_assert_str_eq(rcore_register_name(EM_X86_64, R12), "r12");
	ck_assert_ptr_null(rcore_register_name(EM_X86_64, RIP));
	ck_assert_str_eq(rcore_register_name(EM_AARCH64, 30), "x30");
	ck_assert_ptr_null(rcore_register_name(EM_AARCH64, 31));
	ck_assert_ptr_null(rcore_register_name(EM_X86_64, -1));
	ck_assert_ptr_null(rcore_register_name(EM_RISCV, 0));
}

int main(void)
{
	const TTest *const tests[] = {tells_source_from_destination, takes_any_bytes,
				      names_registers};
	const struct rcore_test_loop loops[] = {{decodes_x86, RCORE_COUNT(x86)},
						{decodes_arm, RCORE_COUNT(arm)}};
	const struct rcore_test_suite suite = {
		.name = "instruction",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
