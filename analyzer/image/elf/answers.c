/* SPDX-License-Identifier: MIT */
#include "image/elf/answers.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(node) ((node)->lost = true)
#include <uthash.h>

enum { ANSWERS_MAX = 4096 };

struct answer {
	struct rcore_question question;
	bool lost;
	UT_hash_handle hh;
	uint64_t kept; /* the time of rcore_answers_keep() */
	size_t size;
	char reply[];
};

struct rcore_answers {
	struct answer *items;
};

struct rcore_answers *rcore_answers_new(void)
{
	return calloc(1, sizeof(struct rcore_answers));
}

static bool is_old(const struct answer *answer, uint64_t now)
{
	return now - answer->kept >= RCORE_ANSWERS_NS;
}

/* Removes all answers, or only the old ones. */
static void drop(struct rcore_answers *answers, bool all, uint64_t now)
{
	for (struct answer *answer = answers->items, *next; answer; answer = next) {
		next = answer->hh.next;
		if (!all && !is_old(answer, now))
			continue;
		HASH_DEL(answers->items, answer);
		free(answer);
	}
}

void rcore_answers_free(struct rcore_answers *answers)
{
	if (!answers)
		return;
	drop(answers, true, 0);
	free(answers);
}

static size_t key_size(const struct rcore_question *question)
{
	return offsetof(struct rcore_question, request) + question->size;
}

static struct answer *find(const struct rcore_answers *answers,
			   const struct rcore_question *question)
{
	struct answer *answer;
	HASH_FIND(hh, answers->items, question, key_size(question), answer);
	return answer;
}

bool rcore_answers_find(const struct rcore_answers *answers,
			const struct rcore_question *question, uint64_t now, void *reply,
			size_t room, size_t *ret_size)
{
	const struct answer *answer = find(answers, question);
	if (!answer || is_old(answer, now) || answer->size > room)
		return false;
	memcpy(reply, answer->reply, answer->size);
	*ret_size = answer->size;
	return true;
}

void rcore_answers_keep(struct rcore_answers *answers, const struct rcore_question *question,
			uint64_t now, const void *reply, size_t size)
{
	const struct answer *known = find(answers, question);
	if ((known && is_old(known, now)) || HASH_COUNT(answers->items) >= ANSWERS_MAX) {
		drop(answers, false, now);
		known = find(answers, question);
	}
	if (known || HASH_COUNT(answers->items) >= ANSWERS_MAX)
		return;
	struct answer *answer = calloc(1, sizeof(*answer) + size);
	if (!answer)
		return;
	answer->question = *question;
	answer->kept = now;
	answer->size = size;
	memcpy(answer->reply, reply, size);
	HASH_ADD_KEYPTR(hh, answers->items, &answer->question, key_size(question), answer);
	if (answer->lost)
		free(answer);
}
