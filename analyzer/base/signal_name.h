/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_SIGNAL_NAME_H
#define RCORE_BASE_SIGNAL_NAME_H

/*
 * "SIGSEGV"; "signal 99" where it has no name. In `buffer`, which is given
 * back.
 */
enum { RCORE_SIGNAL_SIZE = 24 };
const char *rcore_signal_name(int signo, char buffer[RCORE_SIGNAL_SIZE]);

#endif
