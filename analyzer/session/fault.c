/* SPDX-License-Identifier: MIT */
#include "session/explain.h"

#include <signal.h>

#include "image/unwind/code/instruction.h"
#include "ruby/heap/heap.h"

static bool is_fault(int signo)
{
	return signo == SIGSEGV || signo == SIGBUS;
}

static void find_original(const struct rcore_target *target, struct rcore_original *ret)
{
	const struct rcore_process *process = target->process;
	ret->present = false;
	for (size_t i = 0; i < process->thread_count && !ret->present; i++)
		if (process->crashed_tid && process->threads[i].tid == process->crashed_tid)
			ret->present =
				rcore_signal_frame_find(target->memory, process->machine,
							&process->threads[i], &ret->frame);
}

/*
 * Returns the registers at the fault: those that the signal handler got,
 * otherwise those that the kernel saved.
 */
static const uint64_t *registers_of(const struct rcore_target *target,
				    const struct rcore_original *original)
{
	const struct rcore_process *process = target->process;
	if (original->present)
		return original->frame.registers;
	for (size_t i = 0; i < process->thread_count; i++)
		if (process->threads[i].tid == process->crashed_tid &&
		    process->threads[i].has_registers)
			return process->threads[i].registers;
	return NULL;
}

static void find_access(const struct rcore_target *target,
			const struct rcore_original *original, const uint64_t *registers,
			struct rcore_fault_facts *fault)
{
	unsigned machine = target->process->machine;
	uint8_t code[RCORE_INSTRUCTION_SIZE];
	struct rcore_operand operand;
	uint64_t pc = registers[rcore_register_pc(machine)];
	size_t size = sizeof(code);
	if (original->present && original->frame.access) {
		fault->access = original->frame.access;
		fault->access_source = "the processor";
	} else if (fault->has_address && fault->address == pc) {
		fault->access = RCORE_ACCESS_EXECUTE;
		fault->access_source = "the program counter";
	}
	/* The instruction may be the last one of a mapping. */
	while (size && rcore_read(target->memory, pc, code, size))
		size--;
	if (!rcore_instruction_operand(machine, code, size, registers, fault->address,
				       &operand))
		return;
	if (!fault->has_address && operand.has_address) {
		fault->has_address = true;
		fault->address = operand.address;
	}
	if (!fault->access) {
		fault->access = operand.access;
		fault->access_source = "the instruction";
	}
}

static bool find_slot(struct rcore_ruby *ruby, uint64_t address, struct rcore_slot *ret,
		      enum rcore_type *type)
{
	if (!rcore_heap_slot(ruby, address, &ret->address, type))
		return false;
	ret->type = rcore_type_name(*type);
	return true;
}

/*
 * Many faults come from a slot that no longer holds an object. Its address may
 * differ from that of the fault.
 */
static void find_held(unsigned machine, struct rcore_ruby *ruby, const uint64_t *registers,
		      struct rcore_fault_facts *fault)
{
	for (int i = 0; i < RCORE_MAX_REGISTERS; i++) {
		struct rcore_held_slot held = {.name = rcore_register_name(machine, i)};
		enum rcore_type type;
		if (!held.name || fault->held_count == RCORE_HELD_SLOTS ||
		    !rcore_is_object(ruby, registers[i]) ||
		    !find_slot(ruby, registers[i], &held.slot, &type) ||
		    held.slot.address != registers[i] || rcore_type_is_used(type))
			continue;
		fault->held[fault->held_count++] = held;
	}
}

void rcore_session_fault(const struct rcore_target *target, struct rcore_ruby *ruby,
			 struct rcore_snapshot *snapshot, struct rcore_original *ret)
{
	struct rcore_fault_facts *fault = &snapshot->cause.fault;
	find_original(target, ret);
	const struct rcore_siginfo *info =
		ret->present ? &ret->frame.info : &target->process->siginfo;
	const uint64_t *registers = registers_of(target, ret);
	enum rcore_type type;
	/* If the code is not positive, a process sent the signal. */
	if (!info->present || !is_fault(info->signo) || info->code <= 0)
		return;
	/* A general protection fault of x86-64 has no address. */
	fault->has_address = info->code != SI_KERNEL;
	fault->address = info->address;
	if (registers)
		find_access(target, ret, registers, fault);
	if (!ruby)
		return;
	if (fault->has_address)
		find_slot(ruby, fault->address, &fault->slot, &type);
	/* During a collection, registers often point to free slots. */
	if (registers && !snapshot->facts.in_gc)
		find_held(target->process->machine, ruby, registers, fault);
}
