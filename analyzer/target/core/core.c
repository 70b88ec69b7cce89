/* SPDX-License-Identifier: MIT */
#include "target/core/core.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"
#include "target/core/core_file.h"
#include "target/core/core_notes.h"
#include "target/core/core_pages.h"
#include "target/core/core_reader.h"
#include "target/core/core_room.h"
#include "target/core/journal.h"
#include "target/core/read_ahead.h"
#include "target/live/syscall.h"
#include "target/pack/pack_known.h"
#include "target/segments.h"

struct rcore_core {
	/* must come first: the callbacks cast it back */
	struct rcore_memory memory;
	struct rcore_segments segments;
	struct rcore_process process;
	struct rcore_arena arena;
	struct rcore_core_file file;
	struct rcore_known_runs known; /* of a pack */
	/* The offset of the first segment's bytes in the file. */
	uint64_t pages;
	struct rcore_segment *list; /* as in the program headers, by start */
	size_t list_count;
	uint64_t saved_bytes, lost_bytes;
	struct rcore_core_room room;
	struct rcore_core_origin origin;
};

static enum rcore_fault read_core(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct rcore_core *core = (struct rcore_core *)memory;
	struct rcore_core_pages *pages = core->file.pages;
	const struct rcore_piece *piece = NULL;
	if (rcore_core_pages_suit(pages))
		piece = rcore_segments_find(&core->segments, address);
	/* A read that needs several pieces is rare. */
	if (!piece || !piece->bytes || piece->end - address < size)
		return rcore_segments_read(&core->segments, address, buffer, size);
	const uint8_t *bytes = piece->bytes + (address - piece->start);
	return rcore_core_pages_read(pages, (uint64_t)(bytes - core->file.bytes), buffer, size)
		       ? RCORE_FAULT_NONE
		       : RCORE_FAULT_IO;
}

/* Adds the bytes that the file has for a segment. */
static bool add_saved(struct rcore_core *core, const Elf64_Phdr *header, uint64_t saved)
{
	if (!core->process.pack_known)
		return rcore_segments_add(&core->segments, header->p_vaddr, saved,
					  core->file.bytes + (saved ? header->p_offset : 0),
					  RCORE_FAULT_NONE);
	uint64_t start = header->p_offset - core->pages, end = start + saved;
	const struct rcore_known_runs *known = &core->known;
	for (size_t i = rcore_known_find(known, start);
	     i < known->count && saved && known->items[i].start < end; i++) {
		const struct rcore_known_run *run = &known->items[i];
		uint64_t from = run->start > start ? run->start : start;
		uint64_t to = run->end < end ? run->end : end;
		if (!rcore_segments_add(&core->segments, header->p_vaddr + (from - start),
					to - from, core->file.bytes + core->pages + from,
					RCORE_FAULT_NONE))
			return false;
	}
	return rcore_segments_add(&core->segments, header->p_vaddr, saved, NULL,
				  RCORE_FAULT_NOT_SAVED);
}

static bool add_load(struct rcore_core *core, const Elf64_Phdr *header)
{
	uint64_t size = header->p_memsz;
	if (size > UINT64_MAX - header->p_vaddr)
		size = UINT64_MAX - header->p_vaddr;
	uint64_t claimed = header->p_filesz < size ? header->p_filesz : size;
	uint64_t left =
		header->p_offset < core->file.size ? core->file.size - header->p_offset : 0;
	uint64_t saved = claimed < left ? claimed : left;
	if (!rcore_core_room_take(&core->room, header->p_offset, saved))
		saved = claimed = 0;
	core->saved_bytes += saved;
	core->lost_bytes += claimed - saved;
	core->list[core->list_count++] = (struct rcore_segment){
		.start = header->p_vaddr,
		.size = size,
		.saved = saved,
		.readable = header->p_flags & PF_R,
		.writable = header->p_flags & PF_W,
		.executable = header->p_flags & PF_X,
	};
	return add_saved(core, header, saved) &&
	       rcore_segments_add(&core->segments, header->p_vaddr + saved, claimed - saved,
				  NULL, RCORE_FAULT_TRUNCATED) &&
	       rcore_segments_add(&core->segments, header->p_vaddr + claimed, size - claimed,
				  NULL, RCORE_FAULT_NOT_SAVED);
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_segment *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t first_offset(const struct rcore_core_file *file)
{
	uint64_t first = file->size;
	for (size_t i = 0; i < file->program_header_count; i++) {
		Elf64_Phdr header = rcore_core_file_header(file, i);
		if (header.p_type == PT_LOAD && header.p_filesz && header.p_offset < first)
			first = header.p_offset;
	}
	return first;
}

/*
 * How many bytes at the beginning of a pack's memory are known without a gap.
 * Zeroes beyond a gap are not shared: each segment would have all their parts.
 */
static uint64_t shared_bytes(const struct rcore_core *core)
{
	const struct rcore_known_runs *known = &core->known;
	return core->process.pack_known && known->count && !known->items[0].start
		       ? known->items[0].end
		       : 0;
}

static bool add_loads(struct rcore_core *core)
{
	rcore_core_room_init(&core->room, core->file.bytes, core->file.size, core->pages,
			     shared_bytes(core));
	core->list = calloc(core->file.program_header_count, sizeof(*core->list));
	if (!core->list)
		return false;
	for (size_t i = 0; i < core->file.program_header_count; i++) {
		Elf64_Phdr header = rcore_core_file_header(&core->file, i);
		if (header.p_type == PT_LOAD && !add_load(core, &header))
			return false;
	}
	qsort(core->list, core->list_count, sizeof(*core->list), by_start);
	return rcore_segments_ready(&core->segments);
}

const char *rcore_core_cut_off(struct rcore_arena *arena, uint64_t lost, uint64_t saved)
{
	double missing = (double)lost / (1 << 20);
	double all = missing + (double)saved / (1 << 20);
	return rcore_arena_printf(arena,
				  "the core is truncated: %.1f of %.1f MiB of its memory are "
				  "missing; " RCORE_CORE_ADVICE,
				  missing, all);
}

/*
 * gdb (gcore) writes the notes after the memory, the kernel before it. Without
 * them, the threads and files of the process are unknown.
 */
static const char *describe_lost_notes(struct rcore_core *core)
{
	return rcore_arena_printf(
		&core->arena,
		"the core is truncated: %.1f MiB of its memory and all of its notes "
		"(threads, signal, files) are missing; gcore writes the notes last, so "
		"copy the core again, or get a new one",
		(double)core->lost_bytes / (1 << 20));
}

static bool describe(struct rcore_core *core, size_t damaged)
{
	if (core->lost_bytes && !core->process.thread_count && !core->process.mapping_count)
		core->process.note = describe_lost_notes(core);
	else if (core->lost_bytes)
		core->process.note =
			rcore_core_cut_off(&core->arena, core->lost_bytes, core->saved_bytes);
	else if (core->file.is_cut_off)
		core->process.note = "the compressed core is damaged or truncated, and its end "
				     "is missing; copy it again";
	else if (damaged)
		core->process.note = rcore_arena_printf(
			&core->arena, "%zu of the notes of the core cannot be read", damaged);
	else if (core->room.refused_count)
		core->process.note = rcore_arena_printf(
			&core->arena,
			"the core is damaged: its segments have more than %d times as many "
			"bytes as the file, and %zu of them were left out; copy the core "
			"again, or get a new one",
			RCORE_CORE_TIMES, core->room.refused_count);
	else if (!core->process.thread_count)
		core->process.note = "the core has no threads (no NT_PRSTATUS note)";
	return core->process.note || !(core->lost_bytes || damaged || core->room.refused_count);
}

/* A core from standard input has no file whose time could be read. */
static bool find_origin(struct rcore_core *core, const char *path)
{
	struct rcore_core_origin *origin = &core->origin;
	struct rcore_journal_facts journal;
	struct stat status;
	if (!strcmp(path, "-"))
		return true;
	rcore_journal_facts_read(path, &journal);
	origin->time = journal.time;
	origin->time_source = "systemd";
	if (!journal.time && !stat(path, &status) && status.st_mtim.tv_sec > 0) {
		origin->time = (uint64_t)status.st_mtim.tv_sec;
		origin->time_source = "file";
	}
	if (journal.host[0])
		origin->host = rcore_arena_strdup(&core->arena, journal.host);
	return !journal.host[0] || origin->host;
}

static struct rcore_error *load(struct rcore_core *core, const char *path)
{
	struct rcore_error *err = rcore_core_file_open(path, &core->file);
	if (err)
		return err;
	Elf64_Ehdr header;
	memcpy(&header, core->file.bytes, sizeof(header));
	core->process.machine = header.e_machine;
	core->process.source =
		rcore_arena_strdup(&core->arena, strcmp(path, "-") ? path : "standard input");
	if (!core->process.source || !find_origin(core, path))
		return rcore_error_no_memory();
	size_t damaged;
	err = rcore_core_notes_read(&core->file, &core->arena, &core->process, &damaged);
	if (err)
		return err;
	const struct rcore_process *process = &core->process;
	core->pages = first_offset(&core->file);
	if (!rcore_known_read(process->pack_known, process->pack_known_size,
			      core->file.size - core->pages, &core->known) ||
	    !add_loads(core))
		return rcore_error_no_memory();
	core->process.segments = core->list;
	core->process.segment_count = core->list_count;
	return describe(core, damaged) ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_core_open(const char *path, struct rcore_core **ret)
{
	struct rcore_core *core = calloc(1, sizeof(*core));
	if (!core)
		return rcore_error_no_memory();
	core->memory.read = read_core;
	struct rcore_error *err = load(core, path);
	if (err) {
		rcore_core_close(core);
		return err;
	}
	rcore_syscall_find_killer(&core->process, &core->memory);
	*ret = core;
	return NULL;
}

void rcore_core_close(struct rcore_core *core)
{
	if (!core)
		return;
	rcore_segments_deinit(&core->segments);
	rcore_known_deinit(&core->known);
	rcore_core_file_close(&core->file);
	rcore_arena_deinit(&core->arena);
	free(core->list);
	free(core);
}

struct rcore_memory *rcore_core_memory(struct rcore_core *core)
{
	return &core->memory;
}

const struct rcore_process *rcore_core_process(const struct rcore_core *core)
{
	return &core->process;
}

static bool is_zero(const struct rcore_core *core, const struct rcore_piece *piece)
{
	return rcore_core_room_is_zero(&core->room, (uint64_t)(piece->bytes - core->file.bytes),
				       piece->end - piece->start);
}

bool rcore_core_saved(const struct rcore_core *core, uint64_t address, uint64_t *ret_start,
		      uint64_t *ret_end, bool *ret_is_zero)
{
	const struct rcore_piece *items = core->segments.items;
	const size_t count = core->segments.count;
	size_t i = RCORE_PARTITION_POINT(count, middle, items[middle].end <= address);
	while (i < count && !items[i].bytes)
		i++;
	if (i == count)
		return false;
	*ret_start = items[i].start > address ? items[i].start : address;
	*ret_end = items[i].end;
	*ret_is_zero = is_zero(core, &items[i]);
	for (i++; i < count && items[i].bytes && items[i].start == *ret_end &&
		  is_zero(core, &items[i]) == *ret_is_zero;
	     i++)
		*ret_end = items[i].end;
	return true;
}

uint64_t rcore_core_edge(const struct rcore_core *core, uint64_t address)
{
	return rcore_segments_edge(&core->segments, address);
}

bool rcore_core_is_truncated(const struct rcore_core *core)
{
	return core && core->lost_bytes;
}

bool rcore_core_is_read_ahead(const struct rcore_core *core)
{
	return core && core->file.ahead;
}

void rcore_core_keep(struct rcore_core *core, uint64_t start, uint64_t end)
{
	if (!rcore_core_is_read_ahead(core))
		return;
	while (start < end) {
		const struct rcore_piece *piece = rcore_segments_find(&core->segments, start);
		if (!piece || !piece->bytes)
			return;
		uint64_t stop = piece->end < end ? piece->end : end;
		const uint8_t *bytes = piece->bytes + (start - piece->start);
		rcore_read_ahead_note(core->file.ahead, (uint64_t)(bytes - core->file.bytes),
				      stop - start);
		start = stop;
	}
}

void rcore_core_fetch(struct rcore_core *core)
{
	if (core)
		rcore_read_ahead_send(core->file.ahead);
}

void rcore_core_release_pages(struct rcore_core *core)
{
	if (core)
		rcore_mapped_file_release_pages(&core->file.map);
}

void rcore_core_read_mapping(struct rcore_core *core)
{
	if (!core)
		return;
	rcore_core_pages_free(core->file.pages);
	core->file.pages = NULL;
}

static enum rcore_fault read_reader(struct rcore_memory *memory, uint64_t address, void *buffer,
				    size_t size)
{
	return rcore_segments_read(&((struct rcore_core_reader *)memory)->segments, address,
				   buffer, size);
}

void rcore_core_reader_init(struct rcore_core_reader *reader, const struct rcore_core *core)
{
	reader->memory.read = read_reader;
	reader->segments = core->segments;
}

const uint8_t *rcore_core_reader_bytes(struct rcore_core_reader *reader, uint64_t address,
				       size_t size)
{
	const struct rcore_piece *piece = rcore_segments_find(&reader->segments, address);
	return piece && piece->bytes && size <= piece->end - address
		       ? piece->bytes + (address - piece->start)
		       : NULL;
}

const struct rcore_core_origin *rcore_core_origin(const struct rcore_core *core)
{
	return &core->origin;
}

const struct rcore_core_file *rcore_core_file(const struct rcore_core *core)
{
	return &core->file;
}

bool rcore_core_segment(const struct rcore_core *core, size_t index, struct rcore_segment *ret)
{
	if (index >= core->list_count)
		return false;
	*ret = core->list[index];
	return true;
}
