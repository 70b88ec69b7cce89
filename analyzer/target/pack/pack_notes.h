/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PACK_NOTES_H
#define RCORE_TARGET_PACK_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a pack hides of the core's notes. */
struct rcore_pack_hiding {
	/* Fills of a command line what nobody is to see. */
	void (*command)(void *context, char *text, size_t size);
	void *context;
};

/*
 * Fills in notes (of a PT_NOTE with this alignment) what may hold text of the
 * program: vector and floating point registers, through which strings are
 * copied; general registers with characters in them; parts of the command line.
 * What unwinding needs stays.
 */
void rcore_pack_notes_hide(uint8_t *notes, size_t size, size_t alignment,
			   const struct rcore_pack_hiding *hiding);

/*
 * Is a word of a stack or register text, by at least four printable characters
 * in a row? Addresses (up to 47 bits) and numbers are not.
 */
bool rcore_is_text_word(uint64_t word);

#endif
