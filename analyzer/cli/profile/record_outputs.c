/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/text.h"
#include "cli/screen.h"
#include "cli/profile/profile_screen.h"
#include "cli/profile/record_private.h"

/* Makes the outputs at the end, and keeps the samples if that fails. */

bool rcore_record_has_result(const struct rcore_record *record)
{
	return record->summary.total.samples ||
	       (rcore_record_is_of_events(record->asked) && record->summary.processes);
}

static bool is_recording(const char *path)
{
	return rcore_ends_with(path, ".rec");
}

struct rcore_error *rcore_record_sort_outputs(struct rcore_record *record)
{
	const struct rcore_strings *outputs = &record->asked->profile.outputs;
	struct rcore_error *err = NULL;
	for (size_t i = 0; !err && i < outputs->count; i++) {
		if (!is_recording(outputs->items[i]))
			err = rcore_strings_add(&record->outputs, outputs->items[i]);
		else if (!record->path)
			record->path = outputs->items[i];
		else
			err = rcore_error_create(RCORE_ERROR_USAGE,
						 "only one output can be a recording (.rec)");
	}
	return err;
}

static struct rcore_profile_request request_of(const struct rcore_record *record,
					       const struct rcore_profile_arguments *arguments,
					       const struct rcore_cli_target *target)
{
	return (struct rcore_profile_request){
		.arguments = arguments,
		.name = record->path ? record->path : "the samples",
		.redact = target->options.redact,
		.color = target->color,
		.is_of_calls = record->asked->events.count,
		.is_new = true,
	};
}

struct rcore_error *rcore_record_check_outputs(const struct rcore_record *record,
					       const struct rcore_cli_target *target)
{
	struct rcore_profile_arguments arguments = record->asked->profile;
	arguments.outputs = record->outputs;
	const struct rcore_profile_request request = request_of(record, &arguments, target);
	return rcore_profile_check(&request, NULL);
}

/*
 * Writes the outputs that are made from the samples. Reads the recording
 * through its descriptor, because its name may be gone.
 */
static struct rcore_error *report(const struct rcore_record *record,
				  const struct rcore_cli_target *target,
				  struct rcore_strings *failed, bool *ret_partial)
{
	struct rcore_profile_arguments arguments = record->asked->profile;
	char path[64];
	snprintf(path, sizeof(path), "/proc/self/fd/%d", record->fd);
	arguments.outputs = record->outputs;
	struct rcore_profile_request request = request_of(record, &arguments, target);
	request.path = path;
	request.failed = failed;
	if (record->path && !record->outputs.count)
		return NULL;
	return rcore_profile_show(&request, NULL, ret_partial);
}

static struct rcore_error *why_removed(const struct rcore_record *record)
{
	char escaped[256];
	return rcore_error_create(RCORE_ERROR_OS,
				  "%s: another program removed it while rcore was "
				  "writing it",
				  rcore_escape(escaped, sizeof(escaped), record->path));
}

struct rcore_error *rcore_record_finish(struct rcore_record *record,
					const struct rcore_cli_target *target,
					struct rcore_error *err, int *ret_status)
{
	struct rcore_strings failed = {0};
	bool is_partial = false;
	*ret_status = 0;
	if (!record->is_written)
		return err;
	struct rcore_error *failure = report(record, target, &failed, &is_partial);
	bool needs_report = failure, is_removed = rcore_record_is_removed(record);
	/*
	 * A reader that closed the pipe has seen enough and needs no recording.
	 */
	bool is_unread = !record->outputs.count && rcore_screen_is_unread();
	/* If no sample meets --where, none was kept, so none is lost. */
	bool is_empty = failure && failure->code == RCORE_ERROR_USAGE && !failed.count;
	bool is_lost =
		(failure && !is_empty) || is_removed || (record->path && !record->is_kept);
	*ret_status = is_partial;
	if (!err) {
		err = failure;
		failure = NULL;
	}
	if (!err && is_removed)
		err = why_removed(record);
	if (err && is_lost && !is_unread) {
		*ret_status = rcore_cli_fail(err);
		rcore_record_rescue(record, &failed, needs_report, target->options.redact);
		err = NULL;
	}
	rcore_error_free(failure);
	free(failed.items);
	return err;
}
