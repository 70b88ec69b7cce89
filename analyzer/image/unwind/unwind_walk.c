/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_walk.h"

#include <errno.h>
#include <string.h>

#include "base/grow.h"
#include "image/unwind/cold_part.h"
#include "image/unwind/unwind_end.h"
#include "image/unwind/unwind_resume.h"
#include "image/unwind/unwind_return.h"

bool rcore_walk_read(struct rcore_unwinder *unwinder, uint64_t address, uint64_t *ret)
{
	uint64_t value;
	unwinder->fault = rcore_read_u64(&unwinder->memory.memory, address, &value);
	unwinder->fault_address = address;
	if (unwinder->fault) {
		unwinder->walk->read_failed = true;
		return false;
	}
	unwinder->walk->read_zero |= !value;
	*ret = rcore_walk_code_address(unwinder, value);
	return true;
}

bool rcore_walk_registers(Dwfl_Thread *thread, void *argument)
{
	struct rcore_walk *walk = argument;
	const struct rcore_unwind_registers *start = &walk->start;
	for (unsigned i = 0; i < walk->unwinder->machine->register_count; i++)
		if (rcore_register_known(start, i) &&
		    !dwfl_thread_state_registers(thread, (int)i, 1, &start->value[i]))
			return false;
	if (walk->unwinder->machine->pc >= 0 &&
	    !dwfl_thread_state_registers(thread, walk->unwinder->machine->pc, 1, &start->pc))
		return false;
	/* libdwfl does not change the pc of the first frame. */
	dwfl_thread_state_register_pc(thread, walk->last.is_exact ? start->pc : start->pc - 1);
	return true;
}

static int end(struct rcore_walk *walk)
{
	walk->ended = true;
	return DWARF_CB_ABORT;
}

static bool symbolize(struct rcore_sites *sites, struct rcore_site *site)
{
	/*
	 * Nothing called the trampoline. Its call frame information begins one
	 * byte early for unwinders that look before a return address, but its
	 * symbol does not.
	 */
	uint64_t address = site->address + site->is_signal;
	sites->symbolizer.arena = &sites->arena;
	site->frame_count = rcore_symbolize(&sites->symbolizer, site->module, address,
					    site->fde_start, &site->frames);
	return site->frame_count;
}

/* Sets site->frames. Returns false if memory is short. */
static bool name_site(struct rcore_sites *sites, struct rcore_site *site)
{
	bool is_new = !site->frames;
	if (is_new && !symbolize(sites, site))
		return false;
	struct rcore_native_frame *frame = &site->frames[site->frame_count - 1];
	if (!frame->function && (is_new || site->generation != sites->generation))
		frame->part_of = rcore_cold_part_of(sites, &sites->functions, site);
	site->generation = sites->generation;
	return true;
}

static bool add_frame(struct rcore_walk *walk, struct rcore_site *site, uint64_t pc,
		      uint64_t sp)
{
	if (!name_site(walk->unwinder->sites, site))
		return false;
	for (size_t i = 0; i < site->frame_count; i++) {
		struct rcore_native_frame *frame = rcore_push(&walk->frames);
		if (!frame)
			return false;
		*frame = site->frames[i];
		if (!rcore_names_copy(&walk->unwinder->names, frame))
			return false;
		if (frame->function_start)
			frame->function_offset += pc - frame->pc;
		if (frame->module_offset)
			frame->module_offset += pc - frame->pc;
		frame->pc = pc;
		frame->sp = sp;
		frame->trust = walk->trust;
		frame->is_signal = site->is_signal;
	}
	walk->unwinder->frames_left--;
	return true;
}

/* A function that does not save the register does not change it. */
static void remember(struct rcore_walk *walk, const struct rcore_unwind_registers *registers)
{
	int number = walk->unwinder->machine->forgotten;
	if (number < 0)
		return;
	if (rcore_register_known(registers, (unsigned)number)) {
		walk->forgotten = registers->value[number];
		walk->is_forgotten_known = true;
	} else if (walk->at_start) {
		walk->is_forgotten_known = false;
	}
}

static void capture(struct rcore_walk *walk, const struct rcore_unwind_registers *registers)
{
	int forgotten = walk->unwinder->machine->forgotten;
	walk->at = *registers;
	walk->at.pc = walk->last.pc;
	if (forgotten >= 0 && walk->is_forgotten_known)
		rcore_register_set(&walk->at, (unsigned)forgotten, walk->forgotten);
	walk->is_captured = true;
}

/* Ends libdw's part of the walk: this frame's caller is found without it. */
static int stop(struct rcore_walk *walk, const struct rcore_unwind_registers *registers)
{
	capture(walk, registers);
	walk->is_stopped = true;
	return DWARF_CB_ABORT;
}

/*
 * Whether this frame's address cannot be computed because libdw lacks a
 * register that is known here. The walk then starts again with this frame.
 */
static bool must_start_over(struct rcore_walk *walk, const struct rcore_site *site,
			    const struct rcore_unwind_registers *registers)
{
	if (!site->covered || site->base_register < 0 || !walk->is_forgotten_known ||
	    site->base_register != walk->unwinder->machine->forgotten ||
	    rcore_register_known(registers, (unsigned)site->base_register))
		return false;
	capture(walk, registers);
	walk->start = walk->at;
	walk->start.pc = registers->pc;
	walk->starts_over = true;
	return true;
}

static int on_registers(struct rcore_walk *walk, const struct rcore_unwind_registers *registers)
{
	struct rcore_unwinder *unwinder = walk->unwinder;
	struct rcore_landing landing;
	uint64_t pc = registers->pc, sp = registers->value[unwinder->machine->sp];
	if (!rcore_register_known(registers, unwinder->machine->sp)) {
		rcore_walk_problem(walk, "the stack pointer of a frame is unknown");
		return end(walk);
	}
	remember(walk, registers);
	walk->at_start = false;
	if (walk->on_probation && walk->last.depth > walk->probation_last.depth) {
		if (!rcore_walk_is_return(walk, pc))
			return end(walk);
		walk->on_probation = false;
	}
	struct rcore_site *site = rcore_site_at(unwinder->sites, walk->is_exact ? pc : pc - 1);
	if (site && must_start_over(walk, site, registers))
		return DWARF_CB_ABORT;
	if (!rcore_walk_may_go_on(walk, pc, sp))
		return end(walk);
	if (!site || !add_frame(walk, site, pc, sp)) {
		unwinder->no_memory = true;
		return end(walk);
	}
	walk->last.site = site;
	walk->trust = site->is_signal ? RCORE_TRUST_EXACT : RCORE_TRUST_CFI;
	bool has_left = rcore_walk_is_landing(walk, &landing);
	walk->is_exact = walk->may_jump = site->is_signal;
	walk->last.cfa = 0;
	walk->read_failed = walk->read_zero = walk->is_captured = false;
	if (has_left)
		return stop(walk, registers);
	if (site->covered && site->base_register < 0) {
		/* An expression may need registers that are not known. */
		capture(walk, registers);
		return DWARF_CB_OK;
	}
	if (site->covered && rcore_register_known(registers, (unsigned)site->base_register)) {
		walk->last.cfa = registers->value[site->base_register] + site->base_offset;
		return DWARF_CB_OK;
	}
	return walk->on_probation ? end(walk) : stop(walk, registers);
}

static int on_frame(Dwfl_Frame *frame, void *argument)
{
	struct rcore_walk *walk = argument;
	struct rcore_unwind_registers registers = {0};
	if (walk->is_handed_over) {
		walk->is_handed_over = false;
		return DWARF_CB_OK;
	}
	registers.known = 0;
	for (unsigned i = 0; i < walk->unwinder->machine->register_count; i++) {
		Dwarf_Word value;
		if (!dwfl_frame_reg(frame, i, &value))
			rcore_register_set(&registers, i, value);
	}
	if (!dwfl_frame_pc(frame, &registers.pc, NULL))
		registers.known = 0;
	return on_registers(walk, &registers);
}

static bool read_word(void *walk, uint64_t address, uint64_t *ret)
{
	return rcore_walk_read(((struct rcore_walk *)walk)->unwinder, address, ret);
}

static enum rcore_row_result apply_row(struct rcore_walk *walk,
				       struct rcore_unwind_registers *registers)
{
	const struct rcore_row *row = &walk->last.site->row;
	if (!row->is_plain || !walk->last.cfa)
		return RCORE_ROW_UNREADABLE;
	return rcore_row_apply(row, walk->unwinder->machine, walk->last.cfa, read_word, walk,
			       registers);
}

/* Returns what dwfl_thread_getframes() returns. */
static int walk_frames(struct rcore_walk *walk, Dwfl_Thread *thread)
{
	struct rcore_unwind_registers registers = walk->start;
	enum rcore_row_result result;
	do {
		int status = on_registers(walk, &registers);
		if (status != DWARF_CB_OK)
			return status;
		result = apply_row(walk, &registers);
	} while (result == RCORE_ROW_APPLIED);
	if (result == RCORE_ROW_ENDS)
		return 0;
	walk->start = registers;
	walk->is_handed_over = true;
	errno = 0;
	int status = dwfl_thread_getframes(thread, on_frame, walk);
	walk->unwinder->no_memory |= status < 0 && rcore_lacks_memory();
	return status;
}

/* Whether another method must find the next frame. */
static bool is_lost(struct rcore_walk *walk, int status)
{
	return walk->is_stopped ||
	       (!walk->ended && walk->is_captured && !rcore_walk_is_natural(walk, status));
}

/* Walks one stretch. Returns whether there is another one, at walk->start. */
static bool walk_stretch(struct rcore_walk *walk, Dwfl_Thread *thread)
{
	walk->at_start = true;
	walk->is_stopped = walk->is_captured = walk->ended = walk->read_failed = false;
	int status = walk_frames(walk, thread);
	walk->unwinder->no_memory |= walk->unwinder->sites->no_memory;
	if (walk->unwinder->no_memory)
		return false;
	if (walk->starts_over) {
		walk->starts_over = false;
		return true;
	}
	if (walk->is_handed_over) {
		rcore_walk_problem(walk, "libdwfl cannot start: %s", dwfl_errmsg(-1));
		return false;
	}
	/*
	 * A signal may have interrupted code at pc 0, which libdwfl takes for
	 * the end.
	 */
	if (!walk->ended && !walk->is_stopped && walk->last.site->is_signal &&
	    rcore_walk_resume_signal(walk))
		return true;
	if (walk->on_probation) {
		/* A 0 on the stack proves nothing. */
		if (!walk->ended && walk->last.site->is_outermost)
			return false;
		if (rcore_walk_rescan(walk))
			return true;
		walk->is_stopped = true;
	} else if (is_lost(walk, status) && rcore_walk_resume(walk)) {
		return true;
	}
	if (!walk->ended && !rcore_walk_is_natural(walk, status))
		rcore_walk_explain_end(walk);
	return false;
}

static bool begin(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	const struct rcore_unwind_context *context = walk->context;
	for (unsigned i = 0; i < machine->register_count; i++) {
		unsigned number = machine->gregset[i];
		if (context->known >> number & 1)
			rcore_register_set(&walk->start, i, context->registers[number]);
	}
	if (!rcore_register_known(&walk->start, machine->sp) ||
	    !(context->known >> machine->gregset_pc & 1)) {
		rcore_walk_problem(walk, "its registers were not saved");
		return false;
	}
	uint64_t pc = context->registers[machine->gregset_pc];
	walk->start.pc = rcore_walk_code_address(walk->unwinder, pc);
	if (machine->link >= 0)
		walk->start.value[machine->link] = rcore_walk_code_address(
			walk->unwinder, walk->start.value[machine->link]);
	walk->trust = RCORE_TRUST_EXACT;
	walk->is_exact = !context->is_parked;
	return true;
}

static bool keep(struct rcore_walk *walk)
{
	struct rcore_unwind_context *context = walk->context;
	size_t size = walk->frames.count * sizeof(*walk->frames.items);
	if (!size)
		return true;
	context->frames = rcore_arena_alloc(walk->unwinder->arena, size);
	if (!context->frames)
		return false;
	memcpy(context->frames, walk->frames.items, size);
	context->frame_count = walk->frames.count;
	return true;
}

void rcore_walk_stack(struct rcore_walk *walk, Dwfl_Thread *thread)
{
	if (begin(walk))
		while (walk_stretch(walk, thread))
			;
	if (!keep(walk))
		walk->unwinder->no_memory = true;
}
