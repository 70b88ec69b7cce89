/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SYSCALL_H
#define RCORE_TARGET_SYSCALL_H

#include "target/memory.h"
#include "target/process.h"

/*
 * The system call in which a kernel thread stood still, told by its registers:
 * on x86-64 orig_rax keeps the number (or is negative outside of one) and rax
 * says whether it was interrupted (-ERESTARTSYS ...); on aarch64 x8 keeps the
 * number and the instruction there, or the one before, is `svc #0`.
 */

/* What its first argument is, of those that can block. */
enum rcore_syscall_role {
	RCORE_SYSCALL_OTHER,
	/* A descriptor that it reads from, accepts on ... */
	RCORE_SYSCALL_READ,
	RCORE_SYSCALL_WRITE, /* a descriptor that it writes to, connects ... */
	RCORE_SYSCALL_EPOLL, /* an epoll descriptor */
	/* An array of struct pollfd, and how many they are. */
	RCORE_SYSCALL_POLL,
	RCORE_SYSCALL_SELECT, /* how many descriptors, then three fd_set */
	RCORE_SYSCALL_WAIT,   /* a child's pid */
};

struct rcore_syscall {
	int number;
	const char *name; /* NULL: none of those that block */
	enum rcore_syscall_role role;
	/* It had done nothing yet: not so of a write that was cut short. */
	bool unfinished;
	uint64_t arguments[6];
};

/*
 * False: it was in none, or the registers are not known. `memory` is read for
 * the instruction.
 */
bool rcore_syscall_of(unsigned machine, const struct rcore_native_thread *thread,
		      struct rcore_memory *memory, struct rcore_syscall *ret);

#endif
