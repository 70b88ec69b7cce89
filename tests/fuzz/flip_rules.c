/* SPDX-License-Identifier: MIT */
#include "flip_rules.h"

#include <stddef.h>
#include <string.h>

#include "base/count.h"
#include "flip_compare.h"

enum {
	TEXT = FLIP_TEXT_LESS | FLIP_TEXT_BYTES,
	LABEL = TEXT | FLIP_LABEL,
	OTHER_TEXT = LABEL | FLIP_PATH | FLIP_NAME,
	TID = FLIP_THREAD_TID | FLIP_OTHERS | FLIP_CAUSE,
	/* Where that Ruby's own backtrace shows a frame, and with whose place. */
	NATIVE = FLIP_FRAME_SHOWN | FLIP_FRAME_LINE | FLIP_PATH | TEXT,
};

/* A role that ends in '*' means all roles that begin with it. */
static const struct {
	const char *role;
	unsigned effects;
} rules[] = {
	/* These are printed as they are. */
	{"String bytes", TEXT},
	{"string.ptr -> *", TEXT},
	{"thread.status", FLIP_THREAD_STATE},
	{"thread.to_kill", FLIP_THREAD_STATE},
	{"thread.tid", TID},
	{"thread.thread_id", TID},
	{"native_thread.tid", TID},
	{"ractor.id", FLIP_RACTOR},
	{"ractor.gvl_owner", FLIP_THREAD_STATE},
	{"ractor.sched_running", FLIP_THREAD_STATE},
	{"vm.gvl_owner", FLIP_THREAD_STATE},
	{"fiber.status", FLIP_FIBER_STATE},
	{"fiber.yielding", FLIP_FIBER_STATE},
	{"fiber.blocking", FLIP_FIBER_STATE},
	{"fiber.stack_base", FLIP_FIBER_STACKS},
	{"fiber.stack_size", FLIP_FIBER_STACKS},
	{"cfp.self", FLIP_FRAME_SELF},
	{"insn_info.line_no", FLIP_FRAME_LINE},
	{"iseq_body.first_lineno", FLIP_FRAME_LINE},

	/* A pc is NULL while a frame is being pushed. */
	{"cfp.pc", NATIVE | FLIP_FRAME_KIND},
	/* Unless it is NULL, compiled code runs the frame, whose line is then not known. */
	{"cfp.jit_return", FLIP_FRAME_LINE},

	/* From a position to its line: a table of which each entry may be right. */
	{"iseq_body.iseq_encoded", FLIP_FRAME_LINE},
	{"iseq_body.iseq_size", FLIP_FRAME_LINE},
	{"iseq_body.insns_info_*", FLIP_FRAME_LINE},
	{"iseq_body.succ_index_table*", FLIP_FRAME_LINE},
	{"iseq_body.builtin_attrs", NATIVE},

	/* From a method to its name, and to that of its class, which may have none: each lone
	 * pointers and numbers, to things that any other could point to as well. */
	{"cme.def", LABEL},
	{"cme.owner", LABEL},
	{"method_def.original_id", LABEL},
	{"classext.*", LABEL},
	{"klass.ptr", LABEL},
	{"st_table.*", LABEL},
	{"st_entry.*", LABEL},
	{"symbols.*", LABEL},
	{"array.*", OTHER_TEXT},
	{"Array bytes", OTHER_TEXT},
	{"string.*", OTHER_TEXT},
	{"env.me_cref", LABEL}, /* nothing else says which method of C runs */
	{"iseq_body.type", FLIP_TEXT_LESS},
	{"iseq_body.label", OTHER_TEXT},
	{"iseq_body.base_label", OTHER_TEXT},
	{"iseq_body.pathobj", OTHER_TEXT},
	/* Of a String or Array: embedded, and how long. Before 3.3, a fiber whose
	 * object has another type is lost (see below). */
	{"basic.flags", OTHER_TEXT | FLIP_FIBER_LOST},
	{"thread.name", TEXT | FLIP_NAME}, /* to another String */
	{"ractor.name", FLIP_RACTOR},      /* the same */

	/* Which frame is the innermost, and whose a parked fiber is. A method that C
	 * calls leaves no trace in its caller's frame, and its function may have no
	 * native frame (a tail call). */
	{"ec.cfp", FLIP_FRAME_LOST | FLIP_FRAME_POPPED},
	{"ec.thread_ptr", FLIP_FIBER_LINKS | FLIP_FIBER_STATE},

	/* NULL means that there is none. */
	{"thread.self", FLIP_THREAD_STATE},
	{"thread.nt", TID},
	{"thread.root_fiber", FLIP_FIBER_STATE},
	{"fiber.self", FLIP_FIBER_STATE},
	{"fiber.prev", FLIP_FIBER_LINKS},
	{"fiber.resuming_fiber", FLIP_FIBER_LINKS},
	{"ec.vm_stack", FLIP_FIBER_STACKS},
	{"ec.vm_stack_size", FLIP_FIBER_STACKS},
	{"vm.progname", NATIVE}, /* or another String */

	/* Before 3.3 a fiber is known by its object alone. */
	{"objspace.heap_pages_allocated", FLIP_FIBER_LOST},
	{"data.type", FLIP_FIBER_LOST},
	{"data.data", FLIP_FIBER_LOST},
	{"bulk", FLIP_FIBER_LOST},
};

static int matches(const char *role, const char *pattern)
{
	size_t length = strlen(pattern);
	return pattern[length - 1] == '*' ? !strncmp(role, pattern, length - 1)
					  : !strcmp(role, pattern);
}

unsigned flip_allowed(const char *role)
{
	for (size_t i = 0; i < RCORE_COUNT(rules); i++)
		if (matches(role, rules[i].role))
			return rules[i].effects;
	return 0;
}
