/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_ELF_MEMORY_H
#define RCORE_IMAGE_ELF_MEMORY_H

#include <stdbool.h>

/*
 * Returns whether elfutils lacked memory since errno was set to 0: malloc() has
 * set errno, or the last error of libelf, libdw or libdwfl says so. Forgets
 * these errors. Call it after each step, because the next one may replace them:
 * elfutils treats a section for which it lacks memory as missing, and
 * continues.
 */
bool rcore_elf_lacked_memory(void);

#endif
