/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COLLECT_ROOM_H
#define RCORE_CLI_COLLECT_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Keeps what `rcore collect` leaves in its folder within limits: deletes the
 * oldest of its files. Files of others, links and other names are never
 * touched.
 */
struct rcore_room_limits {
	size_t megabytes; /* of all files together; 0: no limit */
	size_t percent;   /* of the disk that stays free */
	size_t days;      /* how long a file is kept; 0: for ever */
};

struct rcore_room {
	int folder;
	const struct rcore_room_limits *limits;
	/* The files that are being written start like this, and stay. */
	const char *own;
	/* Its files are small, so none is deleted to free the disk. */
	bool ignores_disk;
};

/*
 * Deletes what is too old, and as much more as the limits demand. *ret is the
 * number of bytes that a new file may have.
 */
struct rcore_error *rcore_room_make(const struct rcore_room *room, uint64_t *ret);

/* Locks a file against deletion by others of rcore until `fd` is closed. */
void rcore_room_lock(int fd);

/* Deletes the oldest unlocked file. Returns its size, or 0 if there is none. */
uint64_t rcore_room_more(const struct rcore_room *room);

#endif
