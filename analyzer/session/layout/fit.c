/* SPDX-License-Identifier: MIT */
#include "session/layout/fit.h"

#include "proof/shift.h"

/* The layouts to shift: those of the nearest releases, in all their builds. */
enum { FITTED_LAYOUTS = 4 };

/*
 * Shifts the fields of structs that do not fit. Returns false if it shifted
 * none, or if that makes too few additional checks pass.
 */
static bool shift(const struct rcore_search *search, struct rcore_trial *trial)
{
	/*
	 * A table of this very release is wrong only for an unusual build; a
	 * corrupt thread is more likely.
	 */
	enum { ENOUGH = 3 };
	struct rcore_layout *layout = &trial->location.layout;
	bool is_exact = layout->source == RCORE_LAYOUT_EXACT;
	struct rcore_ruby ruby;
	int held = 0;

	rcore_trial_reader(search, trial, &ruby);
	trial->shift_count = rcore_shift_fields(&ruby, search->target->process,
						trial->location.vm, layout, trial->shifts);
	rcore_trial_end_reader(search, &ruby);
	layout->source = RCORE_LAYOUT_APPROXIMATE;
	for (size_t i = 0; i < trial->shift_count; i++)
		held += trial->shifts[i].held;
	return held >= (is_exact ? ENOUGH : 1);
}

/*
 * Shifts the objspace of an exact layout if everything else fits. The layout is
 * still exact.
 */
static bool try_to_fit_objspace(const struct rcore_search *search, struct rcore_trial *trial)
{
	struct rcore_layout *layout = &trial->location.layout;
	struct rcore_ruby ruby;
	rcore_trial_reader(search, trial, &ruby);
	bool fits = rcore_shift_objspace(&ruby, search->target->process, trial->location.vm,
					 layout, &trial->shifts[0]);
	rcore_trial_end_reader(search, &ruby);
	if (!fits)
		return false;
	trial->shift_count = 1;
	rcore_trial_prove(search, trial);
	return true;
}

/*
 * Patch releases have moved the ractor's main thread. Finds the VM without it,
 * then shifts.
 */
static bool try_to_fit(const struct rcore_search *search, struct rcore_trial *trial)
{
	struct rcore_field threads_main = trial->location.layout.ractor.threads_main;
	trial->location.layout.ractor.threads_main.offset = -1;
	bool found = rcore_trial_find_vm(search, trial);
	trial->location.layout.ractor.threads_main = threads_main;
	if (!found || !shift(search, trial))
		return false;
	rcore_trial_prove(search, trial);
	return true;
}

void rcore_trial_fit(const struct rcore_search *search, const struct rcore_layouts *layouts,
		     struct rcore_trial *best, struct rcore_trial *now)
{
	bool is_whole = best->count && best->passed == best->count;
	if (is_whole && best->location.layout.source == RCORE_LAYOUT_APPROXIMATE) {
		*now = (struct rcore_trial){.location.layout = best->location.layout};
		if (try_to_fit(search, now) && now->passed >= best->passed)
			*best = *now;
		return;
	}
	if (!is_whole && best->count && best->location.layout.source == RCORE_LAYOUT_EXACT) {
		*now = *best;
		if (try_to_fit_objspace(search, now) && now->passed > best->passed)
			*best = *now;
		is_whole = best->passed == best->count;
	}
	for (size_t i = 0; !is_whole && i < layouts->count && i < FITTED_LAYOUTS; i++) {
		if (layouts->items[i].source == RCORE_LAYOUT_DWARF || search->layout_file)
			continue;
		*now = (struct rcore_trial){.location.layout = layouts->items[i]};
		if (try_to_fit(search, now) && rcore_trial_is_better(now, best))
			*best = *now;
	}
}
