/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ruby/symbol/id.h"
#include "session/session.h"
#include "session/trial.h"
#include "vm/find/find.h"
#include "vm/problem.h"
#include "proof/shift.h"

/* Nearest releases of which a layout is tried to be made to fit, in their builds. */
enum { FITTED_LAYOUTS = 4 };

static bool find_vm(struct rcore_session *session, const struct rcore_identity *identity,
		    struct rcore_trial *trial)
{
	static const char pointer[] = "ruby_current_vm_ptr";
	const struct rcore_layout *layout = &trial->location.layout;
	struct rcore_symbol symbol;
	uint64_t variable, start, end;

	if (rcore_module_symbol(session->modules, identity->module, pointer, &symbol) &&
	    rcore_vm_at(session->memory, layout, symbol.address, &trial->location.vm)) {
		trial->rung = RCORE_RUNG_SYMBOL;
		return true;
	}
	if (rcore_module_dwarf_variable(session->modules, identity->module, pointer,
					&variable) &&
	    rcore_vm_at(session->memory, layout, variable, &trial->location.vm)) {
		trial->rung = RCORE_RUNG_DWARF;
		return true;
	}
	for (size_t i = 0;
	     rcore_module_writable(session->modules, identity->module, i, &start, &end); i++) {
		if (rcore_vm_search(session->memory, layout, start, end, &trial->location.vm)) {
			trial->rung = RCORE_RUNG_SEARCH;
			return true;
		}
	}
	return false;
}

static void find_symbols(struct rcore_session *session, const struct rcore_identity *identity,
			 struct rcore_ruby *ruby)
{
	/* Its name up to 2.6, and since. */
	static const char *const names[] = {"ruby_global_symbols", "global_symbols"};
	const struct rcore_trial *chosen = session->choice->trial;
	struct rcore_symbol symbol;
	uint64_t start, end;
	if (chosen && chosen->location.global_symbols &&
	    rcore_symbols_prove(ruby, chosen->location.global_symbols)) {
		ruby->global_symbols = chosen->location.global_symbols;
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (rcore_module_symbol(session->modules, identity->module, names[i],
					&symbol) &&
		    rcore_symbols_prove(ruby, symbol.address)) {
			ruby->global_symbols = symbol.address;
			return;
		}
	}
	for (size_t i = 0;
	     rcore_module_writable(session->modules, identity->module, i, &start, &end); i++)
		if (rcore_symbols_search(ruby, start, end))
			return;
}

static void prove(struct rcore_session *session, const struct rcore_identity *identity,
		  struct rcore_snapshot *snapshot, struct rcore_trial *trial)
{
	struct rcore_ruby ruby;
	rcore_ruby_init(&ruby, session->memory, &trial->location.layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, trial->location.vm);
	ruby.recorder = session->recorder;
	find_symbols(session, identity, &ruby);
	trial->location.global_symbols = ruby.global_symbols;
	trial->passed = rcore_prove(&ruby, trial->location.vm, trial->proofs, &trial->count);
	rcore_ruby_deinit(&ruby);
}

static bool try(struct rcore_session *session, const struct rcore_identity *identity,
		struct rcore_snapshot *snapshot, struct rcore_trial *trial)
{
	if (!find_vm(session, identity, trial))
		return false;
	prove(session, identity, snapshot, trial);
	return true;
}

/* Fields of the structs of an approximate layout that do not fit, nor could be made to. */
static size_t misfits(struct rcore_session *session, struct rcore_snapshot *snapshot,
		      struct rcore_trial *trial)
{
	struct rcore_layout *layout = &trial->location.layout;
	struct rcore_ruby ruby;
	if (layout->source != RCORE_LAYOUT_APPROXIMATE)
		return 0;
	rcore_ruby_init(&ruby, session->memory, layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, trial->location.vm);
	ruby.recorder = session->recorder;
	size_t count = rcore_shift_misfits(&ruby, session->process, trial->location.vm, layout);
	rcore_ruby_deinit(&ruby);
	return count;
}

/* Moves the structs of a layout that do not fit; false: none moved, or too little speaks for it. */
static bool shift(struct rcore_session *session, struct rcore_snapshot *snapshot,
		  struct rcore_trial *trial)
{
	/* A table of the very release is wrong in an unusual build alone: a corrupt thread is likelier. */
	enum { ENOUGH = 3 };
	struct rcore_layout *layout = &trial->location.layout;
	bool is_exact = layout->source == RCORE_LAYOUT_EXACT;
	struct rcore_ruby ruby;
	int held = 0;

	rcore_ruby_init(&ruby, session->memory, layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, trial->location.vm);
	ruby.recorder = session->recorder;
	trial->shift_count = rcore_shift_fields(&ruby, session->process, trial->location.vm,
						layout, trial->shifts);
	rcore_ruby_deinit(&ruby);
	layout->source = RCORE_LAYOUT_APPROXIMATE;
	for (size_t i = 0; i < trial->shift_count; i++)
		held += trial->shifts[i].held;
	return held >= (is_exact ? ENOUGH : 1);
}

/* Makes the objspace of an exact layout fit, of which all else holds; it is no less exact for that. */
static bool try_to_fit_objspace(struct rcore_session *session,
				const struct rcore_identity *identity,
				struct rcore_snapshot *snapshot, struct rcore_trial *trial)
{
	struct rcore_layout *layout = &trial->location.layout;
	struct rcore_ruby ruby;
	rcore_ruby_init(&ruby, session->memory, layout, &snapshot->arena);
	rcore_ruby_set_vm(&ruby, trial->location.vm);
	ruby.recorder = session->recorder;
	bool fits = rcore_shift_objspace(&ruby, session->process, trial->location.vm, layout,
					 &trial->shifts[0]);
	rcore_ruby_deinit(&ruby);
	if (!fits)
		return false;
	trial->shift_count = 1;
	prove(session, identity, snapshot, trial);
	return true;
}

/* A layout that finds the VM but for the ractor, which patch releases have moved, may be made to fit. */
static bool try_to_fit(struct rcore_session *session, const struct rcore_identity *identity,
		       struct rcore_snapshot *snapshot, struct rcore_trial *trial)
{
	struct rcore_field threads_main = trial->location.layout.ractor.threads_main;
	trial->location.layout.ractor.threads_main.offset = -1;
	bool found = find_vm(session, identity, trial);
	trial->location.layout.ractor.threads_main = threads_main;
	if (!found || !shift(session, snapshot, trial))
		return false;
	prove(session, identity, snapshot, trial);
	return true;
}

/* Makes a layout fit: the nearest release's where it holds but for some fields, else the first of a few
 * with which more holds. */
static void fit(struct rcore_session *session, const struct rcore_identity *identity,
		struct rcore_snapshot *snapshot, const struct rcore_layouts *layouts,
		struct rcore_trial *best, struct rcore_trial *now)
{
	bool is_whole = best->count && best->passed == best->count;
	if (is_whole && best->location.layout.source == RCORE_LAYOUT_APPROXIMATE) {
		*now = (struct rcore_trial){.location.layout = best->location.layout};
		if (try_to_fit(session, identity, snapshot, now) && now->passed >= best->passed)
			*best = *now;
		return;
	}
	if (!is_whole && best->count && best->location.layout.source == RCORE_LAYOUT_EXACT) {
		*now = *best;
		if (try_to_fit_objspace(session, identity, snapshot, now) &&
		    now->passed > best->passed)
			*best = *now;
		is_whole = best->passed == best->count;
	}
	for (size_t i = 0; !is_whole && i < layouts->count && i < FITTED_LAYOUTS; i++) {
		if (layouts->items[i].source == RCORE_LAYOUT_DWARF || session->layout_file)
			continue;
		*now = (struct rcore_trial){.location.layout = layouts->items[i]};
		if (try_to_fit(session, identity, snapshot, now) &&
		    rcore_trial_is_better(now, best))
			*best = *now;
	}
}

/* Alpine's C library: its condition variables make other thread structs than any table has. */
static bool has_musl(struct rcore_session *session)
{
	for (size_t i = 0; i < rcore_modules_count(session->modules); i++)
		if (strstr(rcore_modules_get(session->modules, i)->path, "/ld-musl-"))
			return true;
	return false;
}

/* Why no VM can be found: where the pointer has a symbol, its value says. */
static struct rcore_error *no_vm(struct rcore_session *session,
				 const struct rcore_identity *identity,
				 const struct rcore_layouts *layouts)
{
	const unsigned *version = identity->version;
	struct rcore_symbol symbol;
	uint64_t vm;
	if (rcore_module_symbol(session->modules, identity->module, "ruby_current_vm_ptr",
				&symbol)) {
		enum rcore_fault fault = rcore_read_u64(session->memory, symbol.address, &vm);
		if (fault)
			return rcore_fault_error(fault, "ruby_current_vm_ptr", symbol.address,
						 sizeof(vm));
		if (!vm)
			return rcore_error_create(
				RCORE_ERROR_CORRUPT,
				"Ruby %u.%u.%u had not made its VM yet (ruby_current_vm_ptr is "
				"NULL): the process died while it was starting",
				version[0], version[1], version[2]);
	}
	if (session->layout_file) {
		const unsigned *own = layouts->items[0].version;
		return rcore_error_create(
			RCORE_ERROR_CORRUPT,
			"no VM found in %s with --layout %s: that is a table of Ruby "
			"%u.%u.%u, the "
			"target is Ruby %u.%u.%u; without --layout rcore takes its own tables",
			identity->module->path, session->layout_file, own[0], own[1], own[2],
			version[0], version[1], version[2]);
	}
	if (has_musl(session))
		return rcore_error_create(
			RCORE_ERROR_NO_LAYOUT,
			"no layout for Ruby %u.%u.%u on musl (Alpine): print a table from a "
			"build of it that has debug information ('rcore layout FILE > "
			"my.layout') and pass --layout my.layout",
			version[0], version[1], version[2]);
	return rcore_error_create(
		RCORE_ERROR_CORRUPT,
		"no VM found in %s with any of %zu layouts of Ruby %u.%u: the process died "
		"while "
		"it was starting, its memory is corrupt or cut off, or the build is unusual; "
		"`rcore layout FILE > my.layout` on its libruby with debug information and "
		"--layout my.layout help with the last",
		identity->module->path, layouts->count, version[0], version[1]);
}

static void add_unmeasured(void *context, const char *item)
{
	struct rcore_snapshot *snapshot = context;
	const char *text = rcore_arena_strdup(&snapshot->arena, item);
	if (text)
		snapshot->unmeasured[snapshot->unmeasured_count++] = text;
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
}

static void describe(const struct rcore_trial *trial, struct rcore_snapshot *snapshot)
{
	static const char *const sources[] = {"dwarf", "exact", "approximate"};
	snapshot->vm = trial->location.vm;
	snapshot->vm_rung = trial->rung;
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
			rcore_error_create(RCORE_ERROR_CORRUPT,
					   "%zu fields of layout %s do not hold for this "
					   "target, nor could they be made to; `rcore "
					   "layout check` names them",
					   trial->misfits, trial->location.layout.name));
	describe_unmeasured(&trial->location.layout, snapshot);
	memcpy(snapshot->shifts, trial->shifts, sizeof(snapshot->shifts));
	snapshot->shift_count = trial->shift_count;
	snapshot->proofs = rcore_arena_alloc(&snapshot->arena, sizeof(trial->proofs));
	if (!snapshot->proofs)
		return;
	memcpy(snapshot->proofs, trial->proofs, sizeof(trial->proofs));
	snapshot->proof_count = trial->count;
	for (size_t i = 0; i < trial->count; i++)
		if (!trial->proofs[i].passed)
			rcore_problem_add(
				snapshot,
				rcore_error_create(
					RCORE_ERROR_CORRUPT,
					"layout %s does not hold for this target's %s (%s)%s%s",
					snapshot->layout_name, trial->proofs[i].name,
					trial->proofs[i].text,
					trial->proofs[i].detail ? ": " : "",
					trial->proofs[i].detail ? trial->proofs[i].detail
								: ""));
}

/*
 * To choose takes tens of milliseconds where no table is of this very release, so a running process is held
 * only for the proof that what was chosen before still holds; and whoever asks again about a core has it at
 * once. Takes no less than before: where a proof fails now, the search starts anew.
 */
static bool still_holds(struct rcore_session *session, const struct rcore_identity *identity,
			struct rcore_snapshot *snapshot, struct rcore_trial *now)
{
	const struct rcore_trial *chosen = session->choice->trial;
	if (!chosen)
		return false;
	*now = *chosen;
	if (!rcore_vm_prove(session->memory, &now->location.layout, now->location.vm))
		return false;
	prove(session, identity, snapshot, now);
	now->misfits = misfits(session, snapshot, now);
	return now->passed == now->count &&
	       rcore_trial_missed(now) <= rcore_trial_missed(chosen) &&
	       now->misfits <= chosen->misfits;
}

static void choose(struct rcore_session *session, const struct rcore_identity *identity,
		   struct rcore_snapshot *snapshot, const struct rcore_layouts *layouts,
		   struct rcore_trial *best, struct rcore_trial *now)
{
	for (size_t i = 0; i < layouts->count && !rcore_trial_settles(best, &layouts->items[i]);
	     i++) {
		*now = (struct rcore_trial){.location.layout = layouts->items[i]};
		if (try(session, identity, snapshot, now) && rcore_trial_is_better(now, best))
			*best = *now;
	}
	fit(session, identity, snapshot, layouts, best, now);
}

/* Only what holds in all. */
static struct rcore_error *keep(struct rcore_session *session, struct rcore_snapshot *snapshot,
				struct rcore_trial *trial)
{
	if (trial->passed < trial->count)
		return NULL;
	trial->misfits = misfits(session, snapshot, trial);
	/* What was moved to fit one moment of a process that runs may not fit another. */
	if (session->live && trial->shift_count)
		return NULL;
	if (!session->choice->trial)
		session->choice->trial = malloc(sizeof(*session->choice->trial));
	if (!session->choice->trial)
		return rcore_error_no_memory();
	*session->choice->trial = *trial;
	return NULL;
}

struct rcore_error *rcore_session_locate(struct rcore_session *session,
					 const struct rcore_identity *identity,
					 struct rcore_snapshot *snapshot,
					 struct rcore_location *ret)
{
	struct rcore_layouts layouts = {0};
	struct rcore_error *err = NULL;
	struct rcore_trial *trials = calloc(2, sizeof(*trials));
	if (!trials)
		return rcore_error_no_memory();
	struct rcore_trial *best = &trials[0], *now = &trials[1];
	if (!still_holds(session, identity, snapshot, best)) {
		*best = (struct rcore_trial){0};
		err = rcore_session_layouts(session, identity, &layouts);
		if (!err) {
			choose(session, identity, snapshot, &layouts, best, now);
			err = best->count ? keep(session, snapshot, best)
					  : no_vm(session, identity, &layouts);
		}
	}
	if (!err) {
		describe(best, snapshot);
		*ret = best->location;
	}
	free(trials);
	free(layouts.items);
	return err;
}
