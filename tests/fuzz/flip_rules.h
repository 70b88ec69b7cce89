/* SPDX-License-Identifier: MIT */
#ifndef FLIP_RULES_H
#define FLIP_RULES_H

/*
 * How a report may differ, without a problem in it, after words of a core were
 * flipped.
 *
 * An analysis reads words of two kinds. Some are what it reports: a byte of a
 * name, a pc, a status. Another value there is another fact, and nothing in the
 * target contradicts it. The others lead to what it reports: pointers, lengths,
 * types, tags. If such a word does not fit any more, the report must have a
 * problem. The rules name the words of the first kind, and those of the second
 * that nothing in the target can verify. Each rule says what may differ; nothing
 * else may. No rule allows another VM, or a thread or a fiber that does not
 * exist.
 */

/* The effects (enum flip_effect) that a word of this role may have. */
unsigned flip_allowed(const char *role);

#endif
