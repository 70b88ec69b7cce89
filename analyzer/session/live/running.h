/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_RUNNING_H
#define RCORE_SESSION_RUNNING_H

/*
 * session/live/ finds running Ruby processes, and looks at one: it copies
 * memory while the process runs, stops it, copies what may have changed, and
 * resumes it. Start with running.c.
 */

#include "base/address_map.h"
#include "base/arena.h"
#include "session/session.h"
#include "target/live/live.h"

/* What is read of a stopped process besides Ruby's own memory. */

/*
 * Keeps the used part of each machine stack of the snapshot's fibers and the
 * kernel threads, so that it can be unwound later. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_keep_stacks(const struct rcore_target *target,
					      const struct rcore_snapshot *snapshot);

/*
 * The VM stacks of fibers, by address. CRuby allocates the VM stack of a thread
 * or a fiber on its machine stack (alloca() in thread_start_func_2() of
 * thread.c, fiber_pool_stack_alloca() of cont.c). So there is a gap of 128 KiB
 * to 1 MiB among a few pages of native frames. The decoder has read the used
 * part of the gap already. The items are the caller's, to be freed with free().
 */
struct rcore_running_gaps {
	struct rcore_running_gap {
		uint64_t start, end;
	} * items;
	size_t count;
};

/*
 * Finds the VM stacks of the snapshot's fibers; if `of_threads`, only of those
 * of fibers that kernel threads run. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_gaps_find(const struct rcore_snapshot *snapshot,
					    bool of_threads, struct rcore_running_gaps *ret);

/*
 * The same as rcore_running_keep_stacks() for the stacks on which kernel
 * threads are.
 */
void rcore_running_keep_thread_stacks(const struct rcore_target *target,
				      const struct rcore_running_gaps *gaps);

/*
 * Keeps up to 256 KiB of the stack of each kernel thread that sleeps now, while
 * the process runs: it is then copied with everything else, not at the end of
 * the stop.
 */
void rcore_running_keep_sleeping_stacks(const struct rcore_target *target,
					const struct rcore_running_gaps *gaps);

/* What some descriptors referred to when read. Initialize it with zeroes. */
struct rcore_running_fds {
	struct rcore_running_fd {
		int fd;
		const char *link;        /* of /proc/PID/fd; NULL: unknown */
		bool has_looked_for_pid; /* that of the flock()'s holder */
		bool has_pid;
		int pid;
	} * items;
	size_t count, capacity;
	struct rcore_address_map known; /* from descriptor to index */
	struct rcore_arena arena;
	/* what note() has noted and read() has not read yet; not owned */
	struct {
		const struct rcore_wait **items;
		size_t count, capacity;
	} noted;
	size_t read_count; /* descriptors that the last set() had to read */
};

/*
 * Notes which fibers of `snapshot` wait for descriptors. The snapshot must
 * exist until the next rcore_running_fds_read(). Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_fds_note(struct rcore_running_fds *fds,
					   const struct rcore_snapshot *snapshot);

/*
 * Finds out what the descriptors are that the noted fibers wait for, unless
 * `fds` has them. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_fds_read(struct rcore_running_fds *fds,
					   const struct rcore_target *target);

/*
 * Sets what the descriptors are that fibers of `snapshot` wait for. Reads those
 * that `fds` lacks. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_fds_set(struct rcore_running_fds *fds,
					  const struct rcore_target *target,
					  struct rcore_snapshot *snapshot);
void rcore_running_fds_deinit(struct rcore_running_fds *fds);

/*
 * Sets what descriptors are, with the addresses of sockets, if a debugger has
 * stopped the process and it runs on this machine. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_debugged_fds(const struct rcore_target *target,
					       struct rcore_snapshot *snapshot);

/*
 * Adds the addresses of those that are sockets. The process need not be
 * stopped. Error: NO_MEMORY.
 */
struct rcore_error *rcore_running_sockets(const struct rcore_target *target,
					  struct rcore_snapshot *snapshot);

/*
 * A thread that gives the GVL to another one, or that waits for something,
 * waits in the kernel. One that has not waited between two looks, and holds the
 * GVL at both, has held it all the time. watch() notes the holder at a look,
 * check() forgets it if it has waited since, time() notes the time of the stop,
 * and describe() sets gvl_held_ns, the time from the first look to that stop.
 */
void rcore_running_watch_gvl(struct rcore_session *session, struct rcore_snapshot *snapshot);
void rcore_running_check_gvl(struct rcore_session *session);
void rcore_running_time_gvl(struct rcore_session *session);
void rcore_running_describe_gvl(const struct rcore_session *session,
				struct rcore_snapshot *snapshot);

/*
 * Sets snapshot->live, and says which parts of the process are missing:
 * `unstopped` threads did not stop, `overdue` if it was resumed too early.
 */
void rcore_running_describe(const struct rcore_live_facts *facts, size_t unstopped,
			    bool overdue, struct rcore_snapshot *snapshot);

/*
 * Marks the threads and fibers that were partly read after the process had been
 * resumed, and reports how many they are.
 */
void rcore_running_mark_late(const struct rcore_session *session,
			     struct rcore_snapshot *snapshot);

/*
 * If a pause ended before everything was read, returns an error. Use it for
 * results that cannot be marked.
 */
struct rcore_error *rcore_running_in_time(const struct rcore_session *session,
					  const struct rcore_live_pause *pause);

/*
 * Stops a running process, copies all of its memory, and resumes it. From then
 * on, the session reads the copy, and session->copied has its size and the
 * pause. Does nothing for other targets, or if that was done. Errors: those
 * of rcore_live_copy_all().
 */
struct rcore_error *rcore_running_copy(struct rcore_session *session);

/*
 * Copies the process, and reads the copy as a moment of a running process, with
 * all of it noted for a pack. `first` is what was read before that, or NULL.
 * Sets *pause, even if there is an error. Errors: those of rcore_running_copy()
 * and rcore_session_read().
 */
struct rcore_error *rcore_running_read_copy(struct rcore_session *session,
					    const struct rcore_snapshot *first,
					    struct rcore_moment *ret,
					    struct rcore_live_pause *pause);

/*
 * If the target is the pack of a running process, makes the session read it
 * like that process: as it was then, with what /proc reported about it.
 */
void rcore_running_unpack(struct rcore_session *session);

#endif
