/* SPDX-License-Identifier: MIT */
#include "layout/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rcore_version_parse(const char *text, unsigned ret[3])
{
	unsigned version[3];

	for (int i = 0; i < 3; i++) {
		char *end;
		if (*text < '0' || *text > '9')
			return false;
		unsigned long part = strtoul(text, &end, 10);
		if (part > 999 || *end != (i < 2 ? '.' : '\0'))
			return false;
		version[i] = (unsigned)part;
		text = end + 1;
	}
	for (int i = 0; i < 3; i++)
		ret[i] = version[i];
	return true;
}

bool rcore_version_range_parse(const char *text, unsigned ret[3], unsigned *ret_last_patch)
{
	char text_of_first[16];
	unsigned first[3], last[3];
	const char *dots = strstr(text, "..");
	size_t length = dots ? (size_t)(dots - text) : strlen(text);

	if (length >= sizeof(text_of_first))
		return false;
	memcpy(text_of_first, text, length);
	text_of_first[length] = '\0';
	if (!rcore_version_parse(text_of_first, first) ||
	    !rcore_version_parse(dots ? dots + 2 : text, last) || last[0] != first[0] ||
	    last[1] != first[1] || last[2] < first[2])
		return false;
	memcpy(ret, first, sizeof(first));
	*ret_last_patch = last[2];
	return true;
}

/*
 * The size of the C library's jmp_buf on x86-64. From 2.7 on, configure chooses
 * __builtin_setjmp() instead, whose buffer has 40 bytes. Up to 3.4, it does not
 * with -fcf-protection, so all members of rb_fiber_t after the buffer move.
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
