/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_FOREIGN_CORE_H
#define RCORE_TARGET_FOREIGN_CORE_H

#include <stdbool.h>

/*
 * Returns whether a plain file is a core that rcore did not write: it lacks the
 * notes of rcore_pack_write() and rcore_core_copy(), or they cannot be read.
 * Returns false for a file that cannot be read at all.
 */
bool rcore_is_foreign_core(const char *path);

#endif
