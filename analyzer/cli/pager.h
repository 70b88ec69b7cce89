/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_PAGER_H
#define RCORE_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Runs the user's pager, RCORE_PAGER or PAGER or less, with `text` as its input
 * and waits until it ends. Returns false if there is none ("" and "cat" turn it
 * off) or if it could not run; nothing was shown then.
 */
bool rcore_pager_show(const char *text, size_t size);

#endif
