/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_PROGRESS_H
#define RCORE_CLI_PROGRESS_H

/*
 * Shows one line on standard error, if that is a terminal and the work has
 * taken longer than a second. rcore_cli_progress_end() removes it.
 */
void rcore_cli_progress_begin(void);
void rcore_cli_progress_end(void);

#endif
