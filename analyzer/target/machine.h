/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MACHINE_H
#define RCORE_TARGET_MACHINE_H

/*
 * Returns the name of an ELF machine number (EM_*), as `uname -m`, tables and
 * reports print it: "x86_64" or "aarch64". NULL if rcore does not support it.
 */
const char *rcore_machine_name(unsigned machine);
/* Returns the number of the machine with this name; 0 if there is none. */
unsigned rcore_machine_number(const char *name);

#endif
