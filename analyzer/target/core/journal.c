/* SPDX-License-Identifier: MIT */
#include "target/core/journal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/text.h"

enum {
	/* TASK_COMM_LEN is 16; an escaped character has four. */
	COMM_SIZE = 64,
	PID_SIZE = 16,
	ATTRIBUTE_SIZE = 128,
};

/* What the name and attributes of a core say about it. */
struct entry {
	char comm[COMM_SIZE], pid[PID_SIZE];
	uint64_t time; /* microseconds */
};

/* Turns "\x2e" into ".", in place. */
static void unescape(char *text)
{
	char *out = text;
	unsigned c;
	int size;
	for (; *text; text++) {
		if (sscanf(text, "\\x%2x%n", &c, &size) == 1 && size == 4) {
			*out++ = (char)c;
			text += size - 1;
		} else {
			*out++ = *text;
		}
	}
	*out = 0;
}

static bool parse_name(const char *name, struct entry *ret)
{
	char boot[33], uid[16];
	int end = 0;
	int count = sscanf(name, "core.%63[^.].%15[0-9].%32[0-9a-f].%15[0-9].%" SCNu64 "%n",
			   ret->comm, uid, boot, ret->pid, &ret->time, &end);
	unescape(ret->comm);
	return count == 5 && end && (!name[end] || name[end] == '.');
}

static void take_attribute(const char *path, const char *name, char *text, size_t size)
{
	char value[ATTRIBUTE_SIZE];
	ssize_t length = lgetxattr(path, name, value, sizeof(value));
	if (length <= 0 || (size_t)length >= size)
		return;
	memcpy(text, value, (size_t)length);
	text[length] = 0;
}

/*
 * The kernel passes whole seconds to systemd. Some releases of systemd store
 * seconds, others microseconds.
 */
static uint64_t seconds_of(uint64_t time)
{
	const uint64_t earliest_in_microseconds = UINT64_C(1000000000000);
	return time >= earliest_in_microseconds ? time / 1000000 : time;
}

void rcore_journal_facts_read(const char *path, struct rcore_journal_facts *ret)
{
	struct entry entry = {0};
	char text[32] = "";
	*ret = (struct rcore_journal_facts){0};
	take_attribute(path, "user.coredump.timestamp", text, sizeof(text));
	take_attribute(path, "user.coredump.hostname", ret->host, sizeof(ret->host));
	if (sscanf(text, "%" SCNu64, &ret->time) != 1 &&
	    parse_name(rcore_base_name(path), &entry))
		ret->time = entry.time;
	ret->time = seconds_of(ret->time);
}

static bool is_same(const struct entry *entry, const char *id)
{
	return !strcmp(entry->pid, id) || !strcmp(entry->comm, id);
}

struct search {
	const char *folder, *id;
	char *path; /* of the newest; NULL: none yet */
	uint64_t time;
	size_t count; /* of all cores there */
};

static struct rcore_error *look_at(struct search *search, const char *name)
{
	struct entry entry;
	char *path;
	if (!parse_name(name, &entry))
		return NULL;
	if (asprintf(&path, "%s/%s", search->folder, name) < 0)
		return rcore_error_no_memory();
	take_attribute(path, "user.coredump.comm", entry.comm, sizeof(entry.comm));
	take_attribute(path, "user.coredump.pid", entry.pid, sizeof(entry.pid));
	search->count++;
	if (is_same(&entry, search->id) && (!search->path || entry.time > search->time)) {
		char *older = search->path;
		search->path = path;
		search->time = entry.time;
		path = older;
	}
	free(path);
	return NULL;
}

struct rcore_error *rcore_journal_find(const char *folder, const char *id, char **ret)
{
	struct search search = {.folder = folder, .id = id};
	char in[128], what[64];
	struct rcore_error *err = NULL;
	rcore_escape(in, sizeof(in), folder);
	rcore_escape(what, sizeof(what), id);
	DIR *directory = opendir(folder);
	if (!directory)
		return rcore_error_os(errno, "%s, where systemd keeps cores", in);
	for (struct dirent *entry; !err && (entry = readdir(directory));)
		err = look_at(&search, entry->d_name);
	closedir(directory);
	if (!err && !search.path)
		err = rcore_error_create(
			RCORE_ERROR_OS,
			"%s: no core of '%s' among %zu; `coredumpctl list` lists them by PID "
			"and name, also those that were removed",
			in, what, search.count);
	if (err)
		free(search.path);
	else
		*ret = search.path;
	return err;
}
