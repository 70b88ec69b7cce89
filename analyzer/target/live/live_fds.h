/* SPDX-License-Identifier: MIT */
#ifndef RCORE_TARGET_LIVE_FDS_H
#define RCORE_TARGET_LIVE_FDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "target/live/live.h"

/*
 * Opens what the functions below need of a process that a debugger has stopped.
 * Returns NULL if it does not run on this machine, if that cannot be verified,
 * or if there is no permission. Pass the result to no other function.
 */
struct rcore_live *rcore_live_debugged_open(const struct rcore_process *process);
void rcore_live_debugged_close(struct rcore_live *live);

/*
 * Reads what a running process has open as `fd`, from /proc/PID/fd: a path,
 * "pipe:[123]", "socket:[123]", "anon_inode:[eventpoll]". Truncates longer
 * ones. Returns false if there is nothing, or no permission.
 */
bool rcore_live_fd(const struct rcore_live *live, int fd, char *ret, size_t size);

struct rcore_live_socket {
	unsigned long inode;
	/*
	 * "TCP 127.0.0.1:80 listens", "TCP [::1]:80 with [::1]:5000",
	 * "unix /run/x"; NULL: not known.
	 */
	const char *addresses;
};

/*
 * Finds the addresses of sockets by their inode numbers in /proc/PID/net, which
 * is slow to read: each table is read once. Sorts `sockets`, in which each
 * number occurs once, and allocates in `arena`. Leaves out those that the
 * network namespace of the process does not list.
 */
void rcore_live_sockets(const struct rcore_live *live, struct rcore_live_socket *sockets,
			size_t count, struct rcore_arena *arena);

/*
 * Finds the process that holds the flock() of the file that is open as `fd`, in
 * /proc/locks. Returns false if it is not known.
 */
bool rcore_live_flock_holder(const struct rcore_live *live, int fd, int *ret);

#endif
