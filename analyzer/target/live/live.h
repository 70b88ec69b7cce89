/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_H
#define RCORE_TARGET_LIVE_H

/*
 * target/live/ stops a running process, copies what is needed, and resumes it;
 * or reads it while it runs. live_stop.h explains the stop. It includes base/,
 * model/ and target/ only. Start here.
 */

#include "base/error.h"
#include "target/memory.h"
#include "target/live/live_memory.h"
#include "target/process.h"

/*
 * A running process. It is read in rounds:
 *
 *	rcore_live_forget()   reads return memory of the running process, and
 *	                      are noted
 *	rcore_live_begin()    stops the process and copies what was noted; reads
 *	                      return memory of that moment
 *	rcore_live_keep()     ... what else will be needed
 *	rcore_live_end()      resumes the process; reads return what was read or
 *	                      kept in this round, and parts of files that
 *	                      cannot have changed
 *
 * A round for which nothing was noted works as well, but the process is stopped
 * for longer. To stop the process as briefly as possible:
 *
 *	rcore_live_copy_ahead()  copies the noted pages while the process runs
 *	rcore_live_begin()       stops it, and copies them again unless no
 *	                         thread has run since
 *	rcore_live_release()     resumes it; reads return the copy
 *	rcore_live_end()         as above
 */
struct rcore_live;

/*
 * Opens a process without stopping it. Errors (OS, UNSUPPORTED, USAGE) name the
 * process and say what to do next: no such process, the id of a thread, a
 * zombie, a kernel thread, 32-bit, no permission to read. A process whose main
 * thread has ended is read through another thread.
 */
struct rcore_error *rcore_live_open(int pid, struct rcore_live **ret);
void rcore_live_close(struct rcore_live *live); /* NULL-safe; ends a round */

/*
 * For code that reads a process again and again while it runs, outside of all
 * rounds: many ranges in few system calls, and a memory that caches nothing.
 * Both read the current contents.
 */
void rcore_live_read(struct rcore_live *live, struct rcore_live_range *ranges, size_t count);
/*
 * Does the same, but faster if most ranges are small and near the one before:
 * such ranges are read as one.
 */
void rcore_live_read_near(struct rcore_live *live, struct rcore_live_range *ranges,
			  size_t count);
struct rcore_memory *rcore_live_bare_memory(struct rcore_live *live);

/*
 * Returns a descriptor of /proc/PID, which leads nowhere once the process has
 * ended.
 */
int rcore_live_folder(const struct rcore_live *live);

/*
 * Both belong to `live`. The threads of the process are those of the last
 * rcore_live_begin(); they have registers only if it stopped the process.
 */
struct rcore_memory *rcore_live_memory(struct rcore_live *live);
const struct rcore_process *rcore_live_process(const struct rcore_live *live);

/*
 * Returns the mapped ranges one by one, as they were when the process was
 * opened. Returns false after the last one.
 */
bool rcore_live_segment(const struct rcore_live *live, size_t index, struct rcore_segment *ret);

/* Whether that address was mapped when the process was opened. */
bool rcore_live_is_mapped(const struct rcore_live *live, uint64_t address);

/*
 * Whether it then belonged to a file, the vdso or a JIT, and was not writable:
 * its bytes do not change.
 */
bool rcore_live_is_constant(const struct rcore_live *live, uint64_t address);

/*
 * Forgets all pages that were noted or read. Does nothing after
 * rcore_live_copy_all().
 */
void rcore_live_forget(struct rcore_live *live);

/*
 * If `stop` is false, copies without stopping. Errors: OS (it may not be
 * stopped, is being traced, has ended), NO_MEMORY.
 */
struct rcore_error *rcore_live_begin(struct rcore_live *live, bool stop);

/*
 * Notes which threads sleep now, for rcore_live_is_quiet(). Unless this was
 * called in the round, rcore_live_copy_ahead() does it.
 */
void rcore_live_note_sleepers(struct rcore_live *live);

/*
 * Copies the noted pages while the process runs. Call rcore_live_begin() soon
 * after it. Error: NO_MEMORY.
 */
struct rcore_error *rcore_live_copy_ahead(struct rcore_live *live);

/*
 * Returns whether the pages of [start, end) have the same bytes as in the copy
 * ahead, or rest. Looks only at pages that were copied ahead.
 */
bool rcore_live_is_same(struct rcore_live *live, uint64_t start, uint64_t end);

/*
 * The same for many ranges. Call rcore_live_note_awake() after the last
 * rcore_live_rest(): then rcore_live_span() returns the pages of [start, end)
 * that were copied ahead and do not rest. After rcore_live_begin(),
 * rcore_live_count_changes() counts those that have changed; returns false if
 * memory was short, and then rcore_live_is_span_same() must not be called.
 */
void rcore_live_note_awake(struct rcore_live *live);
struct rcore_live_span rcore_live_span(const struct rcore_live *live, uint64_t start,
				       uint64_t end);
bool rcore_live_count_changes(struct rcore_live *live);
bool rcore_live_is_span_same(const struct rcore_live *live, struct rcore_live_span span);

/*
 * Returns whether no thread has run between rcore_live_note_sleepers() and the
 * stop by rcore_live_begin(). If so, what was read in between is what the
 * process had at the stop. Returns false in case of doubt.
 */
bool rcore_live_is_quiet(const struct rcore_live *live);

/*
 * A page that rests keeps the bytes that were copied ahead: rcore_live_begin()
 * does not copy it again. rcore_live_rest() lets the whole pages of [start,
 * end) rest, and returns how many bytes they have. After rcore_live_begin(),
 * rcore_live_wake() makes rcore_live_fetch() copy the pages of [start, end)
 * after all, and returns whether any of them rested.
 */
size_t rcore_live_rest(struct rcore_live *live, uint64_t start, uint64_t end);
bool rcore_live_wake(struct rcore_live *live, uint64_t start, uint64_t end);

/* A parked fiber. */
struct rcore_live_parked {
	/*
	 * The ranges [start, end) of its rb_fiber_t and of its two stacks. The
	 * struct holds its status and its saved stack pointers.
	 */
	struct {
		uint64_t start, end;
	} head, stacks[2];
	bool is_consistent; /* see rcore_live_copy_consistent() */
};

/*
 * A fiber may run while rcore copies its stacks ahead. If it is parked again at
 * the same depth, its struct is the same as before, but the copy may mix two
 * moments.
 *
 * Copies the resting pages of parked fibers twice more. Sets is_consistent of a
 * fiber if both copies are equal and its struct has not changed since it was
 * copied ahead; the pages then have the bytes of these copies. Call it between
 * rcore_live_rest() and rcore_live_begin(), and wake the stacks of the others.
 * If memory is short, it leaves is_consistent of some fibers as it was.
 */
void rcore_live_copy_consistent(struct rcore_live *live, struct rcore_live_parked *parked,
				size_t count);

/*
 * Returns whether a thread slept all the time from rcore_live_note_sleepers()
 * to the stop by rcore_live_begin(). Returns false in case of doubt, and after
 * the process has been resumed. `tid` is the thread's id in its own pid
 * namespace.
 */
bool rcore_live_has_thread_slept(const struct rcore_live *live, int tid);

/* Returns how long before the stop the copy was made, in nanoseconds. */
uint64_t rcore_live_copy_age(const struct rcore_live *live);

/*
 * Limits how long the following rounds stop the process; 0 restores the default
 * of RCORE_STOP_LIMIT_MS.
 */
void rcore_live_limit(struct rcore_live *live, unsigned milliseconds);

/*
 * Lets rcore_live_begin() fail at once if another rcore holds the process; it
 * waits by default. For a caller that has other processes to look at.
 */
void rcore_live_never_wait(struct rcore_live *live);

/*
 * Sets what happens to reads after a round has reached its limit. By default,
 * they fail. If `reads_late`, they read from the running process.
 */
void rcore_live_read_late(struct rcore_live *live, bool reads_late);

/* Returns whether a part of [start, end) was read in this way. */
bool rcore_live_is_late(struct rcore_live *live, uint64_t start, uint64_t end);

/*
 * Notes [start, end), so that it can be read after the round. Outside of a
 * round, notes it for the next one.
 */
void rcore_live_keep(struct rcore_live *live, uint64_t start, uint64_t end);

/*
 * Reads the ranges requested with rcore_live_keep() that were not read yet, in
 * as few system calls as possible. Does nothing after the round has ended.
 */
void rcore_live_fetch(struct rcore_live *live);

/*
 * Returns the end of the used part of a machine stack that starts at `sp`.
 * Memory after a thread's own stack may belong to the same mapping. The thread
 * pointer (0 if unknown) shows where the stack ends, because the C library has
 * its own struct there.
 */
uint64_t rcore_live_stack_end(const struct rcore_live *live, uint64_t sp,
			      uint64_t thread_pointer);

/*
 * Calls `visit` with the stack pointer of each thread that sleeps in a system
 * call now.
 */
void rcore_live_visit_sleeping(const struct rcore_live *live,
			       void (*visit)(void *context, uint64_t sp), void *context);

struct rcore_live_pause {
	uint64_t nanoseconds;
	size_t thread_count; /* how many were stopped */
	/*
	 * How many slept in the kernel and were not stopped: they have no
	 * registers.
	 */
	size_t unstopped_count;
	bool overdue; /* the process was resumed before everything was read */
};

/* Ends the round; resumes the process and sets *ret if it is stopped. */
void rcore_live_end(struct rcore_live *live, struct rcore_live_pause *ret);

/*
 * Resumes the process before the round ends, and sets *ret as rcore_live_end()
 * does, which then sets it to zeroes. Later reads return what this round has
 * copied. Other memory is read from the running process, and noted for the next
 * round.
 */
void rcore_live_release(struct rcore_live *live, struct rcore_live_pause *ret);

/*
 * Returns whether memory that may have changed was read from the running
 * process after rcore_live_release().
 */
bool rcore_live_has_missed(const struct rcore_live *live);

/*
 * While `allow` is true, rcore_live_has_missed() does not count reads. For what
 * changes so rarely that the process is not stopped a second time for it.
 * NULL-safe.
 */
void rcore_live_allow_late(struct rcore_live *live, bool allow);

/*
 * Returns a hash of the bytes of [start, end) that this round has copied. It
 * can be compared only with hashes of the same round: before and after
 * rcore_live_begin().
 */
uint64_t rcore_live_digest(struct rcore_live *live, uint64_t start, uint64_t end);

/*
 * Prepares a copy of all memory that the process may have written: estimates
 * how long the process will be stopped for it, refuses if that is over the
 * limit of rcore_live_limit(), and allocates memory. Errors: LIMIT (it takes
 * longer, or memory is short), NO_MEMORY, those of rcore_live_begin().
 */
struct rcore_error *rcore_live_prepare_copy(struct rcore_live *live);

/*
 * Stops the process once, makes that copy, and resumes it. From then on, reads
 * return the memory of that moment. Sets *ret_bytes to the size of the copy,
 * which `live` owns. Call it soon after rcore_live_prepare_copy(). If the copy
 * takes longer than was estimated, the process is resumed at the limit. Errors:
 * as above.
 */
struct rcore_error *rcore_live_copy_all(struct rcore_live *live, size_t *ret_bytes,
					struct rcore_live_pause *ret);

/*
 * Finds the first part at `address` or after it that this copy has, and that is
 * zeroes as a whole or not at all. Returns false if there is none, or no copy.
 */
bool rcore_live_copied(const struct rcore_live *live, uint64_t address,
		       struct rcore_live_part *ret);

/*
 * Returns an error if the process has ended or was replaced by another program,
 * so that what was read of it may be useless. Otherwise returns NULL.
 */
struct rcore_error *rcore_live_check(struct rcore_live *live);

/*
 * Does the same, but also returns an error if a read found no process. While a
 * process ends, its threads lose their memory one after the other: the last one
 * may still have it when the check looks.
 */
struct rcore_error *rcore_live_check_reads(struct rcore_live *live);

/* Returns whether a read found no process. */
bool rcore_live_is_gone(const struct rcore_live *live);

/* Returns whether rcore_live_check() has found another program. */
bool rcore_live_has_executed(const struct rcore_live *live);

/*
 * Finds how often a thread of the last rcore_live_begin(), or of the process if
 * there was none, has waited in the kernel. `tid` is its id in its own pid
 * namespace. Returns false if it has ended, is not known, or is stopped by a
 * signal or a debugger, so that it does nothing at all.
 */
bool rcore_live_waits(const struct rcore_live *live, int tid, uint64_t *ret);

/*
 * The same for all threads of the process. Returns how many were written to
 * `ret`; 0 if there are more than `limit`.
 */
struct rcore_live_thread_waits {
	int tid; /* in its own pid namespace */
	uint64_t waits;
};
size_t rcore_live_all_waits(const struct rcore_live *live, struct rcore_live_thread_waits *ret,
			    size_t limit);

/* Returns the process's own id in its pid namespace; 0 if that is rcore's. */
int rcore_live_inner_pid(const struct rcore_live *live);

/*
 * Returns the id in rcore's own pid namespace of the thread that has `tid` in
 * the process's; 0: none has. rcore_live_begin() finds the threads.
 */
int rcore_live_outer_tid(const struct rcore_live *live, int tid);

#endif
