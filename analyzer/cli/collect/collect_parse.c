/* SPDX-License-Identifier: MIT */
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "cli/collect/collect.h"
#include "cli/jobs.h"
#include "cli/list.h"

/*
 * Gives an output its name. From then on, neither the file nor its name is lost
 * if the machine stops.
 */
static struct rcore_error *keep(struct rcore_collect *collect, size_t output)
{
	struct rcore_output *out = &collect->outputs[output];
	if (rcore_collect_is_spooled(collect, output))
		rcore_spool_share(&collect->spool, out->fd);
	struct rcore_error *err = rcore_collect_sync(out->fd);
	if (!err)
		err = rcore_output_keep(out);
	if (!err)
		err = rcore_collect_sync(rcore_collect_folder_of(collect, output));
	return rcore_error_wrap(err, "%s%s", collect->name, rcore_collect_endings[output]);
}

/* Writes the line of a core that was not read: why, and what else is known. */
static struct rcore_error *spool_failure(struct rcore_collect *collect, const char *message)
{
	/* The child that wrote it has read a hostile core. */
	enum { LONGEST = 1000 };
	char shown[LONGEST];
	struct rcore_snapshot snapshot = {.pid = collect->asked->pid,
					  .cause = {.thread = -1, .fiber = -1}};
	struct rcore_arena arena = {0};
	struct rcore_result result;
	rcore_collect_describe(collect, &snapshot);
	if (message)
		rcore_escape(shown, sizeof(shown), message);
	struct rcore_error *err =
		rcore_result_make(rcore_base_name(collect->stored), collect->status, &snapshot,
				  message ? shown : NULL, &arena, &result);
	if (!err)
		err = rcore_spool_write_line(&result, collect->outputs[RCORE_COLLECT_LINE].fd);
	if (!err)
		err = keep(collect, RCORE_COLLECT_LINE);
	rcore_arena_deinit(&arena);
	return err;
}

/* Names the line last, so that whoever sees it finds its pack. */
static struct rcore_error *keep_all(struct rcore_collect *collect)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < collect->output_count && !err; i++)
		err = keep(collect, i);
	return err;
}

/*
 * If the child reported an error, keeps the reports that are complete: it has
 * emptied the others. Removes the rest, whose room the log may need.
 */
static struct rcore_error *keep_some(struct rcore_collect *collect, int status)
{
	struct rcore_error *err = NULL;
	struct stat found;
	for (size_t i = 0; i < RCORE_COLLECT_LINE; i++) {
		bool is_complete = (status == 2 || status == RCORE_COLLECT_LIMIT) &&
				   i < RCORE_COLLECT_PACK &&
				   !fstat(collect->outputs[i].fd, &found) && found.st_size;
		if (is_complete && !err)
			err = keep(collect, i);
		rcore_output_close(&collect->outputs[i]);
	}
	return err;
}

/* Returns what the child could not report itself, or NULL. */
static char *why(const struct rcore_collect *collect, const char *text, int status)
{
	char name[RCORE_SIGNAL_SIZE], *message = NULL;
	if (status == -SIGXCPU) {
		struct rcore_error *err = rcore_collect_late(collect);
		message = strdup(err->message);
		rcore_error_free(err);
	} else if (status < 0) {
		if (asprintf(&message,
			     "%s ended rcore while it read this core; please report this bug",
			     rcore_signal_name(-status, name)) < 0)
			return NULL;
	} else if (text && text[0]) {
		message = strdup(text);
	}
	return message;
}

static void done(size_t index, char *text, int status, void *context)
{
	struct rcore_collect *collect = context;
	char *message = why(collect, text, status);
	struct rcore_error *err = NULL;
	bool is_limit = status == -SIGXCPU || status == RCORE_COLLECT_SHORT;
	bool is_written = status == 0 || status == 1 || status == RCORE_COLLECT_SHORT;
	collect->status = is_limit ? RCORE_COLLECT_LIMIT : status < 0 ? 2 : status;
	err = is_written ? keep_all(collect) : keep_some(collect, status);
	if (!err && !is_written && collect->spool.path)
		err = spool_failure(collect, message);
	if (err) {
		free(message);
		message = strdup(err->message);
		collect->status = rcore_cli_fail(err);
	}
	if (!collect->status && !collect->spool_status && !collect->is_cut &&
	    !collect->asked->keep_core)
		unlink(collect->stored);
	if (message)
		rcore_collect_note(collect, message);
	free(message);
	free(text);
}

/* At least 64 MiB: a small report is written even if space is short. */
static uint64_t room_of_outputs(const struct rcore_collect *collect)
{
	const uint64_t least = 64 << 20;
	const struct rcore_room room = {.folder = collect->folder,
					.limits = &collect->asked->limits,
					.own = collect->name};
	uint64_t left = 0;
	rcore_error_free(rcore_room_make(&room, &left));
	rcore_spool_make_room(&collect->spool, &collect->asked->limits, collect->name, &left);
	return left > least ? left : least;
}

static int run(size_t index, int fd, void *context)
{
	return rcore_collect_read(context, fd);
}

struct rcore_error *rcore_collect_parse(struct rcore_collect *collect)
{
	char name[96];
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < collect->output_count && !err; i++)
		err = rcore_output_open_at(rcore_collect_folder_of(collect, i),
					   rcore_collect_name(collect, i, name),
					   &collect->outputs[i]);
	const struct rcore_jobs jobs = {
		.count = 1,
		.seconds = (unsigned)collect->asked->seconds,
		.megabytes = collect->asked->megabytes,
		.run = run,
		.done = done,
		.context = collect,
	};
	collect->room = room_of_outputs(collect);
	/* For children from now on: there is nobody whom they can signal. */
	if (!err && !geteuid())
		(void)!unshare(CLONE_NEWPID);
	if (!err)
		err = rcore_jobs_run(&jobs);
	for (size_t i = 0; i < RCORE_COLLECT_OUTPUTS; i++)
		rcore_output_close(&collect->outputs[i]);
	return err;
}
