/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TESTS_SNAPSHOTS_H
#define RCORE_TESTS_SNAPSHOTS_H

#include "model/snapshot.h"

/* Snapshots built by hand. The caller ends each with rcore_arena_deinit(&snapshot->arena). */

/* One of each thing that a report can show, including hostile names. */
void rcore_test_rich(struct rcore_snapshot *snapshot);

/*
 * One thread with one fiber and `depth` frames, of `period` methods that call
 * each other in turn.
 */
void rcore_test_deep(struct rcore_snapshot *snapshot, size_t depth, size_t period);

/* `count` fibers parked at the same place, each `depth` frames deep. */
void rcore_test_parked(struct rcore_snapshot *snapshot, size_t count, size_t depth);

/* Fibers that wait in each possible way, two of them for each other. */
void rcore_test_waits(struct rcore_snapshot *snapshot);

/* One thread whose fiber has native frames of every kind, woven, with a gap. */
void rcore_test_woven(struct rcore_snapshot *snapshot);

/*
 * Three frames of one fiber, with everything that can be known about them and
 * their thread.
 */
void rcore_test_knowing(struct rcore_snapshot *snapshot);

/* A crash whose names try to break out of every format that contains them. */
void rcore_test_hostile(struct rcore_snapshot *snapshot);

#endif
