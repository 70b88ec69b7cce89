/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_WAIT_PRIVATE_H
#define RCORE_VM_WAIT_PRIVATE_H

#include "base/address_map.h"
#include "vm/wait/wait.h"

/*
 * What the files of vm/wait/ share. wait_new.c defines it unless another file is
 * named; wait.c calls them all.
 */

/* Objects that can be waited for. */
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
	uint64_t object, data; /* VALUE, and the struct that it wraps */
	bool visited;          /* its lists of who waits were walked */
};

struct rcore_waits {
	struct rcore_loader *loader;
	struct rcore_address_map thread_of; /* Thread VALUE to index */
	struct rcore_address_map fiber_of;  /* Fiber VALUE to index */
	struct rcore_address_map serial_of; /* ec.serial to index of fiber, 4.0 */
	struct rcore_address_map sync_of;   /* VALUE to index in syncs */
	struct rcore_address_map lock_of;   /* rb_mutex_t to index in locks */
	struct {
		struct rcore_sync *items;
		size_t count, capacity;
	} syncs; /* of the VALUEs looked at so far */
	struct {
		struct rcore_lock *items;
		size_t count, capacity;
	} locks;
};

/* Bounds on what a hostile target can make us walk. */
enum {
	RCORE_LOCK_LIMIT = 1000000,
	RCORE_WAITER_LIMIT = 1000000,
	RCORE_WAIT_FRAMES = 16,    /* between the innermost frame and the program's own */
	RCORE_WAIT_FDS = 1024,     /* that one IO.select is told of */
	RCORE_STACK_WORDS = 65536, /* of one VM stack, looked at for a Mutex */
};

/* Notes the first list that could not be read; takes ownership. */
void rcore_wait_problem(struct rcore_waits *waits, struct rcore_error *err);

/*
 * As rcore_list_of(), of nodes on the stacks of those who wait: one of them may
 * just be put there (list_change.h).
 */
struct rcore_error *rcore_wait_list(struct rcore_waits *waits, uint64_t base,
				    const struct rcore_field *head,
				    const struct rcore_field *node, uint64_t **ret,
				    size_t *ret_count);

/* A field, 0 where it cannot be read or this Ruby has none. */
uint64_t rcore_wait_field(struct rcore_waits *waits, uint64_t base,
			  const struct rcore_field *field);

/* The kind of an object and the struct behind it; NONE for any other value. */
struct rcore_error *rcore_wait_sync(struct rcore_waits *waits, uint64_t value,
				    struct rcore_sync *ret);

/* The fiber that a list's entry names: `fiber`, or where that is 0 the one that the thread runs.
 * -1: none that is known. */
int rcore_wait_fiber(const struct rcore_waits *waits, uint64_t thread, uint64_t fiber);

/* Gives the fiber a new wait, with all of it unknown; NULL: memory is short. */
struct rcore_wait *rcore_wait_new(struct rcore_waits *waits, int fiber,
				  enum rcore_wait_kind kind, enum rcore_wait_source source);

/* Did the thread die of what it did itself? It waited for nothing then. */
bool rcore_wait_faulted(const struct rcore_waits *waits, const struct rcore_thread *thread);

/* Does the thread of a current fiber stand still? */
bool rcore_wait_is_blocked(const struct rcore_waits *waits, const struct rcore_fiber *fiber);

/* wait_locks.c: locks, owners, and who waits to lock. */
struct rcore_error *rcore_wait_locks(struct rcore_waits *waits);
/* The lock behind a Mutex, held or not; -1: memory is short. */
struct rcore_error *rcore_wait_lock_at(struct rcore_waits *waits, uint64_t address,
				       uint64_t object, int *ret);
/* wait_names.c: the VALUE of each lock, and of the Monitor around it. */
struct rcore_error *rcore_wait_lock_names(struct rcore_waits *waits);
/* wait_join.c, wait_gvl.c, wait_io.c: the lists of the VM. */
struct rcore_error *rcore_wait_joins(struct rcore_waits *waits);
struct rcore_error *rcore_wait_gvl(struct rcore_waits *waits);
struct rcore_error *rcore_wait_io(struct rcore_waits *waits);

/* wait_sync.c: sets the wait of all that are in the object's lists of who waits. */
struct rcore_error *rcore_wait_visit(struct rcore_waits *waits, const struct rcore_sync *sync);

/* wait_frames.c: what the methods on the stack tell. */
struct rcore_error *rcore_wait_frames(struct rcore_waits *waits, int fiber);
/* wait_scheduler.c: the innermost frame of a hook of the fiber scheduler; -1: in none. */
int rcore_wait_hook(struct rcore_waits *waits, const struct rcore_fiber *fiber,
		    const char **ret_name);
/* wait_syscall.c: what the registers tell of a current fiber. */
struct rcore_error *rcore_wait_syscall(struct rcore_waits *waits, int fiber);

/* wait_arguments.c: the arguments of the C method in frame `index`, in order, `limit` at most; -1:
 * not known (it was called from C). */
int rcore_wait_arguments(struct rcore_waits *waits, const struct rcore_fiber *fiber,
			 size_t index, uint64_t *ret, size_t limit);
/* The parameter at `place` of a method written in Ruby; false: it has none there. */
bool rcore_wait_parameter(struct rcore_waits *waits, const struct rcore_frame *frame,
			  size_t place, uint64_t *ret);

/* wait_fd.c: adds a descriptor to a wait, with what its IO (0: unknown) says of it. */
struct rcore_error *rcore_wait_add_fd(struct rcore_waits *waits, struct rcore_wait *wait,
				      int fd, const char *mode, uint64_t io);
/* The same for an IO object; nothing for any other value. */
struct rcore_error *rcore_wait_add_io(struct rcore_waits *waits, struct rcore_wait *wait,
				      uint64_t object, const char *mode);

#endif
