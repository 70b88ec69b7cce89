/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind_records.h"

#include "image/unwind/unwind_return.h"

enum {
	WORD = 8,
	SAVED = 3, /* by the trampoline */
	/* Below its frame pointer: these, and one to align. */
	ENTRY_WORDS = 4,
	MAX_CHAIN = 1 << 20 /* compiled frames looked at for one stack */
};

/* Where a frame returns to. */
struct record {
	uint64_t slot;  /* of the return address */
	uint64_t pc;    /* which is this */
	uint64_t fp;    /* of the caller */
	bool is_unset;  /* the frame pointer is still the caller's, or again */
	bool leads_out; /* to C */
};

/*
 * Whether an address is after a call, in code of no file. Sets *is_entry if
 * that is the call of the trampoline. Code that a JIT of a live process is
 * about to change is not copied, because it cannot be distinguished from data:
 * an address in it counts as both.
 */
static bool is_compiled_return(const struct rcore_walk *walk, uint64_t address, bool *is_entry)
{
	struct rcore_unwinder *unwinder = walk->unwinder;
	uint8_t code[RCORE_CALL_BYTES];
	if (address < sizeof(code) || rcore_native_module_at(unwinder->native, address - 1))
		return false;
	enum rcore_fault fault = rcore_walk_read_code(walk, address, sizeof(code), 0, code);
	*is_entry = fault == RCORE_FAULT_NOT_COPIED;
	if (fault)
		return *is_entry;
	if (!unwinder->machine->is_call(code + sizeof(code), sizeof(code)))
		return false;
	*is_entry = unwinder->machine->records.is_entry_call(code + sizeof(code));
	return true;
}

static bool read_record(struct rcore_walk *walk, struct record *record)
{
	bool is_entry;
	if (!rcore_walk_word(walk, record->slot, &record->pc))
		return false;
	record->pc = rcore_walk_code_address(walk->unwinder, record->pc);
	record->leads_out = rcore_walk_is_return(walk, record->pc);
	return record->leads_out || is_compiled_return(walk, record->pc, &is_entry);
}

/*
 * The code has not saved the caller's frame pointer yet, or has restored it, as
 * the instructions around pc show.
 */
static bool find_unset(struct rcore_walk *walk, struct record *ret)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	uint8_t code[RCORE_RECORD_BEFORE + RCORE_EPILOGUE_BYTES];
	size_t words;
	/*
	 * The trampoline is the first code of all: no page may lie before it.
	 */
	if (!walk->last.is_exact || !machine->records.find_unset ||
	    rcore_walk_read_code(walk, walk->last.pc, RCORE_RECORD_BEFORE, RCORE_EPILOGUE_BYTES,
				 code) ||
	    !machine->records.find_unset(code + RCORE_RECORD_BEFORE, RCORE_EPILOGUE_BYTES,
					 &words))
		return false;
	*ret = (struct record){
		.slot = walk->last.sp + words * WORD,
		.fp = walk->at.value[machine->fp],
		.is_unset = true,
	};
	return (!words || rcore_walk_word(walk, walk->last.sp, &ret->fp)) &&
	       read_record(walk, ret);
}

static bool find_set(struct rcore_walk *walk, struct record *ret)
{
	uint64_t fp = walk->at.value[walk->unwinder->machine->fp];
	*ret = (struct record){.slot = fp + WORD};
	return fp >= walk->last.sp && !(fp % WORD) && rcore_walk_word(walk, fp, &ret->fp) &&
	       read_record(walk, ret);
}

/*
 * The trampoline returns to C. So does YJIT's code, which leaves the frame
 * pointer further out, or saves it twice.
 */
static bool is_trampoline(struct rcore_walk *walk, const struct record *record)
{
	uint64_t fp = record->slot - WORD, value;
	return record->is_unset ||
	       (fp - walk->last.sp <= ENTRY_WORDS * WORD &&
		(fp == walk->last.sp ||
		 (rcore_walk_word(walk, fp - WORD, &value) && value != fp)));
}

/* Whether the chain of frames leads through the trampoline. */
static bool is_whole_chain(struct rcore_walk *walk, const struct record *record)
{
	uint64_t pc = record->pc, fp = record->fp, next;
	bool is_entry = false;
	if (record->leads_out)
		return is_trampoline(walk, record);
	while (walk->records_seen < MAX_CHAIN && is_compiled_return(walk, pc, &is_entry)) {
		walk->records_seen++;
		if (!rcore_walk_word(walk, fp, &next) || !rcore_walk_word(walk, fp + WORD, &pc))
			return false;
		pc = rcore_walk_code_address(walk->unwinder, pc);
		/* C's frame pointer, which it keeps, may be anything. */
		if (next <= fp)
			return is_entry && rcore_walk_is_return(walk, pc);
		fp = next;
	}
	return is_entry && rcore_walk_is_return(walk, pc);
}

static void set_start(struct rcore_walk *walk, const struct record *record)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	struct rcore_unwind_registers registers = {.pc = record->pc};
	for (unsigned i = 0; i < machine->register_count; i++)
		if (rcore_register_known(&walk->at, i) &&
		    (machine->records.kept >> i & 1 || record->is_unset))
			rcore_register_set(&registers, i, walk->at.value[i]);
	for (size_t i = 0; record->leads_out && !record->is_unset && i < SAVED; i++) {
		unsigned number = machine->records.saved[i];
		uint64_t slot = record->slot - (i + 2) * WORD, value;
		if (slot >= walk->last.sp && rcore_walk_word(walk, slot, &value))
			rcore_register_set(&registers, number, value);
		else if (slot < walk->last.sp && rcore_register_known(&walk->at, number))
			rcore_register_set(&registers, number, walk->at.value[number]);
	}
	rcore_register_set(&registers, machine->sp, record->slot + WORD);
	rcore_register_set(&registers, machine->fp, record->fp);
	walk->start = registers;
	walk->trust = RCORE_TRUST_NO_CFI;
	walk->is_exact = walk->may_jump = false;
}

bool rcore_walk_resume_records(struct rcore_walk *walk)
{
	const struct rcore_unwind_machine *machine = walk->unwinder->machine;
	bool is_inside = walk->in_records;
	struct record record;
	walk->in_records = false;
	if (!machine->records.is_entry_call || !walk->context->ec || walk->last.site->module ||
	    walk->last.sp % WORD || !rcore_register_known(&walk->at, machine->fp) ||
	    (!find_unset(walk, &record) && !find_set(walk, &record)) ||
	    (!is_inside && !is_whole_chain(walk, &record)))
		return false;
	walk->in_records = !record.leads_out;
	set_start(walk, &record);
	return true;
}
