/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_SUMMARY_H
#define RCORE_MODEL_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a reader wants to know first: which threads are blocked, by what, and
 * which thread could release them. New kinds are added before
 * RCORE_SUMMARY_KINDS.
 */
enum rcore_summary_kind {
	/* Fibers wait for a Mutex or Monitor that another fiber holds. */
	RCORE_SUMMARY_LOCK,
	/* Fibers wait for room in a SizedQueue that is full. */
	RCORE_SUMMARY_QUEUE,
	/* Threads are ready to run, and another one runs. */
	RCORE_SUMMARY_GVL,
	RCORE_SUMMARY_POOL, /* threads that were started at the same place */
	/* Fibers wait for a connection of a pool. */
	RCORE_SUMMARY_CONNECTIONS,
	/* Fibers of a scheduler that are parked and wait. */
	RCORE_SUMMARY_FIBERS,
	/* Fibers wait for the end of a thread that is itself blocked. */
	RCORE_SUMMARY_JOIN,
	RCORE_SUMMARY_KINDS, /* how many kinds there are */
};

/*
 * One line of the summary. The line with the most blocked fibers is the first.
 */
struct rcore_summary_line {
	enum rcore_summary_kind kind;
	/*
	 * One sentence: "8 threads wait for Mutex 0x7f12 held by T4, which
	 * sleeps in Rate.fetch (app/rate.rb:14)". Bytes of the target are
	 * escaped.
	 */
	const char *text;
	/* VALUE of the lock, the queue or the thread; 0: none or unknown. */
	uint64_t object;
	/*
	 * Index of the fiber that holds the lock or the GVL; JOIN: of the one
	 * at the end of the chain of waits. -1: none.
	 */
	int holder;
	/*
	 * Indices of the fibers that are blocked. POOL: the fibers that the
	 * pool's threads run. FIBERS: those that are parked.
	 */
	int *fibers;
	size_t fiber_count;
	size_t busy; /* POOL: how many of them work; otherwise 0 */
};

/*
 * Threads that have the same Ruby stack, status and wait; see
 * rcore_fiber_group.
 */
struct rcore_thread_group {
	int *threads; /* indices, ascending; two or more */
	size_t count;
	int *similar;
	size_t similar_listed, similar_count;
	bool differs;
};

#endif
