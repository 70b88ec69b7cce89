/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_end.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void rcore_walk_problem(struct rcore_walk *walk, const char *format, ...)
{
	char text[512];
	va_list args;
	if (walk->context->problem)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	walk->context->problem = rcore_arena_strdup(walk->unwinder->arena, text);
	walk->unwinder->no_memory |= !walk->context->problem;
}

/* Bytes from the system call to where the new thread continues. */
enum { MAX_CLONE = 32 };

/*
 * A new thread that has not run yet is in clone(). Its call frame information
 * says that nothing called it only at the place where the new thread continues.
 */
static bool is_newborn(struct rcore_walk *walk)
{
	if (walk->last.depth != 1 || !walk->last.is_exact)
		return false;
	for (uint64_t i = 1; i <= MAX_CLONE; i++) {
		const struct rcore_site *next =
			rcore_site_at(walk->unwinder->sites, walk->last.pc + i);
		if (!next || next->covered)
			return next && next->is_outermost;
	}
	return false;
}

/*
 * Whether the address is that of a coroutine's first frame: only a few bytes
 * may be above it.
 */
static bool is_top(uint64_t top, uint64_t address)
{
	enum { MAX_ABOVE = 64 };
	return top && top - address <= MAX_ABOVE;
}

/*
 * A return address of 0 ends the stack of a coroutine at its top; anywhere else
 * it is invalid. libdwfl also treats a return address that it cannot compute as
 * 0.
 */
static bool returns_to_zero(const struct rcore_walk *walk)
{
	const struct rcore_unwind_context *context = walk->context;
	const struct rcore_walk_place *last = &walk->last;
	int link = walk->unwinder->machine->link;
	if (walk->read_failed)
		return false;
	/*
	 * The thread is about to run its first instruction: its registers were
	 * initialized for that.
	 */
	if (link >= 0 && last->depth == 1 && last->is_exact && !last->site->saves_link)
		return !rcore_register_known(&walk->start, (unsigned)link) ||
		       !walk->start.value[link];
	if (!last->cfa || !last->site->saves_link || context->is_ending)
		return walk->read_zero;
	return is_top(context->stack_end, last->cfa) || is_top(context->stack_base, last->cfa);
}

/*
 * The kernel passes the address where a program starts, which helps if its file
 * is missing.
 */
static bool is_program_entry(const struct rcore_walk *walk)
{
	enum { ENTRY_BYTES = 64 };
	uint64_t entry;
	return rcore_process_auxv(walk->unwinder->native->modules->process, AT_ENTRY, &entry) &&
	       walk->last.pc - entry < ENTRY_BYTES;
}

bool rcore_walk_is_natural(struct rcore_walk *walk, int status)
{
	const struct rcore_site *site = walk->last.site;
	unsigned fp = walk->unwinder->machine->fp;
	if (walk->ended)
		return false;
	if (!walk->is_stopped)
		return site->is_outermost || (!status && returns_to_zero(walk));
	/*
	 * The ABIs of both machines set the outermost frame pointer to 0, for
	 * code that has no better description. If the file is missing, nothing
	 * is known about the code, and 0 may be any value.
	 */
	if (!site->module || site->covered)
		return false;
	if (!site->module->entry->module.elf)
		return is_program_entry(walk);
	return (rcore_register_known(&walk->at, fp) && !walk->at.value[fp]) || is_newborn(walk);
}

void rcore_walk_explain_end(struct rcore_walk *walk)
{
	const struct rcore_unwinder *unwinder = walk->unwinder;
	const struct rcore_site *site = walk->last.site;
	const struct rcore_native_module *module = site->module;
	char name[128];
	if (module)
		rcore_escape(name, sizeof(name), module->name ? module->name : "a module");
	if (walk->read_failed)
		rcore_walk_problem(walk, "cannot read the stack at 0x%" PRIx64 ": %s",
				   unwinder->fault_address, rcore_fault_text(unwinder->fault));
	else if (!module)
		rcore_walk_problem(walk,
				   "no module contains the code at 0x%" PRIx64
				   ", and the stack above it contains no return address",
				   walk->last.pc);
	else if (!site->covered)
		rcore_walk_problem(walk,
				   "%s: %s for 0x%" PRIx64
				   ", and the stack above it contains no return address",
				   name,
				   module->entry->module.elf
					   ? module->entry->module.whole_size
						     ? "its file is truncated, so there is no "
						       "call frame information"
						     : "no call frame information"
					   : "its file is not on this machine, so there is no "
					     "call frame information",
				   walk->last.pc);
	else if (walk->read_zero)
		rcore_walk_problem(walk,
				   "%s: the return address of 0x%" PRIx64
				   " is 0, but nothing marks the start of a stack there",
				   name, walk->last.pc);
	else
		rcore_walk_problem(walk,
				   "%s: the call frame information for 0x%" PRIx64
				   " cannot be used: %s",
				   name, walk->last.pc, dwfl_errmsg(-1));
}

/* Whether sp is inside the known bounds; always if none are known. */
static bool is_inside(const struct rcore_unwind_context *context, uint64_t sp)
{
	return !context->stack_end || (context->stack_start <= sp && sp <= context->stack_end);
}

static bool leads_back(struct rcore_walk *walk, uint64_t pc, uint64_t sp)
{
	if (walk->last.depth && pc == walk->seen_pc && sp == walk->seen_sp)
		return true;
	if (walk->last.depth >= 2 * walk->seen_at) {
		walk->seen_at = walk->last.depth + 1;
		walk->seen_pc = pc;
		walk->seen_sp = sp;
	}
	return false;
}

bool rcore_walk_may_go_on(struct rcore_walk *walk, uint64_t pc, uint64_t sp)
{
	const struct rcore_unwind_context *context = walk->context;
	struct rcore_walk_place *last = &walk->last;
	bool still = last->depth && sp == last->sp && !walk->may_jump;
	bool inside = is_inside(context, sp);
	/*
	 * There is no room for a caller: CRuby starts a fiber with the top of
	 * its stack empty.
	 */
	if (last->depth && !walk->is_exact && context->stack_end && inside &&
	    sp > context->stack_end - 16)
		return false;
	if (leads_back(walk, pc, sp) || (still && (pc == last->pc || last->stood_still)))
		rcore_walk_problem(
			walk, "the stack repeats itself at pc 0x%" PRIx64 ", sp 0x%" PRIx64, pc,
			sp);
	else if (last->depth && sp < last->sp && !walk->may_jump)
		rcore_walk_problem(walk,
				   "the stack goes back from sp 0x%" PRIx64 " to 0x%" PRIx64,
				   last->sp, sp);
	else if (last->is_inside && !inside && !walk->may_jump)
		rcore_walk_problem(walk,
				   "the stack leaves its bounds 0x%" PRIx64 "-0x%" PRIx64
				   " for sp 0x%" PRIx64,
				   context->stack_start, context->stack_end, sp);
	else if (last->depth >= walk->unwinder->frame_limit)
		rcore_walk_problem(walk, "more than %zu native frames",
				   walk->unwinder->frame_limit);
	else if (!walk->unwinder->frames_left)
		rcore_walk_problem(walk, "more than %d native frames in all stacks",
				   RCORE_NATIVE_TOTAL_LIMIT);
	if (context->problem)
		return false;
	last->depth++;
	last->pc = pc;
	last->sp = sp;
	last->is_exact = walk->is_exact;
	last->stood_still = still;
	last->is_inside = inside && context->stack_end;
	return true;
}
