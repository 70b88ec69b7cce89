/* SPDX-License-Identifier: MIT */
#include "image/unwind/va_list.h"

#include <elf.h>
#include <string.h>

enum {
	SLOT = 8,
	FIRST = SLOT,          /* in the save area: rdi is the first argument */
	GENERAL = 6 * SLOT,    /* rdi to r9 */
	VECTORS_END = 176,     /* the save area with xmm0 to xmm7 */
	LARGEST_FRAME = 16384, /* of a function that prints a message */
	/* How far before the call an argument may be loaded. */
	CODE_SIZE = 64,
};

bool rcore_va_list_find(struct rcore_memory *memory, unsigned machine, uint64_t sp,
			uint64_t cfa, struct rcore_va_list *ret)
{
	if (machine != EM_X86_64 || cfa <= sp || cfa - sp > LARGEST_FRAME)
		return false;
	/*
	 * gp_offset and fp_offset in one word, overflow_arg_area,
	 * reg_save_area.
	 */
	for (uint64_t at = sp; at + 3 * SLOT <= cfa; at += SLOT) {
		uint64_t offsets, stack, area;
		if (rcore_read_u64(memory, at, &offsets) ||
		    rcore_read_u64(memory, at + SLOT, &stack) ||
		    rcore_read_u64(memory, at + 2 * SLOT, &area))
			return false;
		uint32_t general = (uint32_t)offsets, vectors = (uint32_t)(offsets >> 32);
		if (general < FIRST || general > GENERAL || general % SLOT ||
		    vectors < GENERAL || vectors > VECTORS_END || stack < cfa ||
		    stack - cfa > LARGEST_FRAME || area < sp || area + VECTORS_END > cfa + SLOT)
			continue;
		*ret = (struct rcore_va_list){memory, area + FIRST, area + GENERAL, cfa};
		return true;
	}
	return false;
}

bool rcore_va_list_next(struct rcore_va_list *list, uint64_t *ret)
{
	bool in_registers = list->registers < list->registers_end;
	uint64_t *at = in_registers ? &list->registers : &list->stack;
	if (rcore_read_u64(list->memory, *at, ret))
		return false;
	*at += SLOT;
	return true;
}

/* Where an instruction that sets a register takes its value from. */
enum source { NO_SETTER, FROM_PC, FROM_STACK, FROM_SLOT, FROM_REGISTER, FROM_ELSEWHERE };
struct setter {
	enum source source;
	int64_t offset; /* from the end of the instruction, or from %rsp */
	size_t length;
	unsigned reg; /* FROM_REGISTER */
};

enum { RSP = 4, RDI = 7 };

static int64_t displacement_of(const uint8_t *code, size_t size)
{
	int32_t word;
	if (size < sizeof(word))
		return size ? (int8_t)code[0] : 0;
	memcpy(&word, code, sizeof(word));
	return word;
}

/* lea and mov from memory: [%rip+d], [%rsp+d], or with another register. */
static struct setter memory_setter(const uint8_t *code, size_t size)
{
	static const size_t sizes[] = {0, 1, 4};
	unsigned mode = code[2] >> 6, base = code[2] & 7u;
	bool is_lea = code[1] == 0x8d, is_pc = mode == 0 && base == 5;
	bool is_stack = base == RSP && !(code[0] & 1) && size > 3 && code[3] == 0x24;
	size_t start = base == RSP ? 4 : 3, wide = is_pc ? 4 : sizes[mode];
	struct setter ret = {.source = FROM_ELSEWHERE, .length = start + wide};
	if (ret.length > size)
		return (struct setter){0};
	if (is_pc && is_lea)
		ret.source = FROM_PC;
	else if (is_stack)
		ret.source = is_lea ? FROM_STACK : FROM_SLOT;
	ret.offset = displacement_of(code + start, wide);
	return ret;
}

/*
 * Returns the instruction at `code` if it sets the register, otherwise zeroes.
 */
static struct setter setter_at(const uint8_t *code, size_t size, unsigned reg)
{
	if (size < 3 || (code[0] & 0xf8) != 0x48)
		return (struct setter){0};
	unsigned left = (code[2] >> 3 & 7u) | (code[0] & 4u) << 1;
	unsigned right = (code[2] & 7u) | (code[0] & 1u) << 3;
	bool is_register = code[2] >> 6 == 3, is_load = code[1] == 0x8b;
	if (is_register && ((is_load && left == reg) || (code[1] == 0x89 && right == reg))) {
		unsigned from = is_load ? right : left;
		return (struct setter){from == RSP ? FROM_STACK : FROM_REGISTER, 0, 3, from};
	}
	if (!is_register && left == reg && (is_load || code[1] == 0x8d))
		return memory_setter(code, size);
	return (struct setter){0};
}

/*
 * Whether a call preserves a register (System V ABI): rbx, rbp, r12 to r15.
 */
static bool is_kept(unsigned reg)
{
	return reg == 3 || reg == 5 || (reg >= 12 && reg <= 15);
}

/*
 * Finds the last instruction before `*at` that sets the register, and sets *at
 * to where it begins.
 */
static struct setter last_setter(const uint8_t *code, size_t *at, unsigned reg)
{
	struct setter found = {0};
	size_t end = *at;
	while (!found.source && (*at)-- > 0)
		found = setter_at(code + *at, end - *at, reg);
	return found;
}

/* Returns the size of the call that ends at `end`: relative, or indirect. */
static size_t size_of_call(const uint8_t *end)
{
	return end[-5] == 0xe8 ? 5 : end[-6] == 0xff && end[-5] == 0x15 ? 6 : 2;
}

uint64_t rcore_first_argument(struct rcore_memory *memory, unsigned machine, uint64_t pc,
			      uint64_t sp, bool *ret_constant)
{
	uint8_t code[CODE_SIZE];
	uint64_t value;
	*ret_constant = false;
	if (machine != EM_X86_64 || pc < CODE_SIZE ||
	    rcore_read(memory, pc - CODE_SIZE, code, sizeof(code)))
		return 0;
	size_t at = CODE_SIZE - size_of_call(code + CODE_SIZE);
	struct setter setter = last_setter(code, &at, RDI);
	/* The address of a buffer that several calls need is in a register. */
	if (setter.source == FROM_REGISTER && is_kept(setter.reg))
		setter = last_setter(code, &at, setter.reg);
	switch (setter.source) {
	case FROM_PC:
		*ret_constant = true;
		return pc - CODE_SIZE + at + setter.length + (uint64_t)setter.offset;
	case FROM_STACK:
		return sp + (uint64_t)setter.offset;
	case FROM_SLOT:
		return rcore_read_u64(memory, sp + (uint64_t)setter.offset, &value) ? 0 : value;
	default:
		return 0;
	}
}

/*
 * ffi_call_unix64() of libffi's x86/unix64.S loads the registers from a block
 * and then sets the stack pointer to its end:
 *
 *	lea  0xb8(%r10), %rsp
 *	pop  %r10
 *	call *%r11
 *
 * So the block is where the called function has its frame. If GCC compiled the
 * function, its register save area is at the same place. Both begin with rdi,
 * and a function that has a named argument does not write there.
 */
uint64_t rcore_first_argument_of_libffi(const struct rcore_va_list *list, uint64_t pc,
					uint64_t sp)
{
	static const uint8_t call[] = {0x49, 0x8d, 0xa2, 0xb8, 0,    0,
				       0,    0x41, 0x5a, 0x41, 0xff, 0xd3};
	const uint64_t block = sp - 0xb8 - SLOT, area = list->registers - FIRST;
	uint8_t code[sizeof(call)];
	uint64_t value;
	bool is_libffi = pc > sizeof(code) &&
			 !rcore_read(list->memory, pc - sizeof(code), code, sizeof(code)) &&
			 !memcmp(code, call, sizeof(call));
	return is_libffi && area == block && !rcore_read_u64(list->memory, block, &value)
		       ? value
		       : 0;
}
