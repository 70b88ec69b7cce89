/* SPDX-License-Identifier: MIT */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "base/text.h"
#include "cli/profile/record_private.h"
#include "model/redaction_names.h"

/*
 * If an output cannot be written, the samples must not be lost: they may be
 * those of many hours. rcore keeps them as a recording, from which `rcore
 * report` makes the output once there is room for it.
 */

bool rcore_record_is_removed(const struct rcore_record *record)
{
	struct stat status;
	return record->path && record->is_kept && record->fd >= 0 &&
	       !fstat(record->fd, &status) && !status.st_nlink;
}

/*
 * Sets `ret` to the name of the recording without its ending: "slow" for
 * slow.svg.
 */
static void make_name(const char *output, char *ret, size_t size)
{
	char path[PATH_MAX];
	const struct rcore_profile_format *format = NULL;
	snprintf(path, sizeof(path), "%s", output ? output : "");
	snprintf(ret, size, "%s", output ? rcore_base_name(path) : "rcore");
	if (output && rcore_ends_with(ret, ".rec"))
		ret[strlen(ret) - strlen(".rec")] = '\0';
	else if (output)
		rcore_error_free(rcore_profile_format_of(output, &format));
	if (format && rcore_ends_with(ret, format->ending))
		ret[strlen(ret) - strlen(format->ending)] = '\0';
}

/*
 * Keeps the samples in a folder, and sets `ret` to the path. Returns false if
 * that is impossible.
 */
static bool keep_in(const struct rcore_record *record, const char *folder, const char *name,
		    char ret[PATH_MAX])
{
	char number[32] = "";
	/*
	 * Without "./", a name such as "-x.rec" would be taken for an option.
	 */
	bool is_here = !strcmp(folder, ".") && name[0] != '-';
	for (int attempt = 0; attempt < 2; attempt++) {
		int length = snprintf(ret, PATH_MAX, "%s%s%s%s.rec", is_here ? "" : folder,
				      is_here ? "" : "/", name, number);
		if (length >= PATH_MAX)
			return false;
		struct rcore_error *err = rcore_output_name_file(record->fd, ret);
		if (!err)
			return true;
		rcore_error_free(err);
		snprintf(number, sizeof(number), "-%d", (int)getpid());
	}
	return false;
}

/* Tries the folder of the output, the current folder, and TMPDIR. */
static bool keep(const struct rcore_record *record, const char *output, char ret[PATH_MAX])
{
	char path[PATH_MAX], name[NAME_MAX + 1];
	snprintf(path, sizeof(path), "%s", output ? output : ".");
	const char *const folders[] = {output ? dirname(path) : ".", ".",
				       rcore_temporary_folder()};
	make_name(output, name, sizeof(name));
	for (size_t i = 0; i < RCORE_COUNT(folders); i++)
		if (keep_in(record, folders[i], name, ret))
			return true;
	return false;
}

static void print_option(const char *option, const char *value)
{
	if (!value)
		return;
	fprintf(stderr, " %s ", option);
	rcore_shell_write(stderr, value);
}

/* Prints the command that makes the outputs, with the options that matter. */
static void print_command(const struct rcore_record *record, const char *path,
			  const struct rcore_strings *outputs, enum rcore_redact redact)
{
	const struct rcore_profile_arguments *arguments = &record->asked->profile;
	fputs("; `rcore report ", stderr);
	rcore_shell_write(stderr, path);
	for (size_t i = 0; i < outputs->count; i++)
		print_option("-o", outputs->items[i]);
	print_option("--by", arguments->by);
	for (size_t i = 0; i < arguments->where.count; i++)
		print_option("--where", arguments->where.items[i]);
	if (arguments->mode != RCORE_MODE_WALL)
		print_option("--mode", rcore_mode_names[arguments->mode]);
	if (redact != RCORE_REDACT_NONE)
		print_option("--redact", rcore_redact_names[redact]);
	fprintf(stderr, "%s` makes the output%s from them", arguments->all ? " --all" : "",
		rcore_plural(outputs->count ? outputs->count : 1));
}

void rcore_record_rescue(const struct rcore_record *record, const struct rcore_strings *failed,
			 bool needs_report, enum rcore_redact redact)
{
	const struct rcore_strings *outputs = failed->count ? failed : &record->outputs;
	const char *lost = outputs->count ? outputs->items[0] : NULL;
	char kept[PATH_MAX];
	bool is_there = record->path && record->is_kept && !rcore_record_is_removed(record);
	if (is_there)
		snprintf(kept, sizeof(kept), "%s", record->path);
	else if (!keep(record, record->path ? record->path : lost, kept)) {
		fputs("rcore: the samples are lost: neither the folder of the output, nor the "
		      "current folder, nor ",
		      stderr);
		rcore_shell_write(stderr, rcore_temporary_folder());
		fputs(" can be written to\n", stderr);
		return;
	}
	fprintf(stderr, "rcore: the samples are in ");
	rcore_shell_write(stderr, kept);
	if (needs_report)
		print_command(record, kept, outputs, redact);
	putc('\n', stderr);
}
