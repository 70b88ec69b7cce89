/* SPDX-License-Identifier: MIT */
#ifndef FLIP_RULES_H
#define FLIP_RULES_H

/*
 * What may differ without a mark once words of a core were flipped.
 *
 * All words that an analysis reads are of two sorts. Some are what it tells: a byte of a name, a
 * pc, a status. Another value there is another fact, and nothing in the target says otherwise.
 * The others lead to what it tells: pointers, lengths, types, tags. Where such a word no longer fits,
 * that must show as a problem. A rule names the first sort, and those of the second for which the target
 * holds nothing to prove them by; it says what may follow from each, and nothing else may. No
 * rule at all allows another VM, or a thread or a fiber that is not there.
 */

/* The effects (enum flip_effect) that a word of this role may have. */
unsigned flip_allowed(const char *role);

#endif
