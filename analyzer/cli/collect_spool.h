/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COLLECT_SPOOL_H
#define RCORE_CLI_COLLECT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/collect_room.h"
#include "report/result.h"

/*
 * A folder from which another program takes what `rcore collect` wrote
 * (docs/fleet.md): lines/NAME.jsonl, a line of rcore triage each, and
 * packs/NAME.core. Each file appears complete under its name, the pack before
 * its line.
 */
enum { RCORE_SPOOL_LINES, RCORE_SPOOL_PACKS, RCORE_SPOOL_FOLDERS };

struct rcore_spool_folder {
	const char *path; /* NULL: there is none */
	int folders[RCORE_SPOOL_FOLDERS];
	/* Who besides the owner may read its files; is_shared: anybody. */
	gid_t group;
	bool is_shared;
};

/*
 * Opens a folder for files, and makes it if there is none. In one that others
 * may write to, only the sticky bit keeps them from replacing our files.
 * Errors: OS; USAGE if they can.
 */
struct rcore_error *rcore_collect_folder_open(const char *path, int *ret);

/* Opens the spool and its folders. Errors: as above. */
struct rcore_error *rcore_spool_open(const char *path, struct rcore_spool_folder *ret);

/*
 * Makes room in both folders, each by itself. *left becomes what a new file may
 * have, if that is less.
 */
void rcore_spool_make_room(const struct rcore_spool_folder *spool,
			   const struct rcore_room_limits *limits, const char *own,
			   uint64_t *left);

/*
 * Prepares a file for its name: lets the group of the spool read it if it may
 * read the spool, and puts its bytes on the disk. Error: OS.
 */
struct rcore_error *rcore_spool_settle(const struct rcore_spool_folder *spool, int fd);

/* Replaces what a file has by one line. Error: OS. */
struct rcore_error *rcore_spool_write_line(const struct rcore_result *result, int fd);

#endif
