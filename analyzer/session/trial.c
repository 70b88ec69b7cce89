/* SPDX-License-Identifier: MIT */
#include "session/trial.h"

size_t rcore_trial_missed(const struct rcore_trial *trial)
{
	size_t sum = 0;
	for (size_t i = 0; i < trial->count; i++)
		sum += trial->proofs[i].missed;
	return sum;
}

/* How many proofs passed of the structs that lead to each other. */
static size_t passed_together(const struct rcore_trial *trial)
{
	size_t sum = 0;
	for (size_t i = 0; i < trial->count; i++)
		sum += trial->proofs[i].passed && !trial->proofs[i].is_apart;
	return sum;
}

bool rcore_trial_is_better(const struct rcore_trial *trial, const struct rcore_trial *best)
{
	if (!best->count)
		return true;
	if (trial->location.layout.source > best->location.layout.source)
		return passed_together(trial) > passed_together(best);
	if (trial->passed != best->passed)
		return trial->passed > best->passed;
	return rcore_trial_missed(trial) < rcore_trial_missed(best);
}

bool rcore_trial_settles(const struct rcore_trial *best, const struct rcore_layout *next)
{
	return best->count && best->passed == best->count &&
	       (!rcore_trial_missed(best) || next->source != best->location.layout.source);
}
