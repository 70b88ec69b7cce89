/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "layout/schema.h"

/* The C library's jmp_buf on x86-64. configure takes __builtin_setjmp's 40 bytes
 * instead, except with -fcf-protection: then all of rb_fiber_t behind it moves. */
enum { LIBC_JMPBUF = 200 };

void rcore_layout_set_table_name(struct rcore_layout *layout)
{
	const char *machine = rcore_machine_name(layout->machine);

	snprintf(layout->name, sizeof(layout->name), "%u.%u.%u-%s%s", layout->version[0],
		 layout->version[1], layout->version[2], machine ? machine : "unknown",
		 layout->fiber.jmpbuf.size == LIBC_JMPBUF ? "-cet" : "");
}
