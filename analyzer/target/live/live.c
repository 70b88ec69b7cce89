/* SPDX-License-Identifier: MIT */
#include "target/live/live.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hot.h"
#include "target/live/live_explain.h"
#include "target/live/live_private.h"

enum { MAX_AUXV_PAIRS = 64, MAX_ARGUMENTS = 4096 };

/*
 * Finds the machine in the program's ELF header; if the file cannot be opened,
 * in the memory into which it is mapped.
 */
static struct rcore_error *check_machine(struct rcore_live *live)
{
	Elf64_Ehdr header = {0};
	uint64_t address;
	int file = openat(live->folder, "exe", O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : pread(file, &header, sizeof(header), 0);
	if (file >= 0)
		close(file);
	if (got != sizeof(header) &&
	    (!rcore_process_auxv(&live->process, AT_PHDR, &address) ||
	     rcore_read(&live->memory.memory, address & ~(uint64_t)(RCORE_LIVE_PAGE - 1),
			&header, sizeof(header))))
		return NULL;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG))
		return NULL;
	if (header.e_ident[EI_CLASS] != ELFCLASS64)
		return rcore_error_create(
			RCORE_ERROR_UNSUPPORTED,
			"process %d (%s) is 32-bit; rcore reads only 64-bit processes",
			live->pid, live->status.name);
	if (header.e_machine != live->process.machine)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "process %d (%s) runs a program for another machine "
					  "(ELF machine %u); use an rcore for that machine",
					  live->pid, live->status.name, header.e_machine);
	return NULL;
}

/*
 * Each argument ends with a NUL. A program that sets its title leaves many NULs
 * at the end.
 */
static bool read_arguments(struct rcore_live *live)
{
	size_t size;
	char *text = rcore_live_file(live->folder, "cmdline", &size);
	if (!text)
		return true;
	while (size && (text[size - 1] == '\0' || text[size - 1] == ' '))
		size--;
	if (size > MAX_ARGUMENTS)
		size = MAX_ARGUMENTS;
	for (size_t i = 0; i < size; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	live->process.arguments = size ? rcore_arena_strndup(&live->arena, text, size) : NULL;
	bool kept = !size || live->process.arguments;
	free(text);
	return kept;
}

static int read_auxv(struct rcore_live *live)
{
	size_t size;
	char *text = rcore_live_file(live->folder, "auxv", &size);
	if (!text)
		return errno;
	size_t pairs = 0;
	uint64_t word[2];
	while (pairs < MAX_AUXV_PAIRS && (pairs + 1) * sizeof(word) <= size) {
		memcpy(word, text + pairs * sizeof(word), sizeof(word));
		if (word[0] == AT_NULL)
			break;
		pairs++;
	}
	live->process.auxv = rcore_arena_array(&live->arena, pairs, sizeof(word));
	if (live->process.auxv && pairs)
		memcpy(live->process.auxv, text, pairs * sizeof(word));
	live->process.auxv_pairs = live->process.auxv ? pairs : 0;
	free(text);
	return live->process.auxv ? 0 : ENOMEM;
}

static struct rcore_error *open_folder(struct rcore_live *live)
{
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", live->pid);
	live->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (live->folder < 0)
		return rcore_live_explain(live->pid, -1, errno);
	if (!rcore_live_status_read(live->folder, "status", &live->status))
		return rcore_live_explain(live->pid, -1, ENOENT);
	return NULL;
}

/*
 * If the main thread has ended, looks for another one through which to read.
 * Refuses the process if none has memory.
 */
static struct rcore_error *find_memory(struct rcore_live *live)
{
	if (!live->status.has_memory && live->status.thread_count > 1 &&
	    rcore_live_memory_follow(&live->memory))
		return NULL;
	return rcore_live_refuse(live->pid, live->folder, &live->status);
}

/*
 * Reads the bytes at AT_RANDOM, which the kernel has put on the first stack, so
 * that a missing permission is reported before the real work. It is no error if
 * the program has unmapped them.
 */
static int try_memory(struct rcore_live *live)
{
	uint64_t address;
	struct rcore_live_range range = {.size = RCORE_LIVE_DRAWN, .bytes = live->drawn};
	if (!rcore_process_auxv(&live->process, AT_RANDOM, &address))
		return 0;
	range.start = address;
	errno = 0;
	rcore_live_read_batch(&live->memory, &range, 1);
	live->has_drawn = range.read == RCORE_LIVE_DRAWN;
	return live->has_drawn || errno == EFAULT || errno == EIO ? 0 : errno;
}

static struct rcore_error *describe(struct rcore_live *live)
{
	struct rcore_process *process = &live->process;
	int errnum = read_auxv(live);
	if (!errnum)
		errnum = rcore_live_maps_read(live->folder, live->memory.task, &live->arena,
					      &live->maps);
	if (!errnum)
		errnum = try_memory(live);
	if (!errnum && !live->maps.region_count)
		errnum = ESRCH;
	if (errnum)
		return rcore_live_explain(live->pid, live->folder, errnum);
	/* execve(2) drops the old mappings before it maps the new program. */
	if (!live->maps.mapping_count)
		return rcore_live_executed(live->pid);
	/*
	 * If nothing is mapped there, the process may have executed another
	 * program after its auxiliary vector was read.
	 */
	struct rcore_error *err = live->has_drawn ? NULL : rcore_live_check(live);
	if (err)
		return err;
	process->pid = live->pid;
#ifdef __aarch64__
	process->machine = EM_AARCH64;
#else
	process->machine = EM_X86_64;
#endif
	process->mappings = live->maps.mappings;
	process->mapping_count = live->maps.mapping_count;
	process->source = rcore_arena_printf(&live->arena, "process %d", live->pid);
	process->executable = rcore_arena_strdup(&live->arena, live->status.name);
	if (rcore_live_has_own_root(live->folder))
		process->root =
			rcore_arena_printf(&live->arena, "/proc/%d/root", live->memory.task);
	if (!process->source || !process->executable || !read_arguments(live))
		return rcore_error_no_memory();
	return check_machine(live);
}

struct rcore_error *rcore_live_open(int pid, struct rcore_live **ret)
{
	struct rcore_live *live = calloc(1, sizeof(*live));
	if (!live)
		return rcore_error_no_memory();
	live->pid = pid;
	struct rcore_error *err = open_folder(live);
	rcore_live_memory_init(&live->memory, pid, live->folder, &live->maps);
	rcore_live_pages_init(&live->pages, &live->memory);
	if (!err)
		err = find_memory(live);
	if (!err)
		err = describe(live);
	if (err) {
		rcore_live_close(live);
		return err;
	}
	*ret = live;
	return NULL;
}

void rcore_live_close(struct rcore_live *live)
{
	if (!live)
		return;
	rcore_stop_end(live->stop);
	rcore_standby_stop(live->memory.standby);
	rcore_live_sleepers_clear(&live->sleepers);
	rcore_live_pages_clear(&live->pages);
	rcore_live_copy_deinit(&live->copy);
	rcore_live_victim_end(&live->victim);
	rcore_live_memory_deinit(&live->memory);
	if (live->folder >= 0)
		close(live->folder);
	rcore_arena_deinit(&live->arena);
	free(live->ids.items);
	free(live->threads.items);
	free(live);
}

struct rcore_memory *rcore_live_memory(struct rcore_live *live)
{
	return &live->pages.memory;
}

RCORE_HOT void rcore_live_read(struct rcore_live *live, struct rcore_live_range *ranges,
			       size_t count)
{
	rcore_live_read_batch(&live->memory, ranges, count);
}

struct rcore_memory *rcore_live_bare_memory(struct rcore_live *live)
{
	return &live->memory.memory;
}

int rcore_live_folder(const struct rcore_live *live)
{
	return live->folder;
}

const struct rcore_process *rcore_live_process(const struct rcore_live *live)
{
	return &live->process;
}

bool rcore_live_segment(const struct rcore_live *live, size_t index, struct rcore_segment *ret)
{
	if (index >= live->maps.region_count)
		return false;
	const struct rcore_live_region *region = &live->maps.regions[index];
	*ret = (struct rcore_segment){
		.start = region->start,
		.size = region->end - region->start,
		.readable = region->readable,
		.writable = region->writable,
		.executable = region->executable,
	};
	return true;
}

bool rcore_live_is_mapped(const struct rcore_live *live, uint64_t address)
{
	return rcore_live_region_at(&live->maps, address) != NULL;
}

bool rcore_live_is_constant(const struct rcore_live *live, uint64_t address)
{
	const struct rcore_live_region *region = rcore_live_region_at(&live->maps, address);
	return region && region->is_constant;
}

int rcore_live_inner_pid(const struct rcore_live *live)
{
	return live->status.depth ? live->status.inner_id : 0;
}
