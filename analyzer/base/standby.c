/* SPDX-License-Identifier: MIT */
#include "base/standby.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/second_thread.h"

struct rcore_standby {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t change;
	/* These need `lock`. `run` is NULL when there is no work. */
	void *(*run)(void *);
	void *argument;
	bool ends;
};

static void *work(void *argument)
{
	struct rcore_standby *standby = argument;
	/* Makes malloc() map an arena for this thread now, not during work. */
	void *volatile first = malloc(1);
	free(first);
	pthread_mutex_lock(&standby->lock);
	for (;;) {
		while (!standby->run && !standby->ends)
			pthread_cond_wait(&standby->change, &standby->lock);
		if (!standby->run)
			break;
		pthread_mutex_unlock(&standby->lock);
		standby->run(standby->argument);
		pthread_mutex_lock(&standby->lock);
		standby->run = NULL;
		pthread_cond_broadcast(&standby->change);
	}
	pthread_mutex_unlock(&standby->lock);
	return NULL;
}

static void free_standby(struct rcore_standby *standby)
{
	pthread_cond_destroy(&standby->change);
	pthread_mutex_destroy(&standby->lock);
	free(standby);
}

struct rcore_standby *rcore_standby_start(const pthread_attr_t *attributes)
{
	struct rcore_standby *standby = calloc(1, sizeof(*standby));
	if (!standby)
		return NULL;
	pthread_mutex_init(&standby->lock, NULL);
	pthread_cond_init(&standby->change, NULL);
	if (!rcore_second_thread(&standby->thread, attributes, work, standby))
		return standby;
	free_standby(standby);
	return NULL;
}

void rcore_standby_give(struct rcore_standby *standby, void *(*run)(void *), void *argument)
{
	pthread_mutex_lock(&standby->lock);
	standby->run = run;
	standby->argument = argument;
	pthread_cond_broadcast(&standby->change);
	pthread_mutex_unlock(&standby->lock);
}

void rcore_standby_wait(struct rcore_standby *standby)
{
	pthread_mutex_lock(&standby->lock);
	while (standby->run)
		pthread_cond_wait(&standby->change, &standby->lock);
	pthread_mutex_unlock(&standby->lock);
}

void rcore_standby_stop(struct rcore_standby *standby)
{
	if (!standby)
		return;
	pthread_mutex_lock(&standby->lock);
	standby->ends = true;
	pthread_cond_broadcast(&standby->change);
	pthread_mutex_unlock(&standby->lock);
	pthread_join(standby->thread, NULL);
	free_standby(standby);
}
