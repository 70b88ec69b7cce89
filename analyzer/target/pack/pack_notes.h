/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PACK_NOTES_H
#define RCORE_TARGET_PACK_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a pack hides parts of the core's notes. */
struct rcore_pack_hiding {
	/* Hides the secret parts of a command line. */
	void (*command)(void *context, char *text, size_t size);
	void *context;
};

/*
 * Hides in notes (of a PT_NOTE with this alignment) what may be text of the
 * program: vector and floating point registers, through which strings are
 * copied; general registers with characters in them; parts of the command line.
 * Keeps what unwinding needs.
 */
void rcore_pack_notes_hide(uint8_t *notes, size_t size, size_t alignment,
			   const struct rcore_pack_hiding *hiding);

/*
 * Whether a word of a stack or register is text: it has more bits than an
 * address (47), and at least four consecutive printable characters.
 */
bool rcore_is_text_word(uint64_t word);

/*
 * Returns which bytes of such a word may be text: all of at least four that
 * have no zero between them, as text need not be ASCII. Bit n stands for byte n
 * of a little-endian word. A small int of a struct may share its word with text
 * that an earlier function left in the padding. Returns 0 for any other word.
 */
unsigned rcore_text_bytes(uint64_t word);

#endif
