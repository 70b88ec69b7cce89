/* SPDX-License-Identifier: MIT */
#include "image/unwind/parked.h"

#include <elf.h>

#include "base/count.h"

/*
 * The words that coroutine_transfer() leaves on the stack, from the stack
 * pointer upwards:
 *
 *	x86-64			aarch64, up to 3.2	aarch64, from 3.3
 *	0  r15			0   d8 ... d15		0   d8 ... d15
 *	1  r14			8   x19 ... x28		8   x19 ... x28
 *	2  r13			18  x29			18  x29
 *	3  r12			19  x30			19  x30: resume here
 *	4  rbx			20  resume here
 *	5  rbp			21  nothing
 *	6  resume here
 */
struct saved {
	unsigned char slot, number; /* the register's number in elf_gregset_t */
};

static const struct saved x86[] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 5}, {5, 4}};
static const struct saved arm[] = {{8, 19},  {9, 20},  {10, 21}, {11, 22}, {12, 23}, {13, 24},
				   {14, 25}, {15, 26}, {16, 27}, {17, 28}, {18, 29}};

static const struct layout {
	unsigned machine;
	enum rcore_coroutine coroutine;
	unsigned char size, pc; /* in words: all of it, and what is before pc */
	const struct saved *saved;
	size_t count;
	uint64_t address_bits; /* the upper bits of pc may be a signature */
} layouts[] = {
	{EM_X86_64, RCORE_COROUTINE_PC_SLOT, 7, 6, x86, 6, UINT64_MAX},
	{EM_X86_64, RCORE_COROUTINE_LINK, 7, 6, x86, 6, UINT64_MAX},
	{EM_AARCH64, RCORE_COROUTINE_PC_SLOT, 22, 20, arm, 11, UINT64_MAX >> 16},
	{EM_AARCH64, RCORE_COROUTINE_LINK, 20, 19, arm, 11, UINT64_MAX >> 16},
};

enum { MAX_SAVED = 22 };

/*
 * coroutine_initialize() sets all registers to 0. In a fiber that ran, at least
 * one of them is not 0: fiber_switch() has the fiber in it during the call.
 */
static bool never_ran(const struct layout *layout, const uint64_t *words)
{
	for (size_t i = 0; i < layout->pc; i++)
		if (words[i])
			return false;
	return true;
}

static void set(struct rcore_unwind_context *context, int number, uint64_t value)
{
	context->registers[number] = value;
	context->known |= UINT64_C(1) << number;
}

bool rcore_parked_registers(struct rcore_memory *memory, unsigned machine,
			    uint64_t stack_pointer, enum rcore_coroutine coroutine,
			    struct rcore_unwind_context *ret)
{
	const struct layout *layout = NULL;
	uint64_t words[MAX_SAVED];
	for (size_t i = 0; i < RCORE_COUNT(layouts); i++)
		if (layouts[i].machine == machine && layouts[i].coroutine == coroutine)
			layout = &layouts[i];
	if (!layout || !stack_pointer ||
	    rcore_read(memory, stack_pointer, words, layout->size * sizeof(*words)))
		return false;
	*ret = (struct rcore_unwind_context){.is_parked = !never_ran(layout, words)};
	for (size_t i = 0; i < layout->count; i++)
		set(ret, layout->saved[i].number, words[layout->saved[i].slot]);
	set(ret, rcore_register_sp(machine), stack_pointer + layout->size * sizeof(*words));
	set(ret, rcore_register_pc(machine), words[layout->pc] & layout->address_bits);
	return true;
}
