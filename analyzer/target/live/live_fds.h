/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_FDS_H
#define RCORE_TARGET_LIVE_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "target/live/live.h"

/*
 * What a running process has open as `fd`, as /proc/PID/fd tells: a path,
 * "pipe:[123]", "socket:[123]", "anon_inode:[eventpoll]". Longer ones are cut
 * off. false: nothing, or not ours to see.
 */
bool rcore_live_fd(const struct rcore_live *live, int fd, char *ret, size_t size);

/*
 * The addresses of the socket with that inode number, out of /proc/PID/net:
 * "TCP 127.0.0.1:80 listens", "TCP [::1]:80 with [::1]:5000", "unix /run/x".
 * false: none is known, in its network namespace.
 */
bool rcore_live_socket(const struct rcore_live *live, unsigned long inode, char *ret,
		       size_t size);

#endif
