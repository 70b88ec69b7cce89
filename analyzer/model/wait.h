/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WAIT_H
#define RCORE_MODEL_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * What a fiber waits for, who holds which lock, and who waits for each other. To add a kind: its
 * line here, its words in model/wait_words.c, and who finds it in vm/wait_*.c.
 */
enum rcore_wait_kind {
	RCORE_WAIT_MUTEX,     /* to lock a Mutex */
	RCORE_WAIT_MONITOR,   /* to enter a Monitor */
	RCORE_WAIT_POP,       /* for an item of a Queue or SizedQueue */
	RCORE_WAIT_PUSH,      /* for room in a SizedQueue */
	RCORE_WAIT_CONDITION, /* for a ConditionVariable's signal */
	RCORE_WAIT_JOIN,      /* for a thread's end */
	RCORE_WAIT_SLEEP,     /* Kernel#sleep, Mutex#sleep */
	RCORE_WAIT_STOP,      /* Thread.stop: for Thread#wakeup */
	RCORE_WAIT_IO,        /* for file descriptors */
	RCORE_WAIT_PROCESS,   /* for a child process */
	RCORE_WAIT_RACTOR,    /* for a message, or another Ractor's value */
	RCORE_WAIT_GVL,       /* to run: another thread of its Ractor does */
	RCORE_WAIT_SCHEDULER, /* in a hook of the fiber scheduler, nothing more is known */
	RCORE_WAIT_SYSCALL,   /* in a system call, nothing more is known */
	RCORE_WAIT_KINDS,
};

/* How it is known, best first. */
enum rcore_wait_source {
	RCORE_WAIT_BY_VM,      /* it stands in the VM's own list of who waits */
	RCORE_WAIT_BY_FRAME,   /* the method that its stack is in blocks, and it does not run */
	RCORE_WAIT_BY_SYSCALL, /* the registers of its kernel thread */
};

/* Who holds a lock. All unknown: nobody. */
struct rcore_owner {
	int thread, fiber; /* indices into the snapshot; -1: none or unknown */
	uint64_t address;  /* of a rb_fiber_t (4.0: ec.serial) that is no more; 0: none */
};

struct rcore_wait_fd {
	int fd;
	const char *mode; /* "read", "write", "except"; NULL: unknown */
	const char *path; /* IO#path, as the IO has it; NULL: none or unknown */
	const char *link; /* what a running process has open there: a path, "socket:[123]" */
};

struct rcore_wait {
	enum rcore_wait_kind kind;
	enum rcore_wait_source source;
	const char *
		method; /* that waits, as rcore_frame.label: "Thread::Queue#pop"; NULL: unknown */
	const char *hook; /* of the fiber scheduler: "block"; NULL: in none */
	uint64_t object;  /* VALUE of what it waits for; 0: none or unknown */
	uint64_t lock;    /* rb_mutex_t: MUTEX, MONITOR; of a CONDITION the one to lock again */
	struct rcore_owner owner; /* of MUTEX, MONITOR, GVL */
	int thread;               /* index, JOIN: whose end; -1: unknown */
	uint64_t ractor;          /* id, RACTOR: whose value; 0: unknown */
	bool has_counts;          /* POP, PUSH: the next three */
	uint64_t length, waiting; /* items in it; who wait as this one does, itself too */
	uint64_t max;             /* of a SizedQueue; 0: a Queue */
	bool is_timed;            /* it ends by itself, in time */
	const char *argument; /* how long, as Ruby inspects it: "0.5"; NULL: none or unknown */
	bool has_pid;
	int pid; /* PROCESS: -1 any child */
	struct rcore_wait_fd *fds;
	size_t fd_count;
	const char *syscall; /* its name, SYSCALL only */
};

enum rcore_lock_kind {
	RCORE_LOCK_MUTEX,
	RCORE_LOCK_MONITOR, /* the Mutex inside one */
	RCORE_LOCK_WRITE,   /* that of an IO's output */
};

/* A Mutex that is locked. */
struct rcore_lock {
	enum rcore_lock_kind kind;
	uint64_t address; /* rb_mutex_t */
	uint64_t object;  /* VALUE of the Mutex, Monitor or IO; 0: nothing at hand names it */
	uint64_t count;   /* of a Monitor: how often its owner has entered it */
	struct rcore_owner owner;
	int *waiters; /* indices of fibers, first come first */
	size_t waiter_count;
	const char *problem;
};

/* Fibers that wait for each other, or for one that can never answer. */
struct rcore_deadlock {
	int *fibers; /* indices; each waits for the next, and if `is_cycle` the last for the first */
	size_t count;
	bool is_cycle;    /* false: the last one holds a lock and has ended */
	const char *text; /* one sentence */
};

struct rcore_snapshot;

/* "T3" where a fiber is all that its thread has, else "T3.F2". */
const char *rcore_fiber_words(const struct rcore_snapshot *snapshot, int fiber);

/* Writes "Mutex 0x7f12 held by T3": a lock and its owner, or that nobody has it. */
void rcore_lock_write(const struct rcore_snapshot *snapshot, enum rcore_lock_kind kind,
		      uint64_t object, uint64_t lock, const struct rcore_owner *owner,
		      FILE *out);

/* Writes what a fiber does, after its name: "waits for Mutex 0x7f12 held by T3". What comes of the
 * target is escaped. */
void rcore_wait_write(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
		      FILE *out);

/* "mutex", "vm": names for JSON, that stay as they are; constants. */
const char *rcore_wait_kind_name(enum rcore_wait_kind kind);
const char *rcore_lock_kind_name(enum rcore_lock_kind kind);
const char *rcore_wait_source_name(enum rcore_wait_source source);

#endif
