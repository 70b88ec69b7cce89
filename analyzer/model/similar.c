/* SPDX-License-Identifier: MIT */
#include "model/similar.h"

#include <string.h>

#include "base/text.h"
#include "model/locals_same.h"

/* A recursion through more methods than this is not recognized. */
enum { PERIOD_LIMIT = 16 };

/* Visits the frames of a stack, and of a recursion only the first round. */
struct walk {
	const struct rcore_fiber *fiber;
	size_t place;
	size_t at, round_end; /* the round that is being visited */
	size_t next;          /* after its repetitions */
};

size_t rcore_stack_place(const struct rcore_fiber *fiber)
{
	size_t i = 0;
	while (i < fiber->frame_count &&
	       (!fiber->frames[i].path || !strncmp(fiber->frames[i].path, "<internal:", 10)))
		i++;
	return i;
}

static bool same_frames(const struct rcore_fiber *fiber, size_t a, size_t b, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!rcore_frame_same(&fiber->frames[a + i], &fiber->frames[b + i]))
			return false;
	return true;
}

/* Returns where the repetitions end, and sets the length of one round. */
static size_t end_of_recursion(const struct rcore_fiber *fiber, size_t at, size_t *period)
{
	for (size_t length = 1; length <= PERIOD_LIMIT; length++) {
		size_t end = at + length;
		while (end + length <= fiber->frame_count &&
		       same_frames(fiber, at, end, length))
			end += length;
		if (end > at + length) {
			*period = length;
			return end;
		}
	}
	*period = 1;
	return at + 1;
}

static struct walk walk_of(const struct rcore_fiber *fiber)
{
	return (struct walk){.fiber = fiber, .place = rcore_stack_place(fiber)};
}

static bool advance(struct walk *walk, size_t *ret)
{
	if (walk->at == walk->round_end) {
		size_t period = 1;
		if (walk->next >= walk->fiber->frame_count)
			return false;
		walk->at = walk->next;
		walk->next = walk->at <= walk->place
				     ? walk->at + 1
				     : end_of_recursion(walk->fiber, walk->at, &period);
		walk->round_end = walk->at + period;
	}
	*ret = walk->at++;
	return true;
}

/* Everything but the line. */
static bool same_method(const struct rcore_frame *a, const struct rcore_frame *b)
{
	return a->kind == b->kind && rcore_same_text(a->label, b->label) &&
	       rcore_same_text(a->path, b->path) && rcore_same_text(a->problem, b->problem) &&
	       rcore_frame_values_same(a->values, b->values);
}

bool rcore_stack_similar(const struct rcore_fiber *a, const struct rcore_fiber *b)
{
	struct walk one = walk_of(a), other = walk_of(b);
	size_t i, j;
	for (;;) {
		bool more = advance(&one, &i);
		if (more != advance(&other, &j))
			return false;
		if (!more)
			return true;
		const struct rcore_frame *left = &a->frames[i], *right = &b->frames[j];
		if (!same_method(left, right) || (i != one.place && left->line != right->line))
			return false;
	}
}

uint64_t rcore_stack_similar_hash(const struct rcore_fiber *fiber)
{
	struct walk walk = walk_of(fiber);
	uint64_t hash = 0;
	size_t i;
	while (advance(&walk, &i)) {
		const struct rcore_frame *frame = &fiber->frames[i];
		int line = i == walk.place ? 0 : frame->line;
		hash = rcore_frame_hash(frame, line, hash);
	}
	return hash;
}
