/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COMMANDS_H
#define RCORE_CLI_COMMANDS_H

/* Each takes its own arguments, argv[0] being the name that --help shows ("rcore
 * layout"), and gives the exit status; usage errors and --help end the process
 * within argp. */
int rcore_cli_layout(int argc, char **argv);

#endif
