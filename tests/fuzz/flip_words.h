/* SPDX-License-Identifier: MIT */
#ifndef FLIP_WORDS_H
#define FLIP_WORDS_H

#include "flip_memory.h"

/* A word that an analysis read, and what for:
 *   "cfp.pc"               a field of a struct
 *   "String bytes"         within an object of that type, and no field
 *   "thread.nt -> +8"      so many bytes after what a field points to (+128: or more)
 *   "bulk"                 in a block that was read to be searched
 * A word may have several roles. */
struct flip_word {
	uint64_t address;
	const char *role;
};

struct flip_words {
	struct flip_word *items;
	size_t count, capacity;
	struct {
		uint64_t *items;
		size_t count, capacity;
	} addresses; /* of all that was read, in order, some several times */
};

/* The words of a record, each pair once, by role and address; malloc'ed. */
void flip_words_init(struct flip_words *words, struct flip_record *record);
/* Whether the analysis read the word at this multiple of 8. */
bool flip_words_were_read(const struct flip_words *words, uint64_t address);
void flip_words_deinit(struct flip_words *words);

#endif
