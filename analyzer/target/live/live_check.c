/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "target/live/live_explain.h"
#include "target/live/live_private.h"

/* Whether a file could not be opened because rcore has too many open. */
static bool lacks_files(void)
{
	return errno == EMFILE || errno == ENFILE;
}

/*
 * Whether the bytes at AT_RANDOM are the same, or cannot be compared. Without
 * randomization of addresses, a program that executes itself has the same
 * auxiliary vector as before, but these bytes are always new.
 */
static bool has_drawn(struct rcore_live *live)
{
	uint8_t drawn[RCORE_LIVE_DRAWN] = {0};
	struct rcore_live_range range = {.size = sizeof(drawn), .bytes = drawn};
	if (!live->has_drawn || !rcore_process_auxv(&live->process, AT_RANDOM, &range.start))
		return true;
	rcore_live_read_batch(&live->memory, &range, 1);
	return range.read < sizeof(drawn) || !memcmp(drawn, live->drawn, sizeof(drawn));
}

/* Whether the process still runs the program that rcore opened. */
static bool same_program(struct rcore_live *live)
{
	size_t size;
	char *text = rcore_live_file(live->folder, "auxv", &size);
	if (!text)
		return lacks_files();
	size_t known = live->process.auxv_pairs * 2 * sizeof(uint64_t);
	bool same = size >= known && !memcmp(text, live->process.auxv, known);
	free(text);
	return same && has_drawn(live);
}

struct rcore_error *rcore_live_check(struct rcore_live *live)
{
	struct rcore_live_status status;
	errno = 0;
	bool is_read = rcore_live_status_read(live->folder, "status", &status);
	if (!is_read && lacks_files())
		return NULL;
	if ((!is_read || !status.has_memory || live->memory.is_gone) &&
	    !rcore_live_memory_follow(&live->memory))
		return rcore_live_explain(live->pid, live->folder, ESRCH);
	if (same_program(live))
		return NULL;
	/* A process that is ending no longer has an auxiliary vector. */
	if (!rcore_live_status_read(live->folder, "status", &status) || !status.has_memory)
		return rcore_live_explain(live->pid, live->folder, ESRCH);
	live->has_executed = true;
	return rcore_live_executed(live->pid);
}

struct rcore_error *rcore_live_check_reads(struct rcore_live *live)
{
	bool was_gone = live->memory.is_gone;
	struct rcore_error *err = rcore_live_check(live);
	if (err || !was_gone)
		return err;
	return rcore_error_create(RCORE_ERROR_OS,
				  "process %d ended, or started another program, while it was "
				  "being read",
				  live->pid);
}

bool rcore_live_is_gone(const struct rcore_live *live)
{
	return live->memory.is_gone;
}

bool rcore_live_has_executed(const struct rcore_live *live)
{
	return live->has_executed;
}
