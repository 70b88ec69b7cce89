/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_START_H
#define RCORE_CLI_START_H

#include <signal.h>

#include "command/command.h"

/* A program that rcore starts, to look at it while it runs. */
struct rcore_started {
	int pid; /* 0: none */
};

/*
 * Starts it; its standard files are ours. Ctrl-C goes to it, too. Error: OS, it
 * cannot be run.
 */
struct rcore_error *rcore_start(const struct rcore_strings *command, struct rcore_started *ret);

/* Waits for its end if it has ended, and otherwise leaves it running. */
void rcore_start_leave(struct rcore_started *started);

/* Has Ctrl-C and SIGTERM counted from now on in place of ending rcore. */
void rcore_start_watch(void);
const volatile sig_atomic_t *rcore_start_interrupted(void);

#endif
