/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_PRSTATUS_H
#define RCORE_TARGET_PRSTATUS_H

/*
 * Offsets in struct elf_prstatus and struct elf_prpsinfo of the kernel's
 * linux/elfcore.h; the same on both machines, except for the number of
 * registers.
 */
enum {
	RCORE_PRSTATUS_CURSIG = 12,
	RCORE_PRSTATUS_SIGPEND = 16,
	RCORE_PRSTATUS_PID = 32,
	RCORE_PRSTATUS_TIMES = 48,
	RCORE_PRSTATUS_REG = 112,
	/* pr_fpvalid and padding follow the registers. */
	RCORE_PRSTATUS_MAX = 112 + 8 * 34 + 8,

	RCORE_PRPSINFO_PID = 24,
	RCORE_PRPSINFO_FNAME = 40,
	RCORE_PRPSINFO_PSARGS = 56,
	RCORE_PRPSINFO_SIZE = 136,
};

#endif
