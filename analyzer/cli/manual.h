/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_MANUAL_H
#define RCORE_CLI_MANUAL_H

/*
 * `rcore manual [COMMAND]` prints the manual page of rcore, or of a command,
 * for man(1). `make` installs what it prints. The date of the page is
 * SOURCE_DATE_EPOCH if that is set.
 */
int rcore_cli_manual(int argc, char **argv);

#endif
