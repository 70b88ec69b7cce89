/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_TEXT_H
#define RCORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Makes bytes of the target safe to print. A name in a core may contain escape
 * sequences that control the terminal, or characters that reverse the order of
 * what follows. All of these are printed in the notation of Ruby's
 * String#inspect: "\n", "\e", "\x9B" for a byte, "\u{202E}" for a character.
 * Printable UTF-8 does not change.
 */

/* Returns whether both texts are equal, or both NULL. */
bool rcore_same_text(const char *a, const char *b);

/* Returns whether `text` ends with `ending` and is longer. */
bool rcore_ends_with(const char *text, const char *ending);

/* Returns the last part of a path: what follows the last slash. */
const char *rcore_base_name(const char *path);

/*
 * Decodes the UTF-8 sequence at the start of the NUL-terminated `text`. Returns
 * its length in bytes (1 to 4) and sets *ret to the character. Returns 0 if no
 * valid sequence starts there; overlong forms, surrogates and characters past
 * U+10FFFF are not valid.
 */
size_t rcore_utf8_decode(const char *text, uint32_t *ret);

bool rcore_utf8_valid(const char *text);

/*
 * Returns the largest length, at most `most` bytes, to which a text can be cut
 * without splitting a character.
 */
size_t rcore_utf8_cut(const char *text, size_t most);

/*
 * Removes an incomplete character from the end of a text: the kernel and
 * programs cut names at any byte.
 */
void rcore_utf8_trim(char *text);

/*
 * Formats like snprintf(), and returns `buffer`. If the text does not fit, cuts
 * it between two characters and ends it with "...".
 */
const char *rcore_format(char *buffer, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * width.c: returns how many columns a printable character takes on a terminal:
 * 0 for one that combines with the character before it, 2 for a wide one.
 */
unsigned rcore_character_width(uint32_t character);

/*
 * Returns whether a character must be escaped before it reaches a terminal:
 * controls (C0, DEL, C1), bidirectional overrides, line separators and
 * invisible format characters.
 */
bool rcore_unsafe_character(uint32_t character);

/* Bytes that one escape needs at most, with the NUL. */
enum { RCORE_ESCAPE_SIZE = 16 };

/*
 * Escapes `text` into `buffer` and returns `buffer`. If `size` (at least
 * RCORE_ESCAPE_SIZE + 4) is too small, the text is truncated and ends with
 * "...". For error messages.
 */
const char *rcore_escape(char *buffer, size_t size, const char *text);

/*
 * Returns a stream that writes to memory, as open_memstream() does. fclose()
 * or fflush() sets *text and *size; *text must be free()d. If memory is short
 * while text is written, fclose() returns EOF and leaves *text NULL; glibc's
 * open_memstream() leaves out text and reports success. The stream cannot seek
 * or tell. Returns NULL if memory is short.
 */
FILE *rcore_open_text(char **text, size_t *size);

/*
 * Escapes the first character of `text` into `piece`; returns how many bytes it
 * has in `text`. `start` is the first character of the whole text that is no
 * blank. For text that is escaped once more: it needs no memory.
 */
size_t rcore_escape_next(const char *start, const char *text, char piece[RCORE_ESCAPE_SIZE]);

/* Writes `text` escaped. Returns how many columns it takes. */
size_t rcore_escape_write(FILE *out, const char *text);

/* Returns the same number without writing. */
size_t rcore_escape_width(const char *text);

/*
 * Writes `text` as one word for a shell, quoted if necessary: 'a b', or
 * $'a\x0A' (of bash and zsh) if it has characters that must be escaped.
 */
void rcore_shell_write(FILE *out, const char *text);

/*
 * Returns the ending of a noun after a number: "s", or "" after 1.
 */
static inline const char *rcore_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Returns "is" after 1, otherwise "are". */
static inline const char *rcore_are(uint64_t count)
{
	return count == 1 ? "is" : "are";
}

#endif
