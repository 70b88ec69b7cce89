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

void rcore_answers_free(struct rcore_answers *answers)
{
	struct answer *answer, *next;
	if (!answers)
		return;
	HASH_ITER (hh, answers->items, answer, next) {
		HASH_DEL(answers->items, answer);
		free(answer);
	}
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
			const struct rcore_question *question, void *reply, size_t room,
			size_t *ret_size)
{
	const struct answer *answer = find(answers, question);
	if (!answer || answer->size > room)
		return false;
	memcpy(reply, answer->reply, answer->size);
	*ret_size = answer->size;
	return true;
}

void rcore_answers_keep(struct rcore_answers *answers, const struct rcore_question *question,
			const void *reply, size_t size)
{
	if (HASH_COUNT(answers->items) >= ANSWERS_MAX || find(answers, question))
		return;
	struct answer *answer = calloc(1, sizeof(*answer) + size);
	if (!answer)
		return;
	answer->question = *question;
	answer->size = size;
	memcpy(answer->reply, reply, size);
	HASH_ADD_KEYPTR(hh, answers->items, &answer->question, key_size(question), answer);
	if (answer->lost)
		free(answer);
}
