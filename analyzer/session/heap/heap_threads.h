/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_HEAP_THREADS_H
#define RCORE_SESSION_HEAP_THREADS_H

#include "model/process.h"
#include "model/snapshot.h"
#include "ruby/ruby.h"

enum { RCORE_HEAP_FRAMES_SIZE = 256 };

/*
 * Names threads and fibers as `rcore analyze` does. The first call of one of
 * these functions loads them.
 */
struct rcore_heap_threads {
	struct rcore_ruby *ruby;
	const struct rcore_process *process;
	struct rcore_ids *ids; /* as in rcore_settings */
	uint64_t vm;           /* 0: nothing has a name */
	struct rcore_snapshot *snapshot;
	bool is_loaded;
	uint64_t last_page; /* of the stack that was asked for last */
	const struct rcore_thread *last_thread;
};

void rcore_heap_threads_deinit(struct rcore_heap_threads *threads);

/* Whether a T_DATA is a Thread or a Fiber. */
bool rcore_heap_is_thread(struct rcore_ruby *ruby, uint64_t object);
/* Whether it is a Thread or a Ractor. */
bool rcore_heap_has_threads(struct rcore_ruby *ruby, uint64_t object);

/*
 * Finds the id of a Thread ("T2") or a Fiber ("T2.F1"); NULL for anything else.
 * *ret_name is the name of the thread, not redacted, or NULL.
 */
const char *rcore_heap_thread_id(struct rcore_heap_threads *threads, uint64_t object,
				 const char **ret_name);

/*
 * Finds the frames of a Thread or a Fiber whose local variable `name` has this
 * value. Sets `ret` to "T2.F0 frame 3" or "T2.F0 frames 3, 4 and 7", or to ""
 * if no frame has it.
 */
void rcore_heap_thread_frames(struct rcore_heap_threads *threads, uint64_t object,
			      const char *name, uint64_t value,
			      char ret[RCORE_HEAP_FRAMES_SIZE]);

/* Returns the thread whose machine stack has the address; NULL: unknown. */
const struct rcore_thread *rcore_heap_thread_of_stack(struct rcore_heap_threads *threads,
						      uint64_t address);

#endif
