/* SPDX-License-Identifier: MIT */
#include "session/layout/trial.h"

#include <string.h>

#include "base/count.h"
#include "proof/shift.h"
#include "ruby/symbol/id.h"
#include "vm/find/find.h"
#include "vm/problem.h"

/* What was found in another process with the same file: rcore_module_note(). */
static const char vm_place[] = "pointer to the VM", symbols_place[] = "global symbols";

bool rcore_trial_find_vm(const struct rcore_search *search, struct rcore_trial *trial)
{
	static const char pointer[] = "ruby_current_vm_ptr";
	const struct rcore_layout *layout = &trial->location.layout;
	struct rcore_symbol symbol;
	struct rcore_modules *modules = search->target->modules;
	struct rcore_module *ruby = search->identity->module;
	uint64_t variable, start, end;

	if (rcore_module_symbol(search->target->modules, search->identity->module, pointer,
				&symbol) &&
	    rcore_vm_at(search->target->memory, layout, symbol.address, &trial->location.vm)) {
		trial->method = RCORE_VM_BY_SYMBOL;
		return true;
	}
	if (rcore_module_dwarf_variable(search->target->modules, search->identity->module,
					pointer, &variable) &&
	    rcore_vm_at(search->target->memory, layout, variable, &trial->location.vm)) {
		trial->method = RCORE_VM_BY_DWARF;
		return true;
	}
	trial->method = RCORE_VM_BY_SEARCH;
	if (rcore_module_known(modules, ruby, vm_place, &variable) &&
	    rcore_vm_at(search->target->memory, layout, ruby->bias + variable,
			&trial->location.vm))
		return true;
	for (size_t i = 0; rcore_module_writable(modules, ruby, i, &start, &end); i++) {
		if (!rcore_vm_search(search->target->memory, layout, start, end,
				     &trial->location.vm, &variable))
			continue;
		rcore_module_note(modules, ruby, vm_place, variable - ruby->bias);
		return true;
	}
	return false;
}

void rcore_trial_reader(const struct rcore_search *search, struct rcore_trial *trial,
			struct rcore_ruby *ret)
{
	rcore_ruby_init(ret, search->target->memory, &trial->location.layout, search->arena);
	rcore_ruby_set_vm(ret, trial->location.vm);
	ret->recorder = search->target->recorder;
}

void rcore_trial_end_reader(const struct rcore_search *search, struct rcore_ruby *ruby)
{
	search->choice->lacks_memory |= ruby->lacks_memory;
	rcore_ruby_deinit(ruby);
}

static void find_symbols(const struct rcore_search *search, struct rcore_ruby *ruby)
{
	/* its name up to 2.6, and since 2.7 */
	static const char *const names[] = {"ruby_global_symbols", "global_symbols"};
	const struct rcore_trial *chosen = search->choice->trial;
	struct rcore_symbol symbol;
	uint64_t start, end;
	if (chosen && chosen->location.global_symbols &&
	    rcore_symbols_prove(ruby, chosen->location.global_symbols)) {
		ruby->global_symbols = chosen->location.global_symbols;
		return;
	}
	for (size_t i = 0; i < RCORE_COUNT(names); i++) {
		if (rcore_module_symbol(search->target->modules, search->identity->module,
					names[i], &symbol) &&
		    rcore_symbols_prove(ruby, symbol.address)) {
			ruby->global_symbols = symbol.address;
			return;
		}
	}
	struct rcore_modules *modules = search->target->modules;
	struct rcore_module *module = search->identity->module;
	uint64_t place;
	if (rcore_module_known(modules, module, symbols_place, &place) &&
	    rcore_symbols_prove(ruby, module->bias + place)) {
		ruby->global_symbols = module->bias + place;
		return;
	}
	for (size_t i = 0; rcore_module_writable(modules, module, i, &start, &end); i++)
		if (rcore_symbols_search(ruby, start, end)) {
			rcore_module_note(modules, module, symbols_place,
					  ruby->global_symbols - module->bias);
			return;
		}
}

void rcore_trial_prove(const struct rcore_search *search, struct rcore_trial *trial)
{
	struct rcore_ruby ruby;
	rcore_trial_reader(search, trial, &ruby);
	find_symbols(search, &ruby);
	trial->location.global_symbols = ruby.global_symbols;
	trial->passed = rcore_prove(&ruby, trial->location.vm, trial->proofs, &trial->count);
	rcore_trial_end_reader(search, &ruby);
}

bool rcore_trial_run(const struct rcore_search *search, struct rcore_trial *trial)
{
	if (!rcore_trial_find_vm(search, trial))
		return false;
	rcore_trial_prove(search, trial);
	return true;
}

size_t rcore_trial_misfits(const struct rcore_search *search, struct rcore_trial *trial)
{
	struct rcore_layout *layout = &trial->location.layout;
	struct rcore_ruby ruby;
	if (layout->source != RCORE_LAYOUT_APPROXIMATE)
		return 0;
	rcore_trial_reader(search, trial, &ruby);
	size_t count =
		rcore_shift_misfits(&ruby, search->target->process, trial->location.vm, layout);
	rcore_trial_end_reader(search, &ruby);
	return count;
}

size_t rcore_trial_missed(const struct rcore_trial *trial)
{
	size_t sum = 0;
	for (size_t i = 0; i < trial->count; i++)
		sum += trial->proofs[i].missed;
	return sum;
}

/* How many proofs passed among the structs that point to each other. */
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
