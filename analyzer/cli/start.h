/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_START_H
#define RCORE_CLI_START_H

#include <signal.h>
#include <stdint.h>

#include "command/command.h"

/* A program that rcore starts in order to watch it. */
struct rcore_started {
	int pid;        /* 0: none */
	uint64_t began; /* rcore_clock_ns() at its start */
	bool has_ended;
	int status; /* if it has ended: as wait(2) returns it */
};

/*
 * Starts the program with rcore's own standard files. If `output` is not -1,
 * the program writes to it wherever it would write to a terminal, and reads
 * nothing from one. Ctrl-C reaches the program, too. Error: OS if it cannot be
 * run.
 */
struct rcore_error *rcore_start(const struct rcore_strings *command, int output,
				struct rcore_started *ret);

/*
 * Waits at most so many milliseconds for the program to end. Sets `has_ended`
 * and `status` if it does; otherwise leaves it running.
 */
void rcore_start_wait(struct rcore_started *started, unsigned milliseconds);

/*
 * From now on, SIGINT, SIGTERM and SIGHUP set *rcore_start_interrupted() and do
 * not end rcore, and a write beyond `ulimit -f` fails with EFBIG.
 */
void rcore_start_watch(void);
const volatile sig_atomic_t *rcore_start_interrupted(void);

#endif
