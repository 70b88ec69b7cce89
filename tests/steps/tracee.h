/* SPDX-License-Identifier: MIT */
#ifndef STEPS_TRACEE_H
#define STEPS_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/process.h"

/*
 * A process that this one traces and moves by single instructions. One thread
 * moves at a time; all others are stopped, or sleep in a system call.
 */
enum tracee_state {
	TRACEE_STOPPED,
	TRACEE_BLOCKED, /* in the kernel; its registers are those that it has there */
	TRACEE_ENDED,
};

struct tracee_thread {
	int tid;
	enum tracee_state state;
	int signal;  /* to be delivered when it moves; 0: none */
	bool remaps; /* it is in a system call that changes what is mapped */
	uint64_t registers[RCORE_MAX_REGISTERS];
};

struct tracee {
	int pid;
	struct {
		struct tracee_thread *items;
		size_t count, capacity;
	} threads;
	size_t current;    /* the thread that moves */
	uint64_t rounds;   /* marks passed while it ran free */
	bool maps_changed; /* by a system call since the caller cleared it */
	bool has_ended;
};

/* Starts a command; its programs run free until tracee_run_to_mark(). */
void tracee_start(struct tracee *tracee, char **command);

/*
 * Runs it freely until it reaches the mark (getpgid(0), a system call that
 * nothing else makes) for the count-th time, and stops all threads. Returns
 * false if it ended before.
 */
bool tracee_run_to_mark(struct tracee *tracee, uint64_t count);

/*
 * Moves the current thread by one instruction. Returns false if it did not
 * move, because it blocked or ended, and another one is current now; has_ended
 * says whether there is one.
 */
bool tracee_step(struct tracee *tracee);

/* Makes another thread that can move the current one, chosen by `random`. */
void tracee_switch(struct tracee *tracee, uint64_t random);

void tracee_kill(struct tracee *tracee);

static inline struct tracee_thread *tracee_current(struct tracee *tracee)
{
	return &tracee->threads.items[tracee->current];
}

#endif
