/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_FDS_H
#define RCORE_TARGET_LIVE_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "target/live/live.h"

/*
 * Reads what a running process has open as `fd`, from /proc/PID/fd: a path,
 * "pipe:[123]", "socket:[123]", "anon_inode:[eventpoll]". Truncates longer
 * ones. Returns false if there is nothing, or no permission.
 */
bool rcore_live_fd(const struct rcore_live *live, int fd, char *ret, size_t size);

/*
 * Finds the addresses of the socket with that inode number in /proc/PID/net:
 * "TCP 127.0.0.1:80 listens", "TCP [::1]:80 with [::1]:5000", "unix /run/x".
 * Returns false if its network namespace does not list them.
 */
bool rcore_live_socket(const struct rcore_live *live, unsigned long inode, char *ret,
		       size_t size);

/*
 * Finds the process that holds the flock() of the file that is open as `fd`, in
 * /proc/locks. Returns false if it is not known.
 */
bool rcore_live_flock_holder(const struct rcore_live *live, int fd, int *ret);

#endif
