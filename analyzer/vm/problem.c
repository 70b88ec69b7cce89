/* SPDX-License-Identifier: MIT */
#include "vm/problem.h"

#include <string.h>

#include "vm/vm.h"

const char *rcore_problem(struct rcore_snapshot *snapshot, struct rcore_error *err)
{
	if (!err)
		return NULL;
	const char *text = rcore_arena_strdup(&snapshot->arena, err->message);
	snapshot->lacks_memory |= !text || err->code == RCORE_ERROR_NO_MEMORY;
	rcore_error_free(err);
	snapshot->incomplete = true;
	return text ? text : rcore_error_no_memory()->message;
}

/* Adds a line at the end, if there is room. */
static void keep(struct rcore_snapshot *snapshot, const char *text)
{
	if (!text || snapshot->problem_count > RCORE_PROBLEM_LIMIT)
		return;
	if (!snapshot->problems) {
		snapshot->problems = rcore_arena_alloc(
			&snapshot->arena, (RCORE_PROBLEM_LIMIT + 1) * sizeof(char *));
		if (!snapshot->problems) {
			snapshot->lacks_memory = true;
			return;
		}
	}
	if (snapshot->problem_count == RCORE_PROBLEM_LIMIT)
		text = "there are more problems, which were not kept";
	snapshot->problems[snapshot->problem_count++] = text;
}

void rcore_problem_add(struct rcore_snapshot *snapshot, struct rcore_error *err)
{
	keep(snapshot, rcore_problem(snapshot, err));
}

void rcore_problem_add_cause(struct rcore_snapshot *snapshot, struct rcore_error *err)
{
	const char *text = rcore_problem(snapshot, err);
	keep(snapshot, text);
	if (!text || !snapshot->problems)
		return;
	/* The last line may say that there are more. */
	size_t kept = snapshot->problem_count > RCORE_PROBLEM_LIMIT
			      ? RCORE_PROBLEM_LIMIT - 1
			      : snapshot->problem_count - 1;
	memmove(snapshot->problems + 1, snapshot->problems, kept * sizeof(*snapshot->problems));
	snapshot->problems[0] = text;
}

void rcore_problem_unmeasured(struct rcore_snapshot *snapshot,
			      const struct rcore_layout *layout,
			      const struct rcore_field *field)
{
	struct rcore_error *err = rcore_not_measured(layout, field);
	for (size_t i = 0; err && i < snapshot->problem_count; i++) {
		if (!strcmp(snapshot->problems[i], err->message)) {
			rcore_error_free(err);
			return;
		}
	}
	rcore_problem_add(snapshot, err);
}
