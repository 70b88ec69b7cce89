/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PROLOGUE_H
#define RCORE_IMAGE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The frame of an assembly function without call frame information, found by
 * the instructions that it has executed. CRuby's coroutine_transfer() is one:
 * it saves registers, switches to another stack that has the same registers in
 * the same places, and restores them. Registers have their DWARF numbers.
 */
struct rcore_prologue {
	uint64_t size; /* bytes from sp to the return address */
	/* Bit n: register n of the caller is on the stack. */
	uint64_t saved;
	uint64_t below[32]; /* that many bytes below the return address */
};

/* How many bytes before the pc are read. */
enum { RCORE_PROLOGUE_REACH = 96 };

/*
 * `code` is the `size` bytes before pc. If `starts`, the first of them is known
 * to be the function's first; if `size` is 0, pc is. Otherwise the function
 * begins after a return or padding. Returns false if there is no beginning, or
 * if there are other instructions than those that save and restore registers.
 */
bool rcore_prologue_x86(const uint8_t *code, size_t size, bool starts,
			struct rcore_prologue *ret);

enum { RCORE_EPILOGUE_BYTES = 32 };

/*
 * `code` is the `size` bytes from pc on. Returns whether they restore
 * registers, set the return value, and return. *words is then the number of
 * words between sp and the return address.
 */
bool rcore_epilogue_x86(const uint8_t *code, size_t size, size_t *words);

enum { RCORE_RECORD_BEFORE = 10 };

/*
 * Returns whether code that ZJIT compiled has not set its frame pointer yet, or
 * has restored its caller's. Reads RCORE_RECORD_BEFORE bytes before `pc` and
 * `size` bytes from it on. *words is then the number of words between sp and
 * the return address; the first of them, if any, is the caller's frame pointer.
 */
bool rcore_unset_record_x86(const uint8_t *pc, size_t size, size_t *words);

#endif
