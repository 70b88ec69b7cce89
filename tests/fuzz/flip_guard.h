/* SPDX-License-Identifier: MIT */
#ifndef FLIP_GUARD_H
#define FLIP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Limits for one seed: time (an alarm ends the process) and, in a build with
 * AddressSanitizer, memory. Whatever ends the process, the seed is printed.
 */
enum {
	FLIP_SECONDS = 60,              /* a seed takes milliseconds; the machine may be busy */
	FLIP_MEMORY_LIMIT = 256u << 20, /* bytes held at once */
};

/*
 * `command` is how to run one seed again, without the seed; it must stay valid.
 */
void flip_guard_init(const char *command);
void flip_guard_begin(uint64_t seed);

/*
 * Returns what was exceeded since then, or NULL: too much memory at the peak,
 * or some that was not freed.
 */
const char *flip_guard_end(void);

/*
 * Checks that the text is fit for a terminal, and the other one is JSON.
 * Returns what is wrong, or NULL.
 */
const char *flip_check_text(const char *text);
const char *flip_check_json(const char *text);

#endif
