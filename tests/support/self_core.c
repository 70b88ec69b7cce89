/* SPDX-License-Identifier: MIT */
#include "self_core.h"

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_LINES = 4096, MAX_ANONYMOUS = 1 << 20, NAMES = 1 << 20 };

static const uint64_t LOOK_AT = UINT64_C(0x100000000000);

struct line {
	uint64_t start, end, offset;
	char flags[5];
	const char *path; /* "": anonymous */
};

struct maps {
	struct line lines[MAX_LINES];
	size_t count;
	char names[NAMES];
};

static struct maps *read_maps(void)
{
	struct maps *maps = calloc(1, sizeof(*maps));
	FILE *file = fopen("/proc/self/maps", "r");
	if (!maps || !file)
		err(2, "/proc/self/maps");
	char text[4400], *name = maps->names;
	while (maps->count < MAX_LINES && fgets(text, sizeof(text), file)) {
		struct line *line = &maps->lines[maps->count++];
		int path = 0;
		if (sscanf(text, "%lx-%lx %4s %lx %*s %*s %n", &line->start, &line->end,
			   line->flags, &line->offset, &path) < 4)
			errx(2, "/proc/self/maps: %s", text);
		text[strcspn(text, "\n")] = '\0';
		line->path = name;
		if (path && text[path] == '/')
			name = stpcpy(name, text + path);
		name++;
	}
	fclose(file);
	return maps;
}

/* The range to look for, and whether a PT_GNU_RELRO covers some of it. */
struct relro {
	uint64_t start, end;
	bool found;
};

static int look_for_relro(struct dl_phdr_info *info, size_t size, void *data)
{
	struct relro *relro = data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		if (info->dlpi_phdr[i].p_type == PT_GNU_RELRO && start < relro->end &&
		    start + info->dlpi_phdr[i].p_memsz > relro->start)
			relro->found = true;
	}
	return 0;
}

static bool is_constant(const struct line *line)
{
	struct relro relro = {line->start, line->end, false};
	dl_iterate_phdr(look_for_relro, &relro);
	return *line->path && line->flags[1] != 'w' && !relro.found;
}

bool self_is_constant(uint64_t start, uint64_t end)
{
	struct maps *maps = read_maps();
	bool constant = false;
	for (size_t i = 0; i < maps->count; i++)
		if (maps->lines[i].start == start && maps->lines[i].end == end)
			constant = is_constant(&maps->lines[i]);
	free(maps);
	return constant;
}

unsigned self_machine(void)
{
#ifdef __aarch64__
	return EM_AARCH64;
#else
	return EM_X86_64;
#endif
}

bool self_read(uint64_t address, void *buffer, size_t size)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(2, "/proc/self/mem");
	bool read = pread(fd, buffer, size, (off_t)address) == (ssize_t)size;
	close(fd);
	return read;
}

static void load_line(struct core_builder *builder, const struct line *line, uint64_t saved,
		      uint32_t flags)
{
	void *bytes = malloc(saved ? saved : 1);
	if (!bytes)
		err(2, "malloc");
	/* What was freed since the maps were read no longer exists. */
	if (saved && !self_read(line->start, bytes, saved))
		saved = 0;
	core_load(builder, line->start, bytes, saved, line->end - line->start, flags);
	free(bytes);
}

static uint64_t saved_size(const struct line *line, const struct self_core_options *options)
{
	uint64_t size = line->end - line->start;
	if (line->flags[0] != 'r')
		return 0;
	if (!*line->path)
		return line->flags[1] == 'w' && size <= MAX_ANONYMOUS ? size : 0;
	if (options->everything)
		return size;
	if (!is_constant(line))
		return size;
	return line->offset || options->no_headers ? 0 : PAGE;
}

static void note_auxv(struct core_builder *builder)
{
	char auxv[4096];
	FILE *file = fopen("/proc/self/auxv", "r");
	if (!file)
		err(2, "/proc/self/auxv");
	core_note(builder, "CORE", NT_AUXV, auxv, fread(auxv, 1, sizeof(auxv), file));
	fclose(file);
}

static void note_files(struct core_builder *builder, const struct maps *maps,
		       const struct self_core_options *options)
{
	struct core_mapping *mappings = calloc(maps->count + 1, sizeof(*mappings));
	char *names = calloc(maps->count + 1, PATH_MAX);
	size_t count = 0;
	if (!mappings || !names)
		err(2, "calloc");
	for (size_t i = 0; i < maps->count; i++) {
		const struct line *line = &maps->lines[i];
		char *name = names + count * PATH_MAX;
		if (!*line->path)
			continue;
		snprintf(name, PATH_MAX, "%s%s%s", options->prefix ? options->prefix : "",
			 line->path, options->suffix ? options->suffix : "");
		mappings[count++] =
			(struct core_mapping){line->start, line->end, line->offset, name};
		if (line->start == (uint64_t)(uintptr_t)options->look_at) {
			core_load(builder, LOOK_AT, options->look_at, PAGE, 16 << 20, PF_R);
			mappings[count++] =
				(struct core_mapping){LOOK_AT, LOOK_AT + (16 << 20), 0, name};
		}
	}
	core_note_files(builder, mappings, count);
	free(mappings);
	free(names);
}

void self_core(struct core_builder *builder, const struct self_core_options *options)
{
	uint64_t here = (uint64_t)(uintptr_t)&here;
	struct maps *maps = read_maps();
	builder->machine = self_machine();
	core_note_status(builder, getpid(), SIGABRT, (uint64_t)(uintptr_t)self_core, here, 0);
	core_note_process(builder, getpid(), "self", "self");
	note_auxv(builder);
	if (!options->no_file_note)
		note_files(builder, maps, options);
	for (size_t i = 0; i < maps->count; i++) {
		const struct line *line = &maps->lines[i];
		uint32_t flags = (line->flags[0] == 'r' ? PF_R : 0) |
				 (line->flags[1] == 'w' ? PF_W : 0) |
				 (line->flags[2] == 'x' ? PF_X : 0);
		load_line(builder, line, saved_size(line, options), flags);
	}
	free(maps);
}
