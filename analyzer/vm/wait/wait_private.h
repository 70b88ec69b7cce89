/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WAIT_PRIVATE_H
#define RCORE_VM_WAIT_PRIVATE_H

#include "base/address_map.h"
#include "vm/wait/wait.h"

/*
 * Declares what the files of vm/wait/ share. A function is in wait_new.c unless
 * its comment names another file. wait.c calls them all.
 */

/* Objects that a fiber can wait for. */
enum rcore_sync_kind {
	RCORE_SYNC_NONE,
	RCORE_SYNC_MUTEX,
	RCORE_SYNC_MONITOR,
	RCORE_SYNC_QUEUE,
	RCORE_SYNC_SIZED_QUEUE,
	RCORE_SYNC_CONDITION,
	RCORE_SYNC_THREAD,
	RCORE_SYNC_RACTOR,
	RCORE_SYNC_IO, /* a T_FILE; `data` is its rb_io_t */
};

struct rcore_sync {
	enum rcore_sync_kind kind;
	uint64_t object, data; /* the VALUE, and the struct that it wraps */
	bool visited;          /* whether its lists of waiters were read */
};

struct rcore_waits {
	struct rcore_loader *loader;
	/* Each maps an address to an index. */
	struct rcore_address_map thread_of; /* Thread VALUE to thread */
	struct rcore_address_map fiber_of;  /* Fiber VALUE to fiber */
	struct rcore_address_map serial_of; /* ec.serial to fiber, 4.0 */
	struct rcore_address_map sync_of;   /* VALUE to syncs */
	struct rcore_address_map lock_of;   /* rb_mutex_t to locks */
	struct {
		struct rcore_sync *items;
		size_t count, capacity;
	} syncs; /* of the VALUEs seen so far */
	struct {
		struct rcore_lock *items;
		size_t count, capacity;
	} locks;
	/* The first fibers that load a file: wait_require.c needs two. */
	int loading[2];
	/* How many there are in all; -1: not yet known. */
	int loading_count;
};

/* Limits how much a hostile target can make rcore read. */
enum {
	RCORE_LOCK_LIMIT = 1000000,
	RCORE_WAITER_LIMIT = 1000000,
	/* between the innermost frame and the first of the program */
	RCORE_WAIT_FRAMES = 16,
	RCORE_WAIT_FDS = 1024,     /* in the arguments of one IO.select */
	RCORE_STACK_WORDS = 65536, /* of one VM stack, searched for a Mutex */
};

/*
 * Keeps the first error as the problem of the waits. Takes ownership of `err`.
 */
void rcore_wait_problem(struct rcore_waits *waits, struct rcore_error *err);

/*
 * Like rcore_list_of(), for nodes on the stacks of waiters: one of them may be
 * just being added (list_change.h).
 */
struct rcore_error *rcore_wait_list(struct rcore_waits *waits, uint64_t base,
				    const struct rcore_field *head,
				    const struct rcore_field *node, uint64_t **ret,
				    size_t *ret_count);

/*
 * Reads a field. Returns 0 if it cannot be read or if this Ruby does not have
 * it.
 */
uint64_t rcore_wait_field(struct rcore_waits *waits, uint64_t base,
			  const struct rcore_field *field);

/* Returns whether a frame runs a method of the object that is waited for. */
bool rcore_wait_has_method(const struct rcore_waits *waits, const struct rcore_wait *wait,
			   const struct rcore_frame *frame);

/*
 * Finds the kind of an object and the struct that it wraps; NONE for any other
 * value.
 */
struct rcore_error *rcore_wait_sync(struct rcore_waits *waits, uint64_t value,
				    struct rcore_sync *ret);

/*
 * Returns the fiber of a list's entry: `fiber`, or, if that is 0, the current
 * fiber of the thread. Returns -1 if it is not known.
 */
int rcore_wait_fiber(const struct rcore_waits *waits, uint64_t thread, uint64_t fiber);

/*
 * Adds a new wait of the fiber. Nothing is known about it yet. Returns NULL if
 * memory is short.
 */
struct rcore_wait *rcore_wait_new(struct rcore_waits *waits, int fiber,
				  enum rcore_wait_kind kind, enum rcore_wait_source source);

/*
 * Whether a fault of this thread ended the process. It then waited for nothing.
 */
bool rcore_wait_faulted(const struct rcore_waits *waits, const struct rcore_thread *thread);

/* Whether the thread of a current fiber is blocked. */
bool rcore_wait_is_blocked(const struct rcore_waits *waits, const struct rcore_fiber *fiber);

/* wait_locks.c: finds locks, owners, and who waits for a lock. */
struct rcore_error *rcore_wait_locks(struct rcore_waits *waits);
/*
 * Finds the lock of a Mutex, held or not. *ret is its index. Error: NO_MEMORY.
 */
struct rcore_error *rcore_wait_lock_at(struct rcore_waits *waits, uint64_t address,
				       uint64_t object, int *ret);
/*
 * wait_names.c: finds the VALUE of each lock, and that of the Monitor around
 * it.
 */
struct rcore_error *rcore_wait_lock_names(struct rcore_waits *waits);
/* wait_join.c, wait_gvl.c, wait_io.c: read the lists of the VM. */
struct rcore_error *rcore_wait_joins(struct rcore_waits *waits);
struct rcore_error *rcore_wait_gvl(struct rcore_waits *waits);
struct rcore_error *rcore_wait_io(struct rcore_waits *waits);

/*
 * wait_sync.c: sets the wait of every fiber in the object's lists of waiters.
 */
struct rcore_error *rcore_wait_visit(struct rcore_waits *waits, const struct rcore_sync *sync);

/*
 * The methods of CRuby itself in which the fiber blocks: C methods and those of
 * <internal:...>, from the innermost frame to the first frame of the program.
 */
struct rcore_wait_place {
	const struct rcore_fiber *fiber;
	const char *hook;  /* of the scheduler, or NULL */
	size_t hook_frame; /* if there is one */
	size_t first, end; /* indices of frames */
};

/*
 * wait_times.c: sets *ret to a number of seconds as Ruby inspects it. Does not
 * change *ret if it cannot be read.
 */
struct rcore_error *rcore_wait_seconds(struct rcore_waits *waits, uint64_t value,
				       const char **ret);
/* Sets the timeout of a wait, unless it is nil. */
struct rcore_error *rcore_wait_set_time(struct rcore_waits *waits, struct rcore_wait *wait,
					uint64_t value);
/* Sets the timeout if a method or hook on the stack has it as a parameter. */
struct rcore_error *rcore_wait_times(struct rcore_waits *waits, struct rcore_wait *wait,
				     const struct rcore_wait_place *place);

/* wait_resolve.c: whether a method looks up the name of a host. */
bool rcore_wait_resolves(struct rcore_waits *waits, const struct rcore_wait_place *place);
/* Sets the name that is looked up. */
struct rcore_error *rcore_wait_set_name(struct rcore_waits *waits, struct rcore_wait *wait,
					const struct rcore_wait_place *place);

/*
 * wait_require.c: sets the file for which a fiber waits in require, and finds
 * the wait for an autoload of another thread.
 */
struct rcore_error *rcore_wait_require(struct rcore_waits *waits, int fiber);
/* wait_within.c: finds the Timeout.timeout around the wait of a fiber. */
struct rcore_error *rcore_wait_within(struct rcore_waits *waits, int fiber);
/* wait_frames.c: reads the methods on the stack. */
struct rcore_error *rcore_wait_frames(struct rcore_waits *waits, int fiber);
/* Sets the process that a PROCESS waits for, if the value is a Fixnum. */
void rcore_wait_set_pid(struct rcore_wait *wait, uint64_t value);
/*
 * wait_child.c: finds the child that a thread of Process.detach waits for, if
 * nothing better than its system call is known.
 */
struct rcore_error *rcore_wait_child(struct rcore_waits *waits, int fiber);
/*
 * wait_async.c: finds what a parked fiber waits for if only the gem async knows
 * it. The second function counts the waiters of each such object.
 */
struct rcore_error *rcore_wait_async(struct rcore_waits *waits, int fiber);
struct rcore_error *rcore_wait_async_count(struct rcore_waits *waits);
/*
 * Returns whether the time of a block of that gem is reported as the timeout of
 * the wait. A sleep has its own time, and the text of the other kinds has none.
 */
bool rcore_wait_takes_block_time(const struct rcore_wait *wait);
/*
 * wait_scheduler.c: finds the innermost frame of a hook of the fiber scheduler;
 * -1 if there is none.
 */
int rcore_wait_hook(struct rcore_waits *waits, const struct rcore_fiber *fiber,
		    const char **ret_name);
/*
 * wait_join.c: when a program ends, its main thread kills all other threads and
 * waits for their end (rb_thread_terminate_all() of thread.c). It has no frame
 * any more. Takes the first that is left: its `ensure` may be stuck.
 */
struct rcore_error *rcore_wait_ending(struct rcore_waits *waits, int fiber);
/*
 * wait_syscall.c: reads the system call from the registers of a current fiber.
 */
struct rcore_error *rcore_wait_syscall(struct rcore_waits *waits, int fiber);
/*
 * Whether the system call of a current fiber is one that connects a socket, or
 * waits for a descriptor to write to.
 */
bool rcore_wait_connects(struct rcore_waits *waits, const struct rcore_fiber *fiber);

/*
 * wait_arguments.c: reads the arguments of the C method in frame `index`, in
 * order, at most `limit`. Returns -1 if they are not known because C called the
 * method.
 */
int rcore_wait_arguments(struct rcore_waits *waits, const struct rcore_fiber *fiber,
			 size_t index, uint64_t *ret, size_t limit);
/*
 * Reads the parameter at `place` of a method written in Ruby. Returns false if
 * it has none there.
 */
bool rcore_wait_parameter(struct rcore_waits *waits, const struct rcore_frame *frame,
			  size_t place, uint64_t *ret);

/*
 * wait_fd.c: adds a descriptor to a wait, with what its IO (or 0) says about
 * it.
 */
struct rcore_error *rcore_wait_add_fd(struct rcore_waits *waits, struct rcore_wait *wait,
				      int fd, const char *mode, uint64_t io);
/* Does the same for an IO object, and nothing for any other value. */
struct rcore_error *rcore_wait_add_io(struct rcore_waits *waits, struct rcore_wait *wait,
				      uint64_t object, const char *mode);

#endif
