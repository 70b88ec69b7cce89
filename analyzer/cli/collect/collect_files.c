/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/collect/collect.h"

const char *const rcore_collect_endings[RCORE_COLLECT_OUTPUTS] = {".txt", ".json", ".html",
								  ".core", ".jsonl"};
/* The folder of the spool to which an output goes, if there is a spool. */
static const struct {
	bool is_there;
	int folder;
} in_spool[RCORE_COLLECT_OUTPUTS] = {[RCORE_COLLECT_PACK] = {true, RCORE_SPOOL_PACKS},
				     [RCORE_COLLECT_LINE] = {true, RCORE_SPOOL_LINES}};

/* Creates a private file. Fails if anything has its name already. */
static int create(const struct rcore_collect *collect, const char *ending)
{
	char name[sizeof(collect->name) + 32];
	snprintf(name, sizeof(name), "%s%s", collect->name, ending);
	return rcore_output_create_at(collect->folder, name);
}

static bool is_free(const struct rcore_collect *collect, const char *ending)
{
	char name[sizeof(collect->name) + 32];
	struct stat status;
	snprintf(name, sizeof(name), "%s%s", collect->name, ending);
	return fstatat(collect->folder, name, &status, AT_SYMLINK_NOFOLLOW) && errno == ENOENT;
}

/* Whether no output has this name yet. */
static bool are_free(const struct rcore_collect *collect)
{
	for (size_t i = 0; i < RCORE_COLLECT_OUTPUTS; i++)
		if (!is_free(collect, rcore_collect_endings[i]))
			return false;
	return true;
}

/* Numbers the names, because a time and a pid may occur twice. */
struct rcore_error *rcore_collect_create(struct rcore_collect *collect, const char *ending,
					 int *ret)
{
	char when[32];
	time_t now = time(NULL);
	struct tm parts;
	gmtime_r(&now, &parts);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &parts);
	errno = EEXIST;
	for (int i = 0; i < 1000 && errno == EEXIST; i++) {
		snprintf(collect->name, sizeof(collect->name), "%s-%s-%d", when, collect->pid,
			 i);
		errno = EEXIST;
		if (!are_free(collect)) {
			errno = EEXIST;
			continue;
		}
		*ret = create(collect, ending);
		if (*ret < 0)
			continue;
		snprintf(collect->stored, sizeof(collect->stored), "%s/%s%s",
			 collect->asked->folder, collect->name, ending);
		return NULL;
	}
	return rcore_error_os(errno, "cannot create a file in %s", collect->asked->folder);
}

const char *rcore_collect_name(const struct rcore_collect *collect, size_t output,
			       char name[96])
{
	snprintf(name, 96, "%s%s", collect->name, rcore_collect_endings[output]);
	return name;
}

bool rcore_collect_is_spooled(const struct rcore_collect *collect, size_t output)
{
	return collect->spool.path && in_spool[output].is_there;
}

int rcore_collect_folder_of(const struct rcore_collect *collect, size_t output)
{
	return rcore_collect_is_spooled(collect, output)
		       ? collect->spool.folders[in_spool[output].folder]
		       : collect->folder;
}

void rcore_collect_note(const struct rcore_collect *collect, const char *message)
{
	enum { LONGEST = 1000, LARGEST = 1 << 20 };
	char path[PATH_MAX], shown[LONGEST], *line = NULL;
	size_t size;
	snprintf(path, sizeof(path), "%s/rcore.log", collect->asked->folder);
	rcore_escape(shown, sizeof(shown), message);
	fprintf(stderr, "rcore: %s\n", shown);
	FILE *log = rcore_open_text(&line, &size);
	if (!log)
		return;
	fprintf(log, "%lld %s: %s\n", (long long)time(NULL), collect->pid, shown);
	if (!fclose(log))
		rcore_error_free(rcore_output_append(path, line, LARGEST));
	free(line);
}

void rcore_collect_open_spool(struct rcore_collect *collect)
{
	collect->output_count = RCORE_COLLECT_LINE;
	if (!collect->asked->spool)
		return;
	struct rcore_error *err = rcore_spool_open(collect->asked->spool, &collect->spool);
	if (err) {
		rcore_collect_note(collect, err->message);
		collect->spool_status = 2;
		rcore_error_free(err);
		return;
	}
	collect->output_count = RCORE_COLLECT_OUTPUTS;
}
