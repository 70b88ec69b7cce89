/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_WAIT_H
#define RCORE_MODEL_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What fibers wait for, who holds which lock, and which fibers wait for each
 * other. New kinds are added before RCORE_WAIT_KINDS.
 */
enum rcore_wait_kind {
	RCORE_WAIT_MUTEX,     /* to lock a Mutex */
	RCORE_WAIT_MONITOR,   /* to enter a Monitor */
	RCORE_WAIT_POP,       /* for an item of a Queue or SizedQueue */
	RCORE_WAIT_PUSH,      /* for room in a SizedQueue */
	RCORE_WAIT_CONDITION, /* for a ConditionVariable's signal */
	RCORE_WAIT_JOIN,      /* for a thread to end */
	RCORE_WAIT_SLEEP,     /* Kernel#sleep, Mutex#sleep */
	RCORE_WAIT_STOP,      /* Thread.stop: for Thread#wakeup */
	RCORE_WAIT_IO,        /* for file descriptors */
	RCORE_WAIT_PROCESS,   /* for a child process */
	RCORE_WAIT_RACTOR,    /* for a message, or another Ractor's value */
	RCORE_WAIT_GVL,       /* to run: another thread of its Ractor runs */
	/* In a hook of the fiber scheduler, otherwise unknown. */
	RCORE_WAIT_SCHEDULER,
	RCORE_WAIT_SYSCALL, /* in a system call, otherwise unknown */
	RCORE_WAIT_RESOLVE, /* for the address of a host's name */
	/* For a connection of a pool; `object` is the pool. */
	RCORE_WAIT_CONNECTION,
	RCORE_WAIT_SEMAPHORE, /* to acquire a semaphore of a library */
	RCORE_WAIT_TASK,      /* for a task of a library, a fiber, to end */
	RCORE_WAIT_INTERLOCK, /* for the interlock of Rails, `object` */
	/* For a file that an autoload of another thread loads: up to 3.1. */
	RCORE_WAIT_AUTOLOAD,
	RCORE_WAIT_KINDS, /* how many kinds there are */
};

/* How that is known, most reliable first. */
enum rcore_wait_source {
	RCORE_WAIT_BY_VM, /* it is in the VM's own list of waiters */
	/* It does not run, and its innermost method blocks. */
	RCORE_WAIT_BY_FRAME,
	RCORE_WAIT_BY_SYSCALL, /* the registers of its kernel thread */
};

/* Who holds a lock. If all members are unknown, nobody does. */
struct rcore_owner {
	int thread, fiber; /* indices into the snapshot; -1: none or unknown */
	/* Of a rb_fiber_t (4.0: ec.serial) that has ended; 0: none. */
	uint64_t address;
};

struct rcore_wait_fd {
	int fd;
	/* "read", "write", "except"; "lock": flock(); NULL: unknown */
	const char *mode;
	const char *path; /* IO#path; NULL: none or unknown */
	/* What a running process has open: a path, "socket:[123]". */
	const char *link;
};

struct rcore_wait {
	enum rcore_wait_kind kind;
	enum rcore_wait_source source;
	/* That waits, like rcore_frame.label; NULL: unknown. */
	const char *method;
	const char *hook; /* of the fiber scheduler: "block"; NULL: none */
	uint64_t object;  /* VALUE of what it waits for; 0: none or unknown */
	/* rb_mutex_t: MUTEX, MONITOR; CONDITION: the one to lock again. */
	uint64_t lock;
	/* MUTEX, MONITOR, GVL; TASK: its fiber; AUTOLOAD: who loads */
	struct rcore_owner owner;
	int thread;      /* JOIN: index of the thread; -1: unknown */
	uint64_t ractor; /* RACTOR: whose value, by id; 0: unknown */
	/*
	 * POP, PUSH, CONNECTION, SEMAPHORE, INTERLOCK: the next three are
	 * known.
	 */
	bool has_counts;
	/*
	 * Items in the queue, or connections in use, or how often a semaphore
	 * is acquired, or how many threads hold the interlock; and how many
	 * fibers wait like this one, including it.
	 */
	uint64_t length, waiting;
	/* Of a SizedQueue, pool or semaphore; 0: a Queue, or unknown. */
	uint64_t max;
	bool is_timed; /* has a timeout */
	/*
	 * As Ruby inspects it: the timeout, "0.5"; RESOLVE: the host's name;
	 * SYSCALL: the path of the file that it opens; MUTEX: the file that it
	 * requires, which another thread loads. NULL: unknown.
	 */
	const char *argument;
	bool has_pid;
	/* PROCESS; -1: any child. IO, "lock": the process that holds it. */
	int pid;
	struct rcore_wait_fd *fds;
	size_t fd_count;
	const char *syscall; /* SYSCALL: its name */
	/*
	 * The class of `object` if it is not one of Ruby's own:
	 * "Async::Semaphore". NULL: it is, or the class is unknown.
	 */
	const char *type;
	/*
	 * "Timeout.timeout": the method that ends the wait after some time,
	 * because the wait is in its block. Of several, the one with the fewest
	 * seconds. NULL: none.
	 */
	const char *within;
	const char *within_seconds; /* as Ruby inspects it; NULL: unknown */
	/*
	 * INTERLOCK: "lock", to be its only holder, or "share". NULL: it has
	 * unlocked it, and lets others go first.
	 */
	const char *wants;
};

enum rcore_lock_kind {
	RCORE_LOCK_MUTEX,
	RCORE_LOCK_MONITOR, /* the Mutex inside a Monitor */
	RCORE_LOCK_WRITE,   /* the Mutex of an IO's output */
};

/* A Mutex that is locked. */
struct rcore_lock {
	enum rcore_lock_kind kind;
	uint64_t address; /* rb_mutex_t */
	uint64_t object;  /* VALUE of the Mutex, Monitor or IO; 0: unknown */
	uint64_t count;   /* of a Monitor: how often its owner has entered it */
	struct rcore_owner owner;
	int *waiters; /* indices of fibers, in the order in which they came */
	size_t waiter_count;
	const char *problem;
};

/*
 * A pool of connections, such as Active Record's, for which fibers wait. A
 * semaphore and the interlock of Rails count as pools, too.
 */
struct rcore_pool {
	enum rcore_wait_kind kind; /* of the fibers that wait for it */
	const char *library;       /* "Active Record" */
	const char *resource;      /* "a database connection" */
	uint64_t object;           /* VALUE */
	uint64_t size;             /* 0: unknown */
	uint64_t used;             /* how many connections are in use */
	bool is_used_unknown;      /* not all of them were read */
	/* Fibers that have the connections were not looked for, or not all. */
	bool is_unread;
	/* Fibers that have the connections, if they are known. */
	int *holders;
	size_t holder_count;
	int *waiters; /* fibers */
	size_t waiter_count;
	/* INTERLOCK: its only holder has locked it. */
	bool is_exclusive;
	/*
	 * INTERLOCK: fibers that have released their share to lock it. No other
	 * fiber begins to share it before they have.
	 */
	int *first;
	size_t first_count;
};

/* Fibers that wait for each other, or for one that has ended. */
struct rcore_deadlock {
	int *fibers; /* indices; each waits for the next */
	size_t count;
	/* The last waits for the first; false: the last has ended. */
	bool is_cycle;
	const char *text; /* one sentence */
};

struct rcore_snapshot;

/*
 * Writes what a fiber does, without its name: "waits for Mutex 0x7f12 held by
 * T3". Bytes of the target are escaped.
 */
RCORE_API void rcore_wait_write(const struct rcore_snapshot *snapshot,
				const struct rcore_wait *wait, FILE *out);

/*
 * Returns a constant name, such as "mutex". For a kind of a later release,
 * "unknown".
 */
RCORE_API const char *rcore_wait_kind_name(enum rcore_wait_kind kind);

#ifdef __cplusplus
}
#endif

#endif
