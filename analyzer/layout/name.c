/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "layout/schema.h"

/*
 * The C library's jmp_buf on x86-64. From 2.7 on configure takes
 * __builtin_setjmp's 40 bytes instead; up to 3.4 not with -fcf-protection: then
 * all of rb_fiber_t behind it moves.
 */
enum { LIBC_JMPBUF = 200 };

static bool is_cet(const struct rcore_layout *layout)
{
	bool builtin_elsewhere = layout->version[0] > 2 || layout->version[1] >= 7;
	return builtin_elsewhere && layout->fiber.jmpbuf.size == LIBC_JMPBUF;
}

void rcore_layout_set_table_name(struct rcore_layout *layout)
{
	const char *machine = rcore_machine_name(layout->machine);
	char range[RCORE_RANGE_TEXT];

	rcore_layout_print_range(layout, range);
	snprintf(layout->name, sizeof(layout->name), "%.40s-%s%s", range,
		 machine ? machine : "unknown", is_cet(layout) ? "-cet" : "");
}

void rcore_layout_print_range(const struct rcore_layout *layout, char ret[RCORE_RANGE_TEXT])
{
	const unsigned *version = layout->version;
	int length =
		snprintf(ret, RCORE_RANGE_TEXT, "%u.%u.%u", version[0], version[1], version[2]);
	if (layout->last_patch != version[2])
		snprintf(ret + length, RCORE_RANGE_TEXT - (size_t)length, "..%u.%u.%u",
			 version[0], version[1], layout->last_patch);
}
