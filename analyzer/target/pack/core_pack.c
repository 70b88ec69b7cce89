/* SPDX-License-Identifier: MIT */
#include "target/pack/core_pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/filler.h"
#include "base/grow.h"
#include "base/text.h"
#include "target/core/core_file.h"
#include "target/pack/pack_known.h"

enum { PAGE = RCORE_RECORDER_PAGE };

/*
 * A pack is an ELF core: the header, program headers, the core's notes, rcore's
 * own notes, and the pages, each complete. One of rcore's notes says which
 * bytes of a page are only filling, because nobody read them. Segments are
 * split before each run of pages; the part of a segment after a run only counts
 * in p_memsz. If there are more than 65,534 headers, section 0 has their
 * number, as in any core.
 */
struct pack {
	const struct rcore_pack_source *source;
	struct rcore_memory *memory;
	struct rcore_recorder *recorder;
	const char *note;
	size_t note_size;
	/* NULL: hides nothing. */
	const struct rcore_pack_hiding *hiding;
	struct {
		Elf64_Phdr *items;
		size_t count, capacity;
	} headers;
	struct {
		const struct rcore_recorded_page **items;
		size_t count, capacity;
	} pages; /* that can be read at least in part */
	struct rcore_known_writer known;
	FILE *out;
	uint64_t notes_offset, data_offset;
	bool failed, no_memory;
};

/*
 * Sets the bytes of the pack's page `index` that were read and, with `known`,
 * adds them to the note. Returns false if none of them can be read.
 */
static bool fill(struct pack *pack, const struct rcore_recorded_page *page, size_t index,
		 struct rcore_known_writer *known, uint8_t bytes[PAGE])
{
	bool any = false;
	size_t start, size;
	memset(bytes, 0, PAGE);
	for (size_t at = 0; rcore_recorded_run(page, &at, &start, &size);) {
		uint8_t run[PAGE];
		if (rcore_read(pack->memory, page->start + start, run, size))
			continue;
		memcpy(bytes + start, run, size);
		any = true;
		if (known && !rcore_known_add(known, index * PAGE + start, size))
			pack->no_memory = true;
	}
	for (size_t i = 0; any && i < PAGE; i += 64)
		for (uint64_t hidden = page->bits[RCORE_RECORDED_HIDDEN][i / 64]; hidden;
		     hidden &= hidden - 1)
			rcore_fill(bytes + i + __builtin_ctzll(hidden), 1);
	return any;
}

static bool choose_pages(struct pack *pack)
{
	size_t count;
	const struct rcore_recorded_page *const *pages =
		rcore_recorder_pages(pack->recorder, &count);
	uint8_t bytes[PAGE];
	for (size_t i = 0; pages && i < count; i++) {
		if (!fill(pack, pages[i], pack->pages.count, &pack->known, bytes))
			continue;
		const struct rcore_recorded_page **slot = rcore_push(&pack->pages);
		if (!slot)
			return false;
		*slot = pages[i];
	}
	return pages && !pack->no_memory;
}

static bool add_header(struct pack *pack, uint32_t type, uint32_t flags, uint64_t address,
		       uint64_t offset, uint64_t saved, uint64_t size)
{
	Elf64_Phdr *header = rcore_push(&pack->headers);
	if (!header)
		return false;
	*header = (Elf64_Phdr){
		.p_type = type,
		.p_flags = flags,
		.p_offset = offset,
		.p_vaddr = address,
		.p_filesz = saved,
		.p_memsz = size,
		.p_align = type == PT_NOTE ? 4 : 1,
	};
	return true;
}

static uint32_t flags_of(const struct rcore_segment *segment)
{
	return (segment->readable ? PF_R : 0) | (segment->writable ? PF_W : 0) |
	       (segment->executable ? PF_X : 0);
}

/*
 * Returns how many pages from `first` on follow each other without a hole,
 * below `end`.
 */
static size_t run_length(const struct pack *pack, size_t first, uint64_t end)
{
	size_t count = 0;
	while (first + count < pack->pages.count) {
		uint64_t start = pack->pages.items[first + count]->start;
		if (start >= end || start != pack->pages.items[first]->start + count * PAGE)
			break;
		count++;
	}
	return count;
}

/*
 * Writes the headers of one segment from `at` on; *page is the first page that
 * has no place yet.
 */
static bool place_segment(struct pack *pack, const struct rcore_segment *segment, uint64_t at,
			  size_t *page)
{
	uint64_t end = segment->start + segment->size;
	while (at < end) {
		size_t count = 0, next = *page;
		uint64_t limit = end;
		if (next < pack->pages.count && pack->pages.items[next]->start == at)
			count = run_length(pack, next, end);
		next += count;
		if (next < pack->pages.count && pack->pages.items[next]->start < end)
			limit = pack->pages.items[next]->start;
		if (!add_header(pack, PT_LOAD, flags_of(segment), at, *page * PAGE,
				count * PAGE, limit - at))
			return false;
		*page = next;
		at = limit;
	}
	return true;
}

/*
 * Writes pages below `end` that are in no segment of the core: files that gdb
 * left out.
 */
static bool place_strangers(struct pack *pack, uint64_t end, size_t *page)
{
	while (*page < pack->pages.count && pack->pages.items[*page]->start < end) {
		size_t count = run_length(pack, *page, end);
		if (!add_header(pack, PT_LOAD, PF_R, pack->pages.items[*page]->start,
				*page * PAGE, count * PAGE, count * PAGE))
			return false;
		*page += count;
	}
	return true;
}

static bool place_all(struct pack *pack)
{
	uint64_t placed = 0;
	size_t page = 0;
	for (size_t i = 0; i < pack->source->segment_count; i++) {
		const struct rcore_segment *segment = &pack->source->segments[i];
		uint64_t start = segment->start > placed ? segment->start : placed;
		uint64_t end = segment->start + segment->size;
		if (start >= end)
			continue;
		if (!place_strangers(pack, start, &page) ||
		    !place_segment(pack, segment, start, &page))
			return false;
		placed = end;
	}
	return place_strangers(pack, UINT64_MAX, &page);
}

static uint64_t aligned(uint64_t offset)
{
	return (offset + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

static uint64_t note_segment_size(const struct pack *pack)
{
	size_t head = sizeof(Elf64_Nhdr) + padded(sizeof(RCORE_PACK_OWNER));
	return head + padded(pack->note_size) + head + padded(pack->known.count);
}

void rcore_pack_source_core(const struct rcore_core *core, struct rcore_pack_source *ret)
{
	const struct rcore_core_file *file = rcore_core_file(core);
	const struct rcore_process *process = rcore_core_process(core);
	*ret = (struct rcore_pack_source){.notes_alignment = 4,
					  .segments = process->segments,
					  .segment_count = process->segment_count};
	memcpy(&ret->header, file->bytes, sizeof(ret->header));
	for (size_t i = 0; i < file->program_header_count; i++) {
		Elf64_Phdr header = rcore_core_file_header(file, i);
		if (header.p_type != PT_NOTE || header.p_offset >= file->size)
			continue;
		uint64_t left = file->size - header.p_offset;
		ret->notes = file->bytes + header.p_offset;
		ret->notes_size = header.p_filesz < left ? header.p_filesz : left;
		ret->notes_alignment = header.p_align == 8 ? 8 : 4;
		return;
	}
}

void rcore_pack_source_process(const struct rcore_process *process,
			       const struct rcore_note_bytes *notes,
			       const struct rcore_segment *segments, size_t segment_count,
			       struct rcore_pack_source *ret)
{
	*ret = (struct rcore_pack_source){
		.header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
				       ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_CORE,
			   .e_machine = (Elf64_Half)process->machine,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr)},
		.notes = notes->items,
		.notes_size = notes->count,
		.notes_alignment = RCORE_PROCESS_NOTES_ALIGN,
		.segments = segments,
		.segment_count = segment_count,
	};
}

static bool place(struct pack *pack)
{
	uint64_t notes_size = pack->source->notes_size;
	if (!choose_pages(pack) || !add_header(pack, PT_NOTE, 0, 0, 0, padded(notes_size), 0) ||
	    !add_header(pack, PT_NOTE, 0, 0, 0, note_segment_size(pack), 0) || !place_all(pack))
		return false;
	pack->notes_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) +
			     pack->headers.count * sizeof(Elf64_Phdr);
	pack->headers.items[0].p_offset = pack->notes_offset;
	pack->headers.items[1].p_offset = pack->notes_offset + pack->headers.items[0].p_filesz;
	pack->data_offset =
		aligned(pack->headers.items[1].p_offset + pack->headers.items[1].p_filesz);
	for (size_t i = 2; i < pack->headers.count; i++)
		pack->headers.items[i].p_offset += pack->data_offset;
	return true;
}

static void put(struct pack *pack, const void *bytes, size_t size)
{
	if (size && fwrite(bytes, 1, size, pack->out) != size)
		pack->failed = true;
}

static void put_zeroes(struct pack *pack, uint64_t size)
{
	static const uint8_t zeroes[PAGE];
	while (size) {
		size_t part = size < sizeof(zeroes) ? (size_t)size : sizeof(zeroes);
		put(pack, zeroes, part);
		size -= part;
	}
}

static void put_head(struct pack *pack)
{
	Elf64_Ehdr header = pack->source->header;
	size_t count = pack->headers.count;
	bool many = count >= PN_XNUM;
	Elf64_Shdr section = {.sh_info = many ? (uint32_t)count : 0};
	header.e_phoff = sizeof(header) + sizeof(section);
	header.e_phnum = many ? PN_XNUM : (uint16_t)count;
	header.e_shoff = many ? sizeof(header) : 0;
	header.e_shnum = many ? 1 : 0;
	header.e_shentsize = sizeof(section);
	header.e_shstrndx = SHN_UNDEF;
	put(pack, &header, sizeof(header));
	put(pack, &section, sizeof(section));
	put(pack, pack->headers.items, count * sizeof(Elf64_Phdr));
}

static void put_hidden(struct pack *pack)
{
	const struct rcore_pack_source *source = pack->source;
	uint8_t *copy = malloc(source->notes_size + 1);
	if (!copy) {
		errno = ENOMEM;
		pack->failed = true;
		return;
	}
	if (source->notes_size)
		memcpy(copy, source->notes, source->notes_size);
	rcore_pack_notes_hide(copy, source->notes_size, source->notes_alignment, pack->hiding);
	put(pack, copy, source->notes_size);
	free(copy);
}

static void put_note(struct pack *pack, uint32_t type, const void *bytes, size_t size)
{
	const Elf64_Nhdr note = {sizeof(RCORE_PACK_OWNER), (uint32_t)size, type};
	put(pack, &note, sizeof(note));
	put(pack, RCORE_PACK_OWNER, sizeof(RCORE_PACK_OWNER));
	put_zeroes(pack, padded(sizeof(RCORE_PACK_OWNER)) - sizeof(RCORE_PACK_OWNER));
	put(pack, bytes, size);
	put_zeroes(pack, padded(size) - size);
}

static void put_notes(struct pack *pack)
{
	const struct rcore_pack_source *source = pack->source;
	if (pack->hiding)
		put_hidden(pack);
	else
		put(pack, source->notes, source->notes_size);
	put_zeroes(pack, padded(source->notes_size) - source->notes_size);
	put_note(pack, RCORE_PACK_NOTE, pack->note, pack->note_size);
	put_note(pack, RCORE_PACK_KNOWN_NOTE, pack->known.items, pack->known.count);
}

static struct rcore_error *put_all(FILE *out, const void *context)
{
	uint8_t bytes[PAGE];
	struct pack *pack = *(struct pack *const *)context;
	pack->out = out;
	put_head(pack);
	put_notes(pack);
	put_zeroes(pack, pack->data_offset - (pack->headers.items[1].p_offset +
					      pack->headers.items[1].p_filesz));
	for (size_t i = 0; i < pack->pages.count && !pack->failed; i++) {
		fill(pack, pack->pages.items[i], i, NULL, bytes);
		put(pack, bytes, sizeof(bytes));
	}
	return pack->failed ? rcore_error_os(errno ? errno : EIO, "cannot write the pack")
			    : NULL;
}

struct rcore_error *rcore_pack_write(const struct rcore_pack_source *source,
				     struct rcore_memory *memory,
				     struct rcore_recorder *recorder, const char *note,
				     size_t note_size, const struct rcore_pack_hiding *hiding,
				     const struct rcore_output *output, uint64_t *ret_size)
{
	struct pack pack = {.source = source,
			    .memory = memory,
			    .recorder = recorder,
			    .note = note,
			    .note_size = note_size,
			    .hiding = hiding};
	struct pack *self = &pack;
	struct rcore_error *err = place(&pack) && !rcore_recorder_is_short(recorder)
					  ? rcore_output_fill(output, put_all, &self)
					  : rcore_error_no_memory();
	*ret_size = pack.data_offset + pack.pages.count * PAGE;
	rcore_known_writer_deinit(&pack.known);
	free(pack.headers.items);
	free(pack.pages.items);
	return err;
}
