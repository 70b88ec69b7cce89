/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COLLECT_SPOOL_H
#define RCORE_CLI_COLLECT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/collect/collect_room.h"
#include "report/result.h"

/*
 * A folder from which another program collects what `rcore collect` wrote
 * (docs/fleet.md): lines/NAME.jsonl, each with one line of rcore triage, and
 * packs/NAME.core. A file gets its name when it is complete. A pack gets its
 * name before its line does.
 */
enum { RCORE_SPOOL_LINES, RCORE_SPOOL_PACKS, RCORE_SPOOL_FOLDERS };

struct rcore_spool_folder {
	const char *path; /* NULL: there is none */
	int folders[RCORE_SPOOL_FOLDERS];
	/* is_shared: this group may read the files, too. */
	gid_t group;
	bool is_shared;
};

/*
 * Opens a folder, and creates it if it does not exist. Errors: OS; USAGE if
 * others can replace files in it: they own it, or they can write to it and it
 * has no sticky bit.
 */
struct rcore_error *rcore_collect_folder_open(const char *path, int *ret);

/* Writes what a file or folder contains to the disk. Error: OS. */
struct rcore_error *rcore_collect_sync(int fd);

/*
 * Opens the spool and its folders. Rejects links. Errors: as above, and USAGE
 * if everybody can write to it. ret->path is then NULL.
 */
struct rcore_error *rcore_spool_open(const char *path, struct rcore_spool_folder *ret);

/*
 * Deletes old files in each of the two folders until it is within the limits.
 * Lines are so small that none is deleted to free the disk. Lowers *left to the
 * bytes that a new file may have, if those are fewer.
 */
void rcore_spool_make_room(const struct rcore_spool_folder *spool,
			   const struct rcore_room_limits *limits, const char *own,
			   uint64_t *left);

/* Lets the group of the spool read a file if it may read the spool. */
void rcore_spool_share(const struct rcore_spool_folder *spool, int fd);

/* Replaces the content of a file with one line. Errors: OS, NO_MEMORY. */
struct rcore_error *rcore_spool_write_line(const struct rcore_result *result, int fd);

#endif
