/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_row.h"

#include <dwarf.h>

/*
 * libdw describes a register that is lost by no operations in the caller's
 * buffer, one that keeps its value by no operations at all, and one that is
 * saved by an expression.
 */
static bool set_column(struct rcore_row *row, Dwarf_Frame *frame, unsigned number)
{
	Dwarf_Op buffer[3], *operations;
	size_t count, at = 1;
	if (dwarf_frame_register(frame, (int)number, buffer, &operations, &count))
		return false;
	if (!count) {
		row->columns[number].rule =
			operations == buffer ? RCORE_RULE_LOST : RCORE_RULE_SAME;
		return !operations || operations == buffer;
	}
	if (operations[0].atom != DW_OP_call_frame_cfa)
		return false;
	row->columns[number].rule = RCORE_RULE_SAVED;
	if (at < count && operations[at].atom == DW_OP_plus_uconst)
		row->columns[number].offset = operations[at++].number;
	if (at < count && operations[at].atom == DW_OP_stack_value) {
		row->columns[number].rule = RCORE_RULE_OFFSET;
		at++;
	}
	return at == count;
}

void rcore_row_init(struct rcore_row *row, Dwarf_Frame *frame,
		    const struct rcore_unwind_machine *machine)
{
	*row = (struct rcore_row){.is_plain = machine->pc >= 0};
	for (unsigned i = 0; row->is_plain && i < machine->register_count; i++)
		row->is_plain = set_column(row, frame, i);
	if (row->is_plain)
		row->is_plain = dwarf_frame_info(frame, NULL, NULL, NULL) == machine->pc &&
				set_column(row, frame, (unsigned)machine->pc) &&
				row->columns[machine->pc].rule == RCORE_RULE_SAVED;
}

enum rcore_row_result rcore_row_apply(const struct rcore_row *row,
				      const struct rcore_unwind_machine *machine,
				      uint64_t frame_address, rcore_row_read *read,
				      void *context, struct rcore_unwind_registers *registers)
{
	struct rcore_unwind_registers caller = {0};
	for (unsigned i = 0; i < machine->register_count; i++) {
		uint64_t value = frame_address + row->columns[i].offset;
		switch (row->columns[i].rule) {
		case RCORE_RULE_LOST:
			continue;
		case RCORE_RULE_SAME:
			if (!rcore_register_known(registers, i))
				continue;
			value = registers->value[i];
			break;
		case RCORE_RULE_SAVED:
			if (!read(context, value, &value))
				return RCORE_ROW_UNREADABLE;
			break;
		case RCORE_RULE_OFFSET:
			break;
		}
		rcore_register_set(&caller, i, value);
	}
	if (!read(context, frame_address + row->columns[machine->pc].offset, &caller.pc))
		return RCORE_ROW_UNREADABLE;
	if (!caller.pc)
		return RCORE_ROW_ENDS;
	*registers = caller;
	return RCORE_ROW_APPLIED;
}
