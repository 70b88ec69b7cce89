/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_TEXT_H
#define RCORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Bytes of the target on their way to a person. A name in a core may hold
 * escape sequences that drive the terminal, or marks that reverse the order of
 * what follows; all such are made visible, in the notation of Ruby's
 * String#inspect: "\n", "\e", "\x9B" for a byte, "\u{202E}" for a character.
 * What is printable UTF-8 stays as it is.
 */

/* Equal, or both NULL. */
bool rcore_same_text(const char *a, const char *b);

/*
 * Decodes the UTF-8 sequence at the start of the NUL-terminated `text`. Gives
 * its length in bytes (1 to 4) and the character; 0 where no valid sequence
 * starts there (overlong forms, surrogates and what is past U+10FFFF are not
 * valid).
 */
size_t rcore_utf8_decode(const char *text, uint32_t *ret);

bool rcore_utf8_valid(const char *text);

/* Controls (C0, DEL, C1), bidirectional overrides, line separators, invisible
 * format characters: what must not reach a terminal as it is. */
bool rcore_unsafe_character(uint32_t character);

/* Room enough for any one escape, with the NUL. */
enum { RCORE_ESCAPE_SIZE = 16 };

/* Escapes `text` into `buffer`; cut off with "..." where `size` (at least
 * RCORE_ESCAPE_SIZE + 4) is too small. Gives `buffer`. For error messages. */
const char *rcore_escape(char *buffer, size_t size, const char *text);

/* Writes `text` escaped. Gives the number of characters written (a terminal's
 * columns, for text without wide characters). */
size_t rcore_escape_write(FILE *out, const char *text);

/* The same number, without writing. */
size_t rcore_escape_width(const char *text);

#endif
