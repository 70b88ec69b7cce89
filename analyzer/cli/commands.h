/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COMMANDS_H
#define RCORE_CLI_COMMANDS_H

/* Each takes its own arguments, argv[0] being the name that --help shows ("rcore
 * layout"), and gives the exit status; usage errors and --help end the process
 * within argp. These take no TARGET; those that do are in command/. */
int rcore_cli_layout(int argc, char **argv);
int rcore_cli_collect(int argc, char **argv);
int rcore_cli_triage(int argc, char **argv);

/* These two become the debugger. */
int rcore_cli_gdb(int argc, char **argv);
int rcore_cli_lldb(int argc, char **argv);

/* The last lines of each --help. */
#define RCORE_CLI_EXIT_STATUS                                                                 \
	"Exit status: 0 all was decoded; 1 a thread, fiber or frame that is there could not " \
	"be "                                                                                 \
	"decoded (what could be is printed); 2 nothing could, or the report could not be "    \
	"written; 3 not a Ruby process; 64 wrong usage."

#endif
