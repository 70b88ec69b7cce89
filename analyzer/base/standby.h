/* SPDX-License-Identifier: MIT */
#ifndef RCORE_BASE_STANDBY_H
#define RCORE_BASE_STANDBY_H

#include <pthread.h>

/*
 * A second thread that waits for work. Waking it takes some 10 us, starting a
 * thread 100 us, which matters while a process is stopped.
 */
struct rcore_standby;

/*
 * Starts a standby thread, as rcore_second_thread() does. Returns NULL if that
 * fails. End it with rcore_standby_stop().
 */
struct rcore_standby *rcore_standby_start(const pthread_attr_t *attributes);

/* Makes the thread call `run`. The thread must be idle. */
void rcore_standby_give(struct rcore_standby *standby, void *(*run)(void *), void *argument);

/* Waits until it has done its work. */
void rcore_standby_wait(struct rcore_standby *standby);

/* Ends the thread when its work is done. `standby` may be NULL. */
void rcore_standby_stop(struct rcore_standby *standby);

#endif
