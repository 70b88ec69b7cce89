/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_PROGRESS_H
#define RCORE_CLI_PROGRESS_H

/*
 * One line on the standard error, if that is a terminal, once the work has
 * taken over a second; end takes it away again.
 */
void rcore_cli_progress_begin(void);
void rcore_cli_progress_end(void);

#endif
