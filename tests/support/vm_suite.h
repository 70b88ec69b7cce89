/* SPDX-License-Identifier: MIT */
#ifndef VM_SUITE_H
#define VM_SUITE_H

#include <check.h>

#include "fake_vm.h"
#include "target/process.h"

/*
 * What the tests of vm/ share: a process with most of what a VM can hold. Each test runs with
 * every built-in table.
 *
 *   T1 main   runs F2, which F0 resumed; also has F1 created, F3 suspended, F4 terminated
 *   T2        "sleeper", sleeps
 *   T3        of a second ractor (of the main one before 3.0), aborting
 *   E1        has ended, and left a suspended fiber
 */
enum { WORLD_TIDS = 4, MAIN_TID = 100, SLEEPER_TID = 101, OTHER_TID = 102, STRANGER_TID = 103 };

struct world {
	struct fake_vm vm;
	struct rcore_process process;
	struct rcore_native_thread native[WORLD_TIDS];
	uint64_t sleeper, other, ended;                        /* threads */
	uint64_t root, created, running, parked, done, orphan; /* fibers */
	uint64_t run, block, main, rescue;                     /* iseqs */
	uint64_t run_method, each_method;
	uint64_t parked_cfp[4]; /* of the parked fiber's frames, innermost first */
};

extern struct world world;

/*
 * Builds it with the layout of a test's loop index (series_at()). The test ends
 * by itself.
 */
void world_begin(int index);
void world_begin_with(const struct rcore_layout *layout);

/*
 * Calls rcore_vm_load() and asserts that there is no error. The caller frees
 * the result.
 */
struct rcore_snapshot *world_load(void);
struct rcore_error *world_try_load(struct rcore_snapshot **ret);
void world_free(struct rcore_snapshot *snapshot);

const struct rcore_fiber *world_fiber(const struct rcore_snapshot *snapshot, uint64_t address);
const struct rcore_thread *world_thread(const struct rcore_snapshot *snapshot,
					uint64_t address);

/* Does the same, and asserts that the snapshot is whole. */
struct rcore_snapshot *world_load_whole(void);

/*
 * Whether the snapshot, a thread, a fiber or a frame has a problem with these
 * words.
 */
bool world_says(const struct rcore_snapshot *snapshot, const char *words);

/* Calls world_load(), and asserts that world_says() these words. */
struct rcore_snapshot *world_load_broken(const char *words);

/* Returns the error's code, or 0 if there is none; frees it. */
int world_code(struct rcore_error *err);

int world_run(const char *name, const TTest *const *tests, size_t count);

#endif
