/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ANSWERS_H
#define RCORE_IMAGE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Keeps what helpers (module_helper.h) have answered about files, for the next
 * process that has mapped the same file. Starting a helper is the slowest step
 * of finding Ruby in a process.
 *
 * Answers expire after RCORE_ANSWERS_NS, because a debug file may have been
 * installed or removed since. `now` is the time by rcore_clock_ns().
 */
#define RCORE_ANSWERS_NS (60 * UINT64_C(1000000000))

struct rcore_answers;

/* Returns NULL if memory is short. */
struct rcore_answers *rcore_answers_new(void);
void rcore_answers_free(struct rcore_answers *answers); /* NULL-safe */

/* What was asked: compared byte by byte, so it must begin with zeroes. */
struct rcore_question {
	dev_t device;
	ino_t file;
	unsigned char build_id[64];
	void (*function)(void);
	size_t size;
	char request[512];
};

/*
 * Copies the answer to `reply`, and sets *ret_size. Returns false if there is
 * none, if it has expired, or if it has more than `room` bytes.
 */
bool rcore_answers_find(const struct rcore_answers *answers,
			const struct rcore_question *question, uint64_t now, void *reply,
			size_t room, size_t *ret_size);
/*
 * Keeps an answer, unless memory is short, the question already has one, or
 * there are many. Expired answers do not count.
 */
void rcore_answers_keep(struct rcore_answers *answers, const struct rcore_question *question,
			uint64_t now, const void *reply, size_t size);

#endif
