/* SPDX-License-Identifier: MIT */
#include "session/layout/locate.h"

#include <stdlib.h>
#include <string.h>

#include "session/layout/fit.h"
#include "vm/find/find.h"

/*
 * Alpine's C library: its condition variables have another size, so no table
 * has its thread structs.
 */
static bool has_musl(const struct rcore_search *search)
{
	for (size_t i = 0; i < rcore_modules_count(search->target->modules); i++)
		if (strstr(rcore_modules_get(search->target->modules, i)->path, "/ld-musl-"))
			return true;
	return false;
}

static struct rcore_error *ending(const struct rcore_search *search)
{
	const unsigned *version = search->identity->version;
	return rcore_error_create(RCORE_ERROR_CORRUPT,
				  "Ruby %u.%u.%u was ending: it had no threads left and was "
				  "freeing its VM, so there are no stacks",
				  version[0], version[1], version[2]);
}

/*
 * Returns why no VM can be found. If the pointer to the VM has a symbol, its
 * value is part of the reason.
 */
static struct rcore_error *no_vm(const struct rcore_search *search,
				 const struct rcore_layouts *layouts)
{
	const unsigned *version = search->identity->version;
	struct rcore_symbol symbol;
	uint64_t vm;
	if (rcore_module_symbol(search->target->modules, search->identity->module,
				"ruby_current_vm_ptr", &symbol)) {
		enum rcore_fault fault =
			rcore_read_u64(search->target->memory, symbol.address, &vm);
		if (fault)
			return rcore_fault_error(fault, "ruby_current_vm_ptr", symbol.address,
						 sizeof(vm));
		if (!vm)
			return rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"Ruby %u.%u.%u had no VM (ruby_current_vm_ptr is NULL): it was "
				"starting or ending",
				version[0], version[1], version[2]);
		if (rcore_vm_is_freed(search->target->memory, layouts->items, vm))
			return ending(search);
	}
	if (search->layout_file) {
		const unsigned *own = layouts->items[0].version;
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"no VM found in %s with --layout %s, a table of Ruby %u.%u.%u (the "
			"target is Ruby %u.%u.%u); omit --layout to use rcore's own tables",
			search->identity->module->path, search->layout_file, own[0], own[1],
			own[2], version[0], version[1], version[2]);
	}
	if (has_musl(search))
		return rcore_error_create(
			RCORE_ERROR_NO_LAYOUT,
			"no layout for Ruby %u.%u.%u on musl (Alpine): print a table from a "
			"build of it that has debug information ('rcore layout FILE > "
			"my.layout') and pass --layout my.layout",
			version[0], version[1], version[2]);
	return rcore_error_create(
		RCORE_ERROR_CORRUPT,
		"no VM found in %s with any of %zu layouts of Ruby %u.%u: Ruby was starting or "
		"ending, its memory is corrupt or truncated, or its build is "
		"unusual; for an unusual build, run `rcore layout FILE > my.layout` on its "
		"libruby with debug information and pass --layout my.layout",
		search->identity->module->path, layouts->count, version[0], version[1]);
}

/*
 * Choosing takes tens of milliseconds if there is no table for this very
 * release. So a running process is stopped only to check that the previous
 * choice still holds, and a second question about a core is answered at once.
 * If a proof fails that passed before, the search starts again.
 */
static bool still_holds(const struct rcore_search *search, struct rcore_trial *now)
{
	const struct rcore_trial *chosen = search->choice->trial;
	if (!chosen)
		return false;
	*now = *chosen;
	if (search->is_proved)
		return true;
	search->choice->is_fresh = false;
	if (!rcore_vm_prove(search->target->memory, &now->location.layout, now->location.vm))
		return false;
	rcore_trial_prove(search, now);
	now->misfits = rcore_trial_misfits(search, now);
	search->choice->is_fresh = now->passed == now->count &&
				   rcore_trial_missed(now) <= rcore_trial_missed(chosen) &&
				   now->misfits <= chosen->misfits;
	return search->choice->is_fresh;
}

static void choose(const struct rcore_search *search, const struct rcore_layouts *layouts,
		   struct rcore_trial *best, struct rcore_trial *now)
{
	for (size_t i = 0; i < layouts->count && !rcore_trial_settles(best, &layouts->items[i]);
	     i++) {
		*now = (struct rcore_trial){.location.layout = layouts->items[i]};
		if (rcore_trial_run(search, now) && rcore_trial_is_better(now, best))
			*best = *now;
	}
	rcore_trial_fit(search, layouts, best, now);
}

/* Keeps a choice only if all its proofs hold. */
static struct rcore_error *keep(const struct rcore_search *search, struct rcore_trial *trial)
{
	if (trial->passed < trial->count)
		return NULL;
	trial->misfits = rcore_trial_misfits(search, trial);
	if (search->choice->lacks_memory)
		return rcore_error_no_memory();
	/*
	 * Fields that were shifted to fit one moment of a running process may
	 * not fit another one.
	 */
	if (search->target->live && trial->shift_count)
		return NULL;
	if (!search->choice->trial)
		search->choice->trial = malloc(sizeof(*search->choice->trial));
	if (!search->choice->trial)
		return rcore_error_no_memory();
	*search->choice->trial = *trial;
	search->choice->is_fresh = true;
	return NULL;
}

struct rcore_error *rcore_session_locate(const struct rcore_search *search,
					 struct rcore_trial *ret)
{
	struct rcore_layouts layouts = {0};
	search->choice->lacks_memory = false;
	if (still_holds(search, ret))
		return NULL;
	*ret = (struct rcore_trial){0};
	struct rcore_trial *now = calloc(1, sizeof(*now));
	struct rcore_error *err = now ? rcore_session_layouts(search->target, search->identity,
							      search->layout_file, &layouts)
				      : rcore_error_no_memory();
	if (!err) {
		choose(search, &layouts, ret, now);
		/* Another layout may fit. */
		if (search->choice->lacks_memory)
			err = rcore_error_no_memory();
		else if (!ret->count)
			err = no_vm(search, &layouts);
		else if (rcore_vm_is_freed(search->target->memory, layouts.items,
					   ret->location.vm))
			err = ending(search);
		else
			err = keep(search, ret);
	}
	free(now);
	free(layouts.items);
	return err;
}
