/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COLLECT_CHILD_H
#define RCORE_CLI_COLLECT_CHILD_H

/*
 * cli/collect/ stores a core that the kernel passes to `rcore collect`, and
 * analyzes it in a child without privileges. Start with collect.c.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * What the process that parses a core keeps: descriptors that were opened for
 * it, under fixed numbers. Everything else is closed.
 */
enum {
	RCORE_CHILD_CORE, /* standard input; 1 and 2 lead to /dev/null */
	RCORE_CHILD_MESSAGE = 3,
	RCORE_CHILD_ROOT,  /* leads to /dev/null unless looks_into_root */
	RCORE_CHILD_FILES, /* the first of the outputs */
};

struct rcore_child {
	int core, message;
	const int *files;
	size_t file_count;
	/* The root folder of the process that died, or -1. */
	int root;
	/*
	 * The child also needs files outside that folder, so its own root
	 * folder stays the same, and it keeps the descriptor as
	 * RCORE_CHILD_ROOT.
	 */
	bool looks_into_root;
	/* The user and group to switch to, if the child runs as root. */
	uid_t user;
	gid_t group;
	uint64_t room; /* how large each output may get, in bytes */
	unsigned seconds;
};

/*
 * Gives up all privileges, for good: user and groups, all files but its own,
 * the network, and most system calls (base/confine.h). Its root folder becomes
 * that of the process that died, unless looks_into_root, so that all names mean
 * what they meant there, and nothing else has a name. Error: OS, if it would
 * keep any privilege.
 */
struct rcore_error *rcore_child_enter(const struct rcore_child *child);

#endif
