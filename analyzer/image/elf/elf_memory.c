/* SPDX-License-Identifier: MIT */
#include "image/elf/elf_memory.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <libelf.h>
#include <string.h>

#include "base/count.h"

/*
 * elfutils' error numbers are private, but its messages for this error are
 * alike. rcore never calls setlocale(), so they are in English.
 */
static bool is_about_memory(const char *message)
{
	static const char *const messages[] = {"out of memory", "Not enough memory",
					       "Cannot allocate memory"};
	for (size_t i = 0; i < RCORE_COUNT(messages); i++)
		if (message && strstr(message, messages[i]))
			return true;
	return false;
}

bool rcore_elf_lacked_memory(void)
{
	int errnum = errno, elf = elf_errno(), dwarf = dwarf_errno(), dwfl = dwfl_errno();
	bool is_short = errnum == ENOMEM || (elf && is_about_memory(elf_errmsg(elf))) ||
			(dwarf && is_about_memory(dwarf_errmsg(dwarf))) ||
			(dwfl && is_about_memory(dwfl_errmsg(dwfl)));
	errno = errnum;
	return is_short;
}
