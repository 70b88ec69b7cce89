/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/order.h"
#include "target/live/live_files.h"

/* A line of maps: "start-end rwxp offset major:minor inode   path" */
struct line {
	uint64_t start, end, offset;
	char permissions[5];
	dev_t device;
	ino_t inode;
	const char *path; /* "": none */
};

static bool parse(const char *text, struct line *ret)
{
	unsigned major_number, minor_number;
	unsigned long long inode;
	int length = 0;
	if (sscanf(text, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %llu%n", &ret->start,
		   &ret->end, ret->permissions, &ret->offset, &major_number, &minor_number,
		   &inode, &length) != 7)
		return false;
	ret->device = makedev(major_number, minor_number);
	ret->inode = inode;
	ret->path = text + length + strspn(text + length, " ");
	return ret->start < ret->end;
}

/* The kernel writes a newline in a path as \012. */
static char *path_of(struct rcore_arena *arena, const struct line *line)
{
	char *path = rcore_arena_strdup(arena, line->path);
	char *out = path;
	for (const char *in = path; in && *in; out++) {
		bool escaped = strncmp(in, "\\012", 4) == 0;
		*out = escaped ? '\n' : *in;
		in += escaped ? 4 : 1;
	}
	if (path)
		*out = '\0';
	return path;
}

static bool is_file(const char *path, const struct line *line)
{
	struct stat found;
	return !stat(path, &found) && S_ISREG(found.st_mode) && found.st_dev == line->device &&
	       found.st_ino == line->inode;
}

/*
 * Returns a name by which the mapped file can be opened from here: its path;
 * its path in the mount namespace and root folder of the process; or, if the
 * file was deleted or replaced, the link that the kernel keeps, for which a
 * capability is needed. For some file systems (overlayfs), stat() and maps
 * report different numbers. Then the path below the process's root is the best
 * one, and only the build-id can verify it. Returns NULL if none can be opened.
 */
static const char *file_of(struct rcore_arena *arena, int pid, const char *path,
			   const struct line *line)
{
	if (is_file(path, line))
		return path;
	const char *in_root = rcore_arena_printf(arena, "/proc/%d/root%s", pid, path);
	if (in_root && is_file(in_root, line))
		return in_root;
	const char *kept = rcore_arena_printf(arena, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
					      pid, line->start, line->end);
	if (kept && access(kept, R_OK) == 0)
		return kept;
	return in_root && access(in_root, R_OK) == 0 ? in_root : NULL;
}

struct maps {
	struct rcore_arena *arena;
	int pid;
	struct {
		struct rcore_mapping *items;
		size_t count, capacity;
	} mappings;
	struct {
		struct rcore_live_region *items;
		size_t count, capacity;
	} regions;
};

static bool add_mapping(struct maps *maps, const struct line *line)
{
	const struct rcore_mapping *last =
		maps->mappings.count ? &maps->mappings.items[maps->mappings.count - 1] : NULL;
	char *path = path_of(maps->arena, line);
	if (!path)
		return false;
	bool again = last && strcmp(last->path, path) == 0;
	const char *file = again ? last->file : file_of(maps->arena, maps->pid, path, line);
	struct rcore_mapping *mapping = rcore_push(&maps->mappings);
	if (!mapping)
		return false;
	*mapping = (struct rcore_mapping){.start = line->start,
					  .end = line->end,
					  .file_offset = line->offset,
					  .path = path,
					  .file = file};
	return true;
}

static bool is_anonymous(const char *path)
{
	return !*path || strcmp(path, "[heap]") == 0 || strncmp(path, "[stack", 6) == 0 ||
	       strncmp(path, "[anon:", 6) == 0;
}

static bool add_line(struct maps *maps, const struct line *line)
{
	struct rcore_live_region *region = rcore_push(&maps->regions);
	if (!region)
		return false;
	region->start = line->start;
	region->end = line->end;
	region->readable = line->permissions[0] == 'r';
	region->writable = line->permissions[1] == 'w';
	region->executable = line->permissions[2] == 'x';
	/*
	 * A JIT adds code, and changes where its jumps lead; it moves none
	 * (codegen.rs of YJIT and ZJIT).
	 */
	bool is_code =
		region->executable && (!*line->path || strncmp(line->path, "[anon:", 6) == 0);
	bool is_private = line->permissions[3] == 'p';
	region->is_anonymous = is_private && is_anonymous(line->path);
	region->is_private = region->is_anonymous || (is_private && *line->path == '/');
	bool is_fixed = is_code || *line->path == '/' || strcmp(line->path, "[vdso]") == 0;
	region->is_constant = is_fixed && !region->writable;
	return *line->path != '/' || add_mapping(maps, line);
}

static bool keep(struct maps *maps, struct rcore_live_maps *ret)
{
	size_t mappings = maps->mappings.count * sizeof(*maps->mappings.items);
	size_t regions = maps->regions.count * sizeof(*maps->regions.items);
	ret->mappings = rcore_arena_alloc(maps->arena, mappings + 1);
	ret->regions = rcore_arena_alloc(maps->arena, regions + 1);
	if (!ret->mappings || !ret->regions)
		return false;
	if (mappings)
		memcpy(ret->mappings, maps->mappings.items, mappings);
	if (regions)
		memcpy(ret->regions, maps->regions.items, regions);
	ret->mapping_count = maps->mappings.count;
	ret->region_count = maps->regions.count;
	return true;
}

int rcore_live_maps_read(int folder, int pid, struct rcore_arena *arena,
			 struct rcore_live_maps *ret)
{
	struct maps maps = {.arena = arena, .pid = pid};
	struct line line;
	char *text = rcore_live_file(folder, "maps", NULL);
	if (!text)
		return errno;
	bool kept = true;
	/* sscanf() measures the whole text, so it gets one line. */
	for (char *at = text, *next; *at && kept; at = next) {
		char *end = at + strcspn(at, "\n");
		next = *end ? end + 1 : end;
		*end = '\0';
		if (parse(at, &line))
			kept = add_line(&maps, &line);
	}
	kept = kept && keep(&maps, ret);
	free(text);
	free(maps.mappings.items);
	free(maps.regions.items);
	return kept ? 0 : ENOMEM;
}

const struct rcore_live_region *rcore_live_region_at(const struct rcore_live_maps *maps,
						     uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(maps->region_count, middle,
					   maps->regions[middle].end <= address);
	if (low == maps->region_count || maps->regions[low].start > address)
		return NULL;
	return &maps->regions[low];
}
