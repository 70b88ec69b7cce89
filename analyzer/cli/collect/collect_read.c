/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/collect/collect.h"
#include "cli/collect/collect_child.h"
#include "cli/list.h"
#include "report/formats.h"
#include "session/pack/pack.h"

static struct rcore_error *write_report(const struct rcore_snapshot *snapshot,
					const char *ending, int fd)
{
	const struct rcore_format *format;
	const char *same;
	char name[16];
	snprintf(name, sizeof(name), "r%s", ending);
	struct rcore_error *err = rcore_format_of_output(name, &format, &same);
	if (err)
		return err;
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out)
		return rcore_error_os(errno, "cannot write the report");
	err = format->write(snapshot, NULL, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write the report");
	return err;
}

void rcore_collect_describe(const struct rcore_collect *collect,
			    struct rcore_snapshot *snapshot)
{
	struct rcore_deployment *deployment = &snapshot->deployment;
	deployment->time = (uint64_t)collect->begun;
	deployment->time_source = "clock";
	rcore_cli_deployment_describe(&collect->asked->deployment, deployment);
	if (deployment->host || !collect->machine.nodename[0] ||
	    collect->target->options.redact == RCORE_REDACT_ALL)
		return;
	deployment->host = collect->machine.nodename;
	deployment->host_source = "machine";
}

static const char out_of_memory[] = "out of memory; allow more with --memory-limit";

static struct rcore_error *write_line(const struct rcore_collect *collect,
				      const struct rcore_snapshot *snapshot)
{
	struct rcore_arena arena = {0};
	struct rcore_result result;
	char name[96];
	bool is_short = snapshot->lacks_memory;
	struct rcore_error *err =
		/* The pack is in the folder next to that of the line. */
		rcore_result_make(rcore_collect_name(collect, RCORE_COLLECT_PACK, name),
				  is_short ? RCORE_COLLECT_LIMIT : snapshot->incomplete,
				  snapshot, is_short ? out_of_memory : NULL, &arena, &result);
	if (!err)
		err = rcore_spool_write_line(&result, RCORE_CHILD_FILES + RCORE_COLLECT_LINE);
	rcore_arena_deinit(&arena);
	return err;
}

/* Empties an output that is not complete. Keeps the first error. */
static void check_output(int output, struct rcore_error *err, struct rcore_error **ret)
{
	if (err)
		(void)!ftruncate(RCORE_CHILD_FILES + output, 0);
	if (*ret)
		rcore_error_free(err);
	else
		*ret = err;
}

/*
 * On a full disk, the text may fit although the rest does not: an error does
 * not prevent the other outputs.
 */
static struct rcore_error *write_all(const struct rcore_collect *collect,
				     struct rcore_session *session,
				     struct rcore_snapshot *snapshot)
{
	const struct rcore_output pack =
		rcore_output_of_file(RCORE_CHILD_FILES + RCORE_COLLECT_PACK, "the pack");
	struct rcore_error *err = NULL;
	uint64_t size;
	for (int i = RCORE_COLLECT_TEXT; i < RCORE_COLLECT_PACK; i++)
		check_output(
			i,
			write_report(snapshot, rcore_collect_endings[i], RCORE_CHILD_FILES + i),
			&err);
	check_output(RCORE_COLLECT_PACK, rcore_session_pack(session, snapshot, &pack, &size),
		     &err);
	return !err && collect->spool.path ? write_line(collect, snapshot) : err;
}

static struct rcore_error *read_core(const struct rcore_collect *collect, int *ret_status)
{
	struct rcore_session *session = NULL;
	struct rcore_snapshot *snapshot = NULL;
	struct rcore_error *err = rcore_open_core("-", &collect->target->options, &session);
	if (!err)
		err = rcore_load(session, &snapshot);
	if (!err)
		rcore_collect_describe(collect, snapshot);
	if (!err)
		err = write_all(collect, session, snapshot);
	if (!err)
		*ret_status =
			snapshot->lacks_memory ? RCORE_COLLECT_SHORT : snapshot->incomplete;
	rcore_snapshot_free(snapshot);
	rcore_close(session);
	return err;
}

int rcore_collect_read(struct rcore_collect *collect, int fd)
{
	int files[RCORE_COLLECT_OUTPUTS];
	for (size_t i = 0; i < collect->output_count; i++)
		files[i] = collect->outputs[i].fd;
	const struct rcore_child child = {
		.core = collect->core,
		.message = fd,
		.files = files,
		.file_count = collect->output_count,
		.root = collect->root,
		.looks_into_root = collect->looks_into_root,
		.user = collect->user,
		.group = collect->group,
		.room = collect->room,
		.seconds = (unsigned)collect->asked->seconds,
	};
	int status = 0;
	struct rcore_error *err = rcore_child_enter(&child);
	if (err)
		dprintf(fd, "%s", err->message);
	if (err)
		return 2;
	err = read_core(collect, &status);
	bool is_short =
		err ? err->code == RCORE_ERROR_NO_MEMORY : status == RCORE_COLLECT_SHORT;
	if (err || is_short)
		dprintf(RCORE_CHILD_MESSAGE, "%s", is_short ? out_of_memory : err->message);
	if (err)
		status = is_short ? RCORE_COLLECT_LIMIT : rcore_cli_fail(err);
	return status;
}
