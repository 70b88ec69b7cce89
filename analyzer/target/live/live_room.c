/* SPDX-License-Identifier: MIT */
#include "target/live/live_room.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/count.h"
#include "target/live/live_files.h"

static const char highest_score[] = "1000\n";

/*
 * Where each version of control groups has its limits. The used memory includes
 * cached pages of files; the kernel drops the inactive ones when it needs
 * memory.
 */
static const struct hierarchy {
	const char *controller, *folder, *limit, *used, *unused_files;
} hierarchies[] = {
	{"", "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
	{"memory", "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	 "total_inactive_file "},
};

/*
 * Reads the number after `key`, which starts a line; if `key` is "", the number
 * at the start of the file. Returns false if there is none, such as for "max".
 */
static bool read_number(const char *path, const char *key, uint64_t *ret)
{
	char *text = rcore_live_file(AT_FDCWD, path, NULL);
	const char *line = text;
	size_t length = strlen(key);
	while (line && strncmp(line, key, length) != 0) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	const char *digits = line ? line + length + strspn(line + length, " ") : "";
	bool is_number = *digits >= '0' && *digits <= '9';
	if (is_number)
		*ret = strtoull(digits, NULL, 10);
	free(text);
	return is_number;
}

static void limit_to(struct rcore_live_room *room, uint64_t bytes, const char *limit)
{
	if (bytes >= room->bytes)
		return;
	room->bytes = bytes;
	snprintf(room->limit, sizeof(room->limit), "%s", limit);
}

static bool read_of_group(const char *root, const struct hierarchy *hierarchy,
			  const char *group, const char *file, const char *key, uint64_t *ret)
{
	char path[4096];
	int length =
		snprintf(path, sizeof(path), "%s%s%s/%s", root, hierarchy->folder, group, file);
	return length < (int)sizeof(path) && read_number(path, key, ret);
}

static void check_group(const char *root, const struct hierarchy *hierarchy, const char *group,
			struct rcore_live_room *room)
{
	uint64_t limit, used, unused = 0;
	char name[sizeof(room->limit)];
	if (!read_of_group(root, hierarchy, group, hierarchy->limit, "", &limit) ||
	    !read_of_group(root, hierarchy, group, hierarchy->used, "", &used))
		return;
	read_of_group(root, hierarchy, group, "memory.stat", hierarchy->unused_files, &unused);
	used -= unused < used ? unused : used;
	snprintf(name, sizeof(name), "%s%s/%s", hierarchy->folder, group, hierarchy->limit);
	limit_to(room, limit > used ? limit - used : 0, name);
}

/*
 * Checks a group and all groups above it; overwrites `group`. In a container,
 * `group` may be a path of the host that does not exist here. Then only the top
 * is found, which is the container's own group.
 */
static void check_groups(const char *root, const struct hierarchy *hierarchy, char *group,
			 struct rcore_live_room *room)
{
	for (char *slash; (slash = strrchr(group, '/')); *slash = '\0')
		if (slash[1])
			check_group(root, hierarchy, group, room);
	check_group(root, hierarchy, "", room);
}

/* Returns whether `name` is in a list such as "cpu,memory". */
static bool has_controller(const char *list, const char *name)
{
	size_t length = strlen(name);
	for (;;) {
		size_t size = strcspn(list, ",");
		if (size == length && !memcmp(list, name, length))
			return true;
		if (!list[size])
			return false;
		list += size + 1;
	}
}

/* Reads a line of /proc/PID/cgroup: "ID:CONTROLLERS:GROUP". */
static void check_line(const char *root, char *line, struct rcore_live_room *room)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return;
	*group++ = '\0';
	for (size_t i = 0; i < RCORE_COUNT(hierarchies); i++)
		if (has_controller(controllers + 1, hierarchies[i].controller))
			check_groups(root, &hierarchies[i], group, room);
}

void rcore_live_room_find(const char *root, struct rcore_live_room *ret)
{
	char path[4096];
	uint64_t kilobytes;
	*ret = (struct rcore_live_room){.bytes = UINT64_MAX};
	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	if (read_number(path, "MemAvailable:", &kilobytes))
		limit_to(ret, kilobytes * 1024, "MemAvailable in /proc/meminfo");
	snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
	char *text = rcore_live_file(AT_FDCWD, path, NULL), *rest;
	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest))
		check_line(root, line, ret);
	free(text);
}

static bool write_score(const char *text)
{
	int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	bool is_written = write(file, text, strlen(text)) == (ssize_t)strlen(text);
	close(file);
	return is_written;
}

void rcore_live_victim_begin(struct rcore_live_victim *victim)
{
	if (victim->is_set)
		return;
	char *text = rcore_live_file(AT_FDCWD, "/proc/self/oom_score_adj", NULL);
	if (text && strlen(text) < sizeof(victim->before) && strcmp(text, highest_score) != 0) {
		snprintf(victim->before, sizeof(victim->before), "%s", text);
		victim->is_set = write_score(highest_score);
	}
	free(text);
}

void rcore_live_victim_end(struct rcore_live_victim *victim)
{
	if (victim->is_set)
		write_score(victim->before);
	victim->is_set = false;
}
