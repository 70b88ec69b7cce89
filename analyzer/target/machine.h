/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_MACHINE_H
#define RCORE_TARGET_MACHINE_H

/*
 * ELF machine numbers (EM_*) by the names that tables, reports and uname use:
 * "x86_64", "aarch64". NULL and 0 for unsupported machines.
 */
const char *rcore_machine_name(unsigned machine);
unsigned rcore_machine_number(const char *name);

#endif
