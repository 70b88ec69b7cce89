/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_SYSCALL_H
#define RCORE_TARGET_SYSCALL_H

#include "target/memory.h"
#include "target/process.h"

/*
 * Finds the system call in which a kernel thread was stopped, from its
 * registers. On x86-64, orig_rax is the number (negative outside of a call),
 * and rax says whether it was interrupted (-ERESTARTSYS ...). On aarch64, x8 is
 * the number, and the instruction there, or the one before, is `svc #0`.
 */

/*
 * orig_rax if a debugger does not know it, as LLDB 19. Then only a call that
 * the stop interrupted is found, by the code before it.
 */
#define RCORE_SYSCALL_UNKNOWN INT64_MIN

/* What the first argument is, for calls that can block. */
enum rcore_syscall_role {
	RCORE_SYSCALL_OTHER,
	/* A descriptor that it reads, accepts on ... */
	RCORE_SYSCALL_READ,
	RCORE_SYSCALL_WRITE, /* a descriptor that it writes, connects ... */
	RCORE_SYSCALL_EPOLL, /* an epoll descriptor */
	/* An array of struct pollfd, and its length. */
	RCORE_SYSCALL_POLL,
	RCORE_SYSCALL_SELECT, /* the number of descriptors, then three fd_set */
	RCORE_SYSCALL_WAIT,   /* a child's pid */
	RCORE_SYSCALL_OPEN,   /* a path */
	/* A folder's descriptor; then comes a path. */
	RCORE_SYSCALL_OPEN_AT,
};

struct rcore_syscall {
	int number;
	const char *name; /* NULL: not one of those that block */
	enum rcore_syscall_role role;
	/* It has not done anything yet, unlike a write that was interrupted. */
	bool unfinished;
	uint64_t arguments[6];
};

/*
 * Returns false if it was in none, or the registers are not known. Reads the
 * instruction from `memory`.
 */
bool rcore_syscall_of(unsigned machine, const struct rcore_native_thread *thread,
		      struct rcore_memory *memory, struct rcore_syscall *ret);

/*
 * Returns whether the stop interrupted a system call of the thread. Always
 * false on aarch64: there, the kernel resets pc and x0 before the stop
 * (do_signal() of arch/arm64/kernel/signal.c), so that the registers do not
 * show it.
 */
bool rcore_syscall_is_interrupted(unsigned machine, const struct rcore_native_thread *thread);

/*
 * If a core's process sent itself the signal with kill(2), as Process.kill
 * does, the kernel gave it to any thread, preferably the main one. Sets
 * crashed_tid to the thread that is still in this call; to 0 if there is none.
 */
void rcore_syscall_find_killer(struct rcore_process *process, struct rcore_memory *memory);

#endif
