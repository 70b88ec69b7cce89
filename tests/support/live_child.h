/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_LIVE_CHILD_H
#define RCORE_TESTS_LIVE_CHILD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "target/live/live.h"

enum { CHILD_THREADS = 8, CHILD_PATTERN = 3 * 4096, CHILD_READ = 1 << 20 };

/*
 * Programs that the reader of running processes is tested on. They are children
 * of the test, and share this memory with it. A child ends with the test.
 */
struct child_shared {
	atomic_int is_ready;
	atomic_int started;  /* threads */
	atomic_long counter; /* rises as long as the program runs */
	atomic_int signals;  /* that its handler got */
	atomic_int release;  /* what it waits for */
	atomic_int failures;
	volatile long *copy; /* the counter in the child's own memory */
	uint8_t *
		pattern; /* CHILD_PATTERN bytes, the middle page reserved only: byte i is i * 7 */
	uint8_t *taken; /* a page of sevens that the child may not read */
	uint8_t *hole;  /* nothing is mapped there */
	pthread_t threads[CHILD_THREADS];
	int tids[CHILD_THREADS];
	int inner_pid;
	uint8_t *mapped; /* a file */
};

typedef void child_main(struct child_shared *shared, const void *argument);

struct child {
	pid_t pid;
	struct child_shared *shared;
};

/* Returns once the child says that it is ready. */
struct child child_start(child_main *program, const void *argument);
void child_stop(struct child *child);

/* Waits until the counter has risen: the child runs. */
void child_runs(const struct child *child);

/* The state letter of /proc/PID/status. */
char process_state(pid_t pid);
void wait_for_state(pid_t pid, char state);

/*
 * Starts another process of this program, which stops the child and then waits
 * to be killed.
 */
pid_t child_start_tracer(const struct child *child);

uint64_t address_of(const volatile void *pointer);

/* Checks that the pattern and what surrounds it read as they should. */
void child_check_memory(struct rcore_memory *memory, const struct child *child);

/* The functions of target/live/live.h, without errors. */
struct rcore_live *live_opened(pid_t pid);
void live_copied_ahead(struct rcore_live *live);
void live_begun(struct rcore_live *live, bool stop);
struct rcore_live_pause live_ended(struct rcore_live *live);

/* Finds the thread by the id that Ruby would know; NULL: there is none. */
const struct rcore_native_thread *live_thread(const struct rcore_process *process, int tid);

/*
 * Checks that the error has this code and one line with these words; frees it.
 */
void says(struct rcore_error *err, enum rcore_error_code code, const char *words);

/* Programs. */
child_main child_counts;  /* one thread */
child_main child_threads; /* CHILD_THREADS more that sleep, one of which counts */
child_main child_churns;  /* starts and ends threads */
child_main child_sleeps;
/* Sleeps in read() until a byte is written to `wake`; then reads and counts without sleeping. */
child_main child_reads;
child_main child_vforks; /* a thread waits in the kernel until `release` */
child_main child_maps;   /* `mapped` is the file named by the argument, which it then removes */
child_main child_loses_its_main_thread;
/*
 * Loses its main thread when `release` is 1, and another one when it is 2. The
 * one that stays is tids[0].
 */
child_main child_loses_threads;

#endif
