/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_UNWIND_ROW_H
#define RCORE_IMAGE_UNWIND_ROW_H

#include <elfutils/libdw.h>

#include "image/unwind/unwind_machine.h"

/*
 * Where the caller's registers are at one code address. libdwfl evaluates the
 * call frame information again for each frame of each stack; this is its
 * result, which can be applied in a few instructions. It exists only for
 * machines with a column for the return address (rcore_unwind_machine.pc).
 */
struct rcore_row {
	bool is_plain; /* otherwise libdwfl must apply it */
	struct {
		/*
		 * What the caller's value is: lost; that of this frame; the
		 * word at CFA + offset; or CFA + offset itself. CFA is the
		 * canonical frame address.
		 */
		enum {
			RCORE_RULE_LOST,
			RCORE_RULE_SAME,
			RCORE_RULE_SAVED,
			RCORE_RULE_OFFSET
		} rule;
		uint64_t offset;
	} columns[RCORE_MAX_DWARF_REGISTERS];
};

/*
 * Sets row->is_plain to false if a rule is none of these four, or if the return
 * address is not RCORE_RULE_SAVED.
 */
void rcore_row_init(struct rcore_row *row, Dwarf_Frame *frame,
		    const struct rcore_unwind_machine *machine);

/* Returns false if the word cannot be read. */
typedef bool rcore_row_read(void *context, uint64_t address, uint64_t *ret);

enum rcore_row_result {
	RCORE_ROW_APPLIED,
	/* The return address is 0, which ends the stack for libdwfl, too. */
	RCORE_ROW_ENDS,
	/* A word cannot be read; libdwfl then decides. */
	RCORE_ROW_UNREADABLE,
};

/*
 * Replaces the registers by those of the caller, or leaves them as they are.
 * Reads the words that libdwfl reads, in its order.
 */
enum rcore_row_result rcore_row_apply(const struct rcore_row *row,
				      const struct rcore_unwind_machine *machine,
				      uint64_t frame_address, rcore_row_read *read,
				      void *context, struct rcore_unwind_registers *registers);

#endif
