/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_SIGNAL_NAME_H
#define RCORE_BASE_SIGNAL_NAME_H

/*
 * Returns "SIGSEGV", or "signal 99" for a signal without a name. Uses `buffer`
 * and returns it.
 */
enum { RCORE_SIGNAL_SIZE = 24 };
const char *rcore_signal_name(int signo, char buffer[RCORE_SIGNAL_SIZE]);

#endif
