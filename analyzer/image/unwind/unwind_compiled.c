/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_compiled.h"

#include "image/unwind/unwind_return.h"

enum {
	WORD = 8,
	ENTRY_WORDS = 3,   /* cfp, EC and sp of the caller */
	POINTER_WORDS = 2, /* rbp twice: frame_setup() of --yjit-perf */
	MOST_WORDS = ENTRY_WORDS + POINTER_WORDS + 10, /* ... and cpush_all() */
};

static bool holds(const struct rcore_walk *walk, unsigned number, uint64_t value)
{
	return rcore_register_known(&walk->at, number) && walk->at.value[number] == value;
}

/*
 * Whether the code at the pc restores registers and returns; *words is then the
 * number of words below the return address.
 */
static bool is_leaving(const struct rcore_walk *walk, size_t *words)
{
	uint8_t code[RCORE_EPILOGUE_BYTES];
	return walk->last.is_exact && walk->unwinder->machine->find_return &&
	       !rcore_walk_read_code(walk, walk->last.pc, 0, sizeof(code), code) &&
	       walk->unwinder->machine->find_return(code, sizeof(code), words);
}

/*
 * Finds the nearest return address. Between sp and it there are VALUEs and
 * saved registers of C code. These may contain addresses of functions, but one
 * looks like a return address only after a call that does not return, and C
 * always returns to the middle of vm_exec_core() or rb_vm_exec(). The code
 * calls nothing before it has saved all three registers, but the pc may be
 * between the saves.
 */
static bool find_return(struct rcore_walk *walk, uint64_t *slot, uint64_t *pc)
{
	const struct rcore_compiled *compiled = &walk->unwinder->machine->compiled;
	uint64_t ec = walk->context->ec;
	bool is_entering = walk->last.is_exact && holds(walk, compiled->ec_argument, ec);
	size_t first = walk->last.is_exact ? 0 : ENTRY_WORDS, most = MOST_WORDS, left;
	if (is_leaving(walk, &left))
		first = most = left;
	else if (!is_entering && !holds(walk, compiled->ec, ec))
		return false;
	for (size_t i = first; i <= most; i++) {
		*slot = walk->last.sp + i * WORD;
		if (!rcore_walk_word(walk, *slot, pc))
			return false;
		if (rcore_walk_is_return(walk, *pc) && !rcore_walk_is_start(walk, *pc))
			return true;
	}
	return false;
}

bool rcore_walk_resume_compiled(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	const struct rcore_compiled *compiled = &machine->compiled;
	struct rcore_unwind_registers registers = {0};
	uint64_t slot, value, sp = walk->last.sp;
	if (!compiled->ec || !walk->context->ec || walk->last.site->module || sp % WORD ||
	    !find_return(walk, &slot, &registers.pc))
		return false;
	rcore_register_set(&registers, machine->sp, slot + WORD);
	for (unsigned i = 0; i < machine->register_count; i++)
		if (compiled->kept >> i & 1 && rcore_register_known(&walk->at, i))
			rcore_register_set(&registers, i, walk->at.value[i]);
	/*
	 * push %rbp; mov %rsp,%rbp; push %rbp: the second value is the address
	 * of the first.
	 */
	if (slot - sp >= POINTER_WORDS * WORD &&
	    rcore_walk_word(walk, slot - 2 * WORD, &value) && value == slot - WORD &&
	    rcore_walk_word(walk, slot - WORD, &value)) {
		rcore_register_set(&registers, machine->fp, value);
		slot -= POINTER_WORDS * WORD;
	}
	for (size_t i = 0; i < ENTRY_WORDS; i++) {
		unsigned number = compiled->saved[i];
		slot -= WORD;
		if (slot >= sp && rcore_walk_word(walk, slot, &value))
			rcore_register_set(&registers, number, value);
		else if (slot < sp && rcore_register_known(&walk->at, number))
			rcore_register_set(&registers, number, walk->at.value[number]);
	}
	walk->start = registers;
	walk->trust = RCORE_TRUST_NO_CFI;
	walk->is_exact = walk->may_jump = false;
	return true;
}
