/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_resume.h"

#include "image/unwind/signal_frame.h"
#include "image/unwind/unwind_compiled.h"
#include "image/unwind/unwind_records.h"
#include "image/unwind/unwind_return.h"

/*
 * How many bytes of the stack are searched for a return address. Frames of JIT
 * code are small.
 */
enum { MAX_SCAN = 32 << 10 };

static bool read_word(struct rcore_walk *walk, uint64_t address, uint64_t *ret)
{
	return !rcore_read_u64(&walk->unwinder->memory.memory, address, ret);
}

static bool is_restorer(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	struct rcore_memory *memory = &walk->unwinder->memory.memory;
	uint8_t code[RCORE_RESTORER_BYTES];
	if (!rcore_read(memory, walk->last.pc, code, sizeof(code)))
		return machine->is_restorer(code);
	return rcore_signal_frame_at(memory, machine->machine, walk->last.sp);
}

bool rcore_walk_resume_signal(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	uint64_t base = walk->last.sp + machine->signal_base, value;
	if (walk->last.is_exact || !is_restorer(walk))
		return false;
	struct rcore_unwind_registers registers = {0};
	for (unsigned i = 0; i < machine->register_count; i++) {
		if (!read_word(walk, base + 8 * (uint64_t)machine->signal[i], &value))
			return false;
		rcore_register_set(&registers, i, value);
	}
	if (!read_word(walk, base + 8 * (uint64_t)machine->signal_pc, &registers.pc))
		return false;
	walk->start = registers;
	walk->trust = RCORE_TRUST_EXACT;
	walk->is_exact = walk->may_jump = true;
	walk->frames.items[walk->frames.count - 1].is_signal = true;
	return true;
}

/* Starts the caller's frame. Any other register may have changed since. */
static void set_start(struct rcore_walk *walk, uint64_t pc, uint64_t sp, enum rcore_trust trust)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	struct rcore_unwind_registers registers = {.pc = pc};
	rcore_register_set(&registers, machine->sp, sp);
	if (rcore_register_known(&walk->at, machine->fp))
		rcore_register_set(&registers, machine->fp, walk->at.value[machine->fp]);
	walk->start = registers;
	walk->trust = trust;
	walk->is_exact = walk->may_jump = false;
}

bool rcore_walk_is_landing(struct rcore_walk *walk, struct rcore_landing *ret)
{
	uint8_t code[2 * RCORE_LANDING_BYTES];
	return walk->last.is_exact &&
	       !rcore_walk_read_code(walk, walk->last.pc, RCORE_LANDING_BYTES,
				     RCORE_LANDING_BYTES, code) &&
	       walk->unwinder->machine->is_landing(code + RCORE_LANDING_BYTES, ret);
}

/* Only these registers have their values at the destination. */
static bool from_landing(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	struct rcore_landing landing;
	if (!rcore_walk_is_landing(walk, &landing) ||
	    !rcore_register_known(&walk->at, landing.pc) ||
	    !rcore_register_known(&walk->at, landing.fp) ||
	    !rcore_native_module_at(walk->unwinder->native, walk->at.value[landing.pc]))
		return false;
	struct rcore_unwind_registers registers = {.pc = walk->at.value[landing.pc]};
	rcore_register_set(&registers, machine->sp, walk->last.sp);
	rcore_register_set(&registers, machine->fp, walk->at.value[landing.fp]);
	walk->start = registers;
	walk->trust = RCORE_TRUST_EXACT;
	walk->is_exact = walk->may_jump = true;
	return true;
}

static bool from_link(struct rcore_walk *walk)
{
	int link = walk->unwinder->machine->link;
	if (link < 0 || !walk->last.is_exact ||
	    !rcore_register_known(&walk->at, (unsigned)link))
		return false;
	uint64_t pc = rcore_walk_code_address(walk->unwinder, walk->at.value[link]);
	if (!rcore_walk_is_return(walk, pc))
		return false;
	set_start(walk, pc, walk->last.sp, RCORE_TRUST_NO_CFI);
	return true;
}

static bool from_prologue(struct rcore_walk *walk)
{
	struct rcore_unwinder *unwinder = walk->unwinder;
	struct rcore_prologue frame;
	uint8_t code[RCORE_PROLOGUE_REACH];
	uint64_t function = walk->frames.items[walk->frames.count - 1].function_start, pc;
	size_t size = sizeof(code);
	bool starts = function && walk->last.pc - function <= size;
	if (starts)
		size = walk->last.pc - function;
	if (!unwinder->machine->find_frame || !walk->last.is_exact ||
	    !walk->last.site->module ||
	    rcore_read(&unwinder->memory.memory, walk->last.pc - size, code, size) ||
	    !unwinder->machine->find_frame(code, size, starts, &frame))
		return false;
	uint64_t slot = walk->last.sp + frame.size;
	if (!read_word(walk, slot, &pc) ||
	    (!rcore_walk_is_return(walk, pc) && !rcore_walk_is_start(walk, pc)))
		return false;
	set_start(walk, pc, slot + 8, RCORE_TRUST_NO_CFI);
	walk->is_exact = !rcore_walk_is_return(walk, pc);
	for (unsigned i = 0; i < unwinder->machine->register_count; i++) {
		uint64_t value = walk->at.value[i];
		bool known = frame.saved >> i & 1
				     ? read_word(walk, slot - frame.below[i], &value)
				     : rcore_register_known(&walk->at, i);
		if (known && i != unwinder->machine->sp)
			rcore_register_set(&walk->start, i, value);
	}
	return true;
}

static bool keeps_frame_pointer(struct rcore_walk *walk)
{
	struct rcore_unwinder *unwinder = walk->unwinder;
	uint8_t code[RCORE_PROLOGUE_BYTES] = {0};
	uint64_t function = walk->frames.items[walk->frames.count - 1].function_start;
	if (function)
		rcore_read(&unwinder->memory.memory, function, code, sizeof(code));
	return unwinder->machine->has_frame_pointer(code, sizeof(code));
}

/*
 * Returns the caller's sp, which is where the return address was popped. On
 * aarch64, the record to which the frame pointer points may be anywhere in its
 * frame; the caller's call frame information says how far its own record is
 * from its sp.
 */
static uint64_t caller_sp(struct rcore_walk *walk, uint64_t fp, uint64_t caller_fp, uint64_t pc)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	const struct rcore_site *site = rcore_site_at(walk->unwinder->sites, pc - 1);
	uint64_t sp = fp + 16;
	if (machine->link < 0 || !site || !site->saves_fp ||
	    site->base_register != (int)machine->sp)
		return sp;
	uint64_t told = caller_fp - site->fp_offset - site->base_offset;
	return told >= sp && told <= caller_fp ? told : sp;
}

static bool from_frame_pointer(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	uint64_t fp = walk->at.value[machine->fp], caller_fp, pc;
	if (!rcore_register_known(&walk->at, machine->fp) || fp < walk->last.sp || fp % 8 ||
	    !keeps_frame_pointer(walk) || !read_word(walk, fp, &caller_fp) ||
	    !read_word(walk, fp + 8, &pc))
		return false;
	pc = rcore_walk_code_address(walk->unwinder, pc);
	if (!rcore_walk_is_return(walk, pc))
		return false;
	set_start(walk, pc, caller_sp(walk, fp, caller_fp, pc), RCORE_TRUST_NO_CFI);
	rcore_register_set(&walk->start, machine->fp, caller_fp);
	return true;
}

static bool scan(struct rcore_walk *walk, uint64_t slot)
{
	const struct rcore_unwind_context *context = walk->context;
	uint64_t sp = walk->at.value[walk->unwinder->machine->sp], pc;
	uint64_t limit = sp > UINT64_MAX - MAX_SCAN ? UINT64_MAX : sp + MAX_SCAN;
	if (walk->last.is_inside && context->stack_end < limit)
		limit = context->stack_end;
	for (; slot < limit && read_word(walk, slot, &pc); slot += 8) {
		pc = rcore_walk_code_address(walk->unwinder, pc);
		if (!rcore_walk_is_return(walk, pc))
			continue;
		/* It is where a call to an invalid address has pushed it. */
		bool pushed = walk->last.is_exact && slot == walk->last.sp;
		set_start(walk, pc, slot + 8,
			  pushed ? RCORE_TRUST_NO_CFI : RCORE_TRUST_SCANNED);
		walk->on_probation = true;
		walk->probation_slot = slot;
		return true;
	}
	return false;
}

bool rcore_walk_resume(struct rcore_walk *walk)
{
	if (rcore_walk_resume_signal(walk) || from_landing(walk) || from_link(walk) ||
	    from_prologue(walk) || rcore_walk_resume_records(walk) ||
	    rcore_walk_resume_compiled(walk) || from_frame_pointer(walk))
		return true;
	walk->probation_frames = walk->frames.count;
	walk->probation_last = walk->last;
	return scan(walk, (walk->last.sp + 7) & ~UINT64_C(7));
}

bool rcore_walk_rescan(struct rcore_walk *walk)
{
	walk->frames.count = walk->probation_frames;
	walk->last = walk->probation_last;
	walk->on_probation = walk->ended = walk->read_failed = false;
	walk->context->problem = NULL;
	return scan(walk, walk->probation_slot + 8);
}
