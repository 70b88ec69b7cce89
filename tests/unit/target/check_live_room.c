/* SPDX-License-Identifier: MIT */
/* Tests how much memory a copy may take, with files in place of /proc and /sys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/count.h"
#include "target/live/live_room.h"
#include "suite.h"

static char root[] = "/tmp/rcore-check.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[512];
	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *slash = path + sizeof(root); (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_root(void)
{
	strcpy(root + sizeof(root) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", root);
	ck_assert_int_eq(system(command), 0);
}

static void is_limited(uint64_t bytes, const char *limit)
{
	struct rcore_live_room room;
	rcore_live_room_find(root, &room);
	ck_assert_uint_eq(room.bytes, bytes);
	ck_assert_str_eq(room.limit, limit);
}

START_TEST(knows_nothing_without_files)
{
	is_limited(UINT64_MAX, "");
	put("/proc/self/cgroup", "nothing\n1:\n\n0::/app\n");
	is_limited(UINT64_MAX, "");
}
END_TEST

START_TEST(knows_the_machine)
{
	put("/proc/meminfo", "MemTotal:  9 kB\nMemAvailable:      4 kB\n");
	is_limited(4096, "MemAvailable in /proc/meminfo");
}
END_TEST

/* The smallest limit counts, whichever group has it. */
START_TEST(knows_all_groups)
{
	put("/proc/meminfo", "MemAvailable: 1000 kB\n");
	put("/proc/self/cgroup", "0::/app/b\n");
	put("/sys/fs/cgroup/app/b/memory.max", "max\n");
	put("/sys/fs/cgroup/app/b/memory.current", "5\n");
	is_limited(1024000, "MemAvailable in /proc/meminfo");
	put("/sys/fs/cgroup/app/memory.max", "1000\n");
	put("/sys/fs/cgroup/app/memory.current", "700\n");
	is_limited(300, "/sys/fs/cgroup/app/memory.max");
	put("/sys/fs/cgroup/app/memory.stat", "anon 1\ninactive_file 100\n");
	is_limited(400, "/sys/fs/cgroup/app/memory.max");
	put("/sys/fs/cgroup/memory.max", "2000\n");
	put("/sys/fs/cgroup/memory.current", "2001\n");
	is_limited(0, "/sys/fs/cgroup/memory.max");
	put("/sys/fs/cgroup/memory.current", "1990\n");
	put("/sys/fs/cgroup/app/b/memory.max", "8\n");
	is_limited(3, "/sys/fs/cgroup/app/b/memory.max");
}
END_TEST

/* /proc has the group's path on the host; the container's own group is mounted. */
START_TEST(knows_a_container)
{
	put("/proc/self/cgroup", "0::/../system.slice/docker-1.scope\n");
	put("/sys/fs/cgroup/memory.max", "1000\n");
	put("/sys/fs/cgroup/memory.current", "1\n");
	is_limited(999, "/sys/fs/cgroup/memory.max");
}
END_TEST

START_TEST(knows_version_1)
{
	put("/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/app/1\n0::/\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "12\n");
	is_limited(9223372036854771700u, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
	put("/sys/fs/cgroup/memory/app/1/memory.limit_in_bytes", "100\n");
	put("/sys/fs/cgroup/memory/app/1/memory.usage_in_bytes", "99\n");
	put("/sys/fs/cgroup/memory/app/1/memory.stat", "total_inactive_file 9\n");
	is_limited(10, "/sys/fs/cgroup/memory/app/1/memory.limit_in_bytes");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {knows_nothing_without_files, knows_the_machine,
				      knows_all_groups, knows_a_container, knows_version_1};
	const struct rcore_test_suite suite = {
		.name = "room for a copy",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.begin = make_root,
		.end = remove_root,
	};
	return rcore_test_suite_run(&suite);
}
