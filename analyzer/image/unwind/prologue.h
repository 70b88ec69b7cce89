/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_PROLOGUE_H
#define RCORE_IMAGE_PROLOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The frame of a function written in assembly, without call frame information,
 * by the instructions that it has run. CRuby's coroutine_transfer() is one: it
 * saves registers, takes another stack on which the same registers lie at the
 * same places, and restores them. Registers have their DWARF numbers.
 */
struct rcore_prologue {
	uint64_t size; /* bytes from sp to the return address */
	/* Bit n: register n of the caller is on the stack. */
	uint64_t saved;
	uint64_t below[32]; /* so many bytes below the return address */
};

/* Bytes before the pc that are looked at. */
enum { RCORE_PROLOGUE_REACH = 96 };

/*
 * `code` are the `size` bytes before pc. `starts`: the first of them is known
 * to be the function's first, or pc is, if `size` is 0; otherwise the function
 * begins after a return or padding. false: there is something else than saving
 * and restoring of registers in between, or no beginning.
 */
bool rcore_prologue_x86(const uint8_t *code, size_t size, bool starts,
			struct rcore_prologue *ret);

enum { RCORE_EPILOGUE_BYTES = 32 };

/*
 * `code` are the `size` bytes from pc on. Do they restore registers, set what
 * the function returns, and return? Then `words` is how many words lie between
 * sp and the return address.
 */
bool rcore_epilogue_x86(const uint8_t *code, size_t size, size_t *words);

#endif
