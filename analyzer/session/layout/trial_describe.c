/* SPDX-License-Identifier: MIT */
#include "session/layout/trial.h"

#include <string.h>

#include "vm/problem.h"

static void add_unmeasured(void *context, const char *item)
{
	struct rcore_snapshot *snapshot = context;
	const char *text = rcore_arena_strdup(&snapshot->arena, item);
	if (text)
		snapshot->unmeasured[snapshot->unmeasured_count++] = text;
	else
		rcore_problem_add(snapshot, rcore_error_no_memory());
}

static void describe_unmeasured(const struct rcore_layout *layout,
				struct rcore_snapshot *snapshot)
{
	size_t count = rcore_layout_unmeasured(layout, NULL, NULL);
	if (count)
		snapshot->unmeasured = rcore_arena_alloc(&snapshot->arena,
							 count * sizeof(*snapshot->unmeasured));
	if (snapshot->unmeasured)
		rcore_layout_unmeasured(layout, add_unmeasured, snapshot);
	else if (count)
		rcore_problem_add(snapshot, rcore_error_no_memory());
}

void rcore_trial_describe(const struct rcore_trial *trial, struct rcore_snapshot *snapshot)
{
	static const char *const sources[] = {"dwarf", "exact", "approximate"};
	snapshot->vm = trial->location.vm;
	snapshot->vm_found_by = trial->method;
	snapshot->layout_name =
		rcore_arena_strdup(&snapshot->arena, trial->location.layout.name);
	snapshot->layout_source = sources[trial->location.layout.source];
	const unsigned *neighbour = trial->location.layout.neighbour;
	if (neighbour[0])
		snapshot->layout_neighbour = rcore_arena_printf(
			&snapshot->arena, "%u.%u.%u", neighbour[0], neighbour[1], neighbour[2]);
	if (trial->misfits)
		rcore_problem_add(
			snapshot,
			rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"layout %s does not fit this target (misfits: %zu), and "
				"shifting fields did not help; `rcore layout check` names them",
				trial->location.layout.name, trial->misfits));
	describe_unmeasured(&trial->location.layout, snapshot);
	memcpy(snapshot->shifts, trial->shifts, sizeof(snapshot->shifts));
	snapshot->shift_count = trial->shift_count;
	snapshot->proofs = rcore_arena_alloc(&snapshot->arena, sizeof(trial->proofs));
	if (!snapshot->proofs) {
		rcore_problem_add(snapshot, rcore_error_no_memory());
		return;
	}
	memcpy(snapshot->proofs, trial->proofs, sizeof(trial->proofs));
	snapshot->proof_count = trial->count;
	for (size_t i = 0; i < trial->count; i++)
		if (!trial->proofs[i].passed)
			rcore_problem_add(
				snapshot,
				rcore_error_create(
					RCORE_ERROR_CORRUPT,
					"layout %s does not fit this target's %s (%s)%s%s",
					snapshot->layout_name, trial->proofs[i].name,
					trial->proofs[i].text,
					trial->proofs[i].detail ? ": " : "",
					trial->proofs[i].detail ? trial->proofs[i].detail
								: ""));
}
