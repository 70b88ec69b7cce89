/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/wait_text.h"
#include "report/text/text.h"
#include "report/text/process/text_context.h"
#include "report/text/process/text_works.h"
#include "report/names.h"

/*
 * The ids of threads or fibers with the same stack, and what each works on.
 * One line lists those that work on the same thing.
 */

/* How many different states are shown. */
enum { STATES = 10 };

struct state {
	char *text; /* context and work, and what is wrong with them */
	int fibers[RCORE_TEXT_IDS];
	size_t count; /* of all its fibers */
};

struct states {
	struct state items[STATES];
	size_t count;
	size_t rest; /* fibers in other states */
};

void rcore_text_ids_end(const struct rcore_text *text, size_t count, size_t shown)
{
	char number[RCORE_COUNT_SIZE];
	if (count > shown)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, " and %s more (--all shows each)",
			     rcore_count_text(count - shown, number));
	putc('\n', text->pen.out);
}

void rcore_text_similar_end(const struct rcore_text *text, size_t count)
{
	char number[RCORE_COUNT_SIZE];
	if (count > RCORE_TEXT_SIMILAR)
		fprintf(text->pen.out, " and %s more",
			rcore_count_text(count - RCORE_TEXT_SIMILAR, number));
	rcore_styled(&text->pen, RCORE_STYLE_QUIET, " (--merge=similar merges them)");
	putc('\n', text->pen.out);
}

static bool is_visible(const struct rcore_text *text, int fiber)
{
	return rcore_pick_fiber(text->snapshot, &text->pick, (size_t)fiber);
}

static bool has_states(const struct rcore_text *text, const int *fibers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_visible(text, fibers[i]) &&
		    rcore_fiber_has_state(&text->snapshot->fibers[fibers[i]]))
			return true;
	return false;
}

/* Returns NULL if memory is short. */
static char *state_text(const struct rcore_text *text, const struct rcore_fiber *fiber)
{
	char *ret = NULL;
	size_t size;
	struct rcore_pen pen = text->pen;
	pen.out = rcore_open_text(&ret, &size);
	if (!pen.out)
		return NULL;
	rcore_text_context(&pen, "  ", &fiber->context);
	rcore_text_works_inline(&pen, "  ", fiber);
	putc('\n', pen.out);
	rcore_text_context_remarks(&pen, "      ", &fiber->context);
	if (!fclose(pen.out))
		return ret;
	free(ret);
	return NULL;
}

/* Owns `words`. */
static void add(struct states *states, char *words, int fiber)
{
	size_t at = 0;
	while (at < states->count && strcmp(states->items[at].text, words) != 0)
		at++;
	if (at == STATES) {
		states->rest++;
		free(words);
		return;
	}
	struct state *state = &states->items[at];
	if (at == states->count) {
		states->count++;
		state->text = words;
	} else {
		free(words);
	}
	if (state->count < RCORE_TEXT_IDS)
		state->fibers[state->count] = fiber;
	state->count++;
}

static void print_state(const struct rcore_text *text, const struct state *state)
{
	size_t shown = state->count < RCORE_TEXT_IDS ? state->count : RCORE_TEXT_IDS;
	char number[RCORE_COUNT_SIZE];
	fputs("   ", text->pen.out);
	for (size_t i = 0; i < shown; i++)
		fprintf(text->pen.out, " %s",
			rcore_fiber_text(text->snapshot, state->fibers[i]));
	if (state->count > shown)
		rcore_styled(&text->pen, RCORE_STYLE_QUIET, " and %s more",
			     rcore_count_text(state->count - shown, number));
	fputs(state->text, text->pen.out);
}

static void print_states(struct rcore_text *text, const int *fibers, size_t count,
			 size_t visible)
{
	struct states states = {0};
	for (size_t i = 0; i < count && !text->error; i++) {
		if (!is_visible(text, fibers[i]))
			continue;
		char *words = state_text(text, &text->snapshot->fibers[fibers[i]]);
		if (words)
			add(&states, words, fibers[i]);
		else
			text->error = rcore_error_no_memory();
	}
	putc('\n', text->pen.out);
	for (size_t i = 0; i < states.count; i++) {
		print_state(text, &states.items[i]);
		free(states.items[i].text);
	}
	if (states.rest) {
		fputs("   ", text->pen.out);
		rcore_text_ids_end(text, visible, visible - states.rest);
	}
}

void rcore_text_merged(struct rcore_text *text, const int *fibers, size_t count, size_t visible)
{
	size_t shown = 0;
	putc(':', text->pen.out);
	if (has_states(text, fibers, count)) {
		print_states(text, fibers, count, visible);
		return;
	}
	for (size_t i = 0; i < count && shown < RCORE_TEXT_IDS; i++) {
		if (!is_visible(text, fibers[i]))
			continue;
		fprintf(text->pen.out, " %s", rcore_fiber_text(text->snapshot, fibers[i]));
		shown++;
	}
	rcore_text_ids_end(text, visible, shown);
}
