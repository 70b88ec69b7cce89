/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_RECORDING_H
#define RCORE_CLI_RECORDING_H

#include <stdio.h>

/* Prints which options of `rcore record` work on this machine, and why not. */
void rcore_cli_print_recording(FILE *out);

#endif
