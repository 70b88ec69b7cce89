/* SPDX-License-Identifier: MIT */
#ifndef RCORE_CLI_COLLECT_H
#define RCORE_CLI_COLLECT_H

/* Private to cli/collect/: one run of `rcore collect`, and its steps. */

#include <limits.h>
#include <sys/utsname.h>
#include <time.h>

#include "cli/collect/collect_room.h"
#include "cli/collect/collect_spool.h"
#include "cli/deployment.h"
#include "cli/target.h"
#include "target/output/output.h"

struct rcore_collect_arguments {
	const char *folder, *spool;
	struct rcore_cli_deployment deployment;
	int pid;
	size_t seconds, megabytes;
	struct rcore_room_limits limits;
	bool keep_core;
};

/* The files of a report, in the order of the child's descriptors. */
enum {
	RCORE_COLLECT_TEXT,
	RCORE_COLLECT_JSON,
	RCORE_COLLECT_HTML,
	RCORE_COLLECT_PACK,
	RCORE_COLLECT_LINE,
	RCORE_COLLECT_OUTPUTS,
};

/* How the names of the outputs end. */
extern const char *const rcore_collect_endings[RCORE_COLLECT_OUTPUTS];

/*
 * The exit status if a limit of time or memory was exceeded. The child returns
 * the other one if it has written everything that it could find with too little
 * memory.
 */
enum { RCORE_COLLECT_LIMIT = 124, RCORE_COLLECT_SHORT = 125 };

struct rcore_collect {
	struct rcore_cli_target *target;
	const struct rcore_collect_arguments *asked;
	char pid[16]; /* "core" if there is no argument */
	int folder;
	struct rcore_spool_folder spool;
	/* Not 0: there is a spool that cannot be used. */
	int spool_status;
	size_t output_count;        /* without a spool, there is no line */
	char name[64];              /* the start of the names of all files */
	char stored[PATH_MAX + 32]; /* the path of the compressed core */
	struct rcore_output outputs[RCORE_COLLECT_OUTPUTS];
	int core; /* to be read by the child */
	int root; /* of the process that died, or -1 */
	bool looks_into_root;
	uid_t user;
	gid_t group;
	/* When the kernel began to pass the core, and this machine's name. */
	time_t begun;
	struct utsname machine;
	int kept; /* the stored core, locked while we need it; -1: none */
	/* The core was not read in full, so the stored copy is kept. */
	bool is_cut;
	/*
	 * Nothing of the core could be stored. Its file is removed at the end,
	 * because it reserves the name.
	 */
	bool has_no_core;
	uint64_t room; /* how large each of the outputs may get */
	int status;
};

/*
 * collect_files.c: chooses a name for all files of this run that no output has
 * yet, and creates the file with `ending`. *ret is its descriptor. Error: OS.
 */
struct rcore_error *rcore_collect_create(struct rcore_collect *collect, const char *ending,
					 int *ret);

/* Writes the name of an output, without its folder, and returns `name`. */
const char *rcore_collect_name(const struct rcore_collect *collect, size_t output,
			       char name[96]);

/* Returns whether an output goes to the spool. */
bool rcore_collect_is_spooled(const struct rcore_collect *collect, size_t output);

/* Returns the descriptor of the folder of an output. */
int rcore_collect_folder_of(const struct rcore_collect *collect, size_t output);

/*
 * Opens the spool if one is asked for. If it cannot be used, everything goes to
 * the folder, and the stored core stays.
 */
void rcore_collect_open_spool(struct rcore_collect *collect);

/*
 * Adds a line to the log in the folder, and prints it: the kernel's handler has
 * no terminal.
 */
void rcore_collect_note(const struct rcore_collect *collect, const char *message);

/* collect_store.c: stores what comes through standard input. */
struct rcore_error *rcore_collect_store(struct rcore_collect *collect);

/* Returns the error LIMIT for a run that took too long. */
struct rcore_error *rcore_collect_late(const struct rcore_collect *collect);

/*
 * collect_read.c reads the core in the child, and writes to the open outputs.
 * Returns the child's exit status; a message goes to `fd`.
 */
int rcore_collect_read(struct rcore_collect *collect, int fd);

/*
 * Describes the host, service and release. The environment of the process takes
 * precedence over uname(2). The snapshot has been redacted, so this redacts
 * what it adds.
 */
void rcore_collect_describe(const struct rcore_collect *collect,
			    struct rcore_snapshot *snapshot);

/* collect_parse.c: starts the child, and names or removes its outputs. */
struct rcore_error *rcore_collect_parse(struct rcore_collect *collect);

#endif
