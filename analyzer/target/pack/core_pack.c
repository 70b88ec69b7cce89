/* SPDX-License-Identifier: MIT */
#include "target/pack/core_pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/page_buffer.h"
#include "target/copy_range.h"
#include "target/core/core_file.h"
#include "target/pack/pack_plan.h"

enum {
	PAGE = RCORE_RECORDER_PAGE,
	BLOCK = RCORE_RECORDER_BLOCK,
	/* Bytes of a range that are read at once. */
	CHUNK = 256 << 10,
	NOTES = 2, /* program headers before those of memory */
};

/*
 * A pack is an ELF core: the header, program headers, the core's notes, rcore's
 * own notes, and memory: pages, each complete, and ranges (pack_plan.h). One of
 * rcore's notes says which bytes of a page are only filling, because nobody
 * read them. Segments are split before each run of pages; the part of a segment
 * after a run only counts in p_memsz. If there are more than 65,534 headers,
 * section 0 has their number, as in any core.
 */
struct pack {
	const struct rcore_pack_source *source;
	struct rcore_memory *memory;
	const char *note;
	size_t note_size;
	/* NULL: hides nothing. */
	const struct rcore_pack_hiding *hiding;
	struct rcore_pack_plan plan;
	Elf64_Phdr notes[NOTES];
	FILE *out;
	uint64_t data_offset;
	uint64_t written; /* of memory, with the holes before it */
	bool failed;
	struct rcore_error *err; /* memory that could not be read */
};

static uint64_t aligned(uint64_t offset)
{
	return (offset + BLOCK - 1) & ~(uint64_t)(BLOCK - 1);
}

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

static uint64_t note_segment_size(const struct pack *pack)
{
	size_t head = sizeof(Elf64_Nhdr) + padded(sizeof(RCORE_PACK_OWNER));
	return head + padded(pack->note_size) + head + padded(pack->plan.known.count);
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

static void place_note(Elf64_Phdr *header, uint64_t offset, uint64_t size)
{
	*header = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = offset, .p_filesz = size, .p_align = 4};
}

static struct rcore_error *place(struct pack *pack, struct rcore_recorder *recorder)
{
	const struct rcore_pack_source *source = pack->source;
	struct rcore_pack_plan *plan = &pack->plan;
	struct rcore_error *err = rcore_pack_plan_make(recorder, pack->memory, source->segments,
						       source->segment_count, plan);
	if (err)
		return err;
	uint64_t offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) +
			  (NOTES + plan->headers.count) * sizeof(Elf64_Phdr);
	place_note(&pack->notes[0], offset, padded(source->notes_size));
	offset += pack->notes[0].p_filesz;
	place_note(&pack->notes[1], offset, note_segment_size(pack));
	pack->data_offset = aligned(offset + pack->notes[1].p_filesz);
	for (size_t i = 0; i < plan->headers.count; i++)
		plan->headers.items[i].p_offset += pack->data_offset;
	return NULL;
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
	size_t count = NOTES + pack->plan.headers.count;
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
	put(pack, pack->notes, sizeof(pack->notes));
	put(pack, pack->plan.headers.items, pack->plan.headers.count * sizeof(Elf64_Phdr));
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
	put_note(pack, RCORE_PACK_KNOWN_NOTE, pack->plan.known.items, pack->plan.known.count);
}

/* Writes bytes of memory at `offset`; what was skipped becomes a hole. */
static void put_at(struct pack *pack, uint64_t offset, const void *bytes, size_t size)
{
	if (offset != pack->written &&
	    fseeko(pack->out, (off_t)(offset - pack->written), SEEK_CUR))
		pack->failed = true;
	put(pack, bytes, size);
	pack->written = offset + size;
}

/* Writes the blocks of a range that are not zero. */
static void put_blocks(struct pack *pack, uint64_t offset, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0, end; at < size; at = end + BLOCK) {
		for (end = at; end < size && !rcore_is_zero(bytes + end, BLOCK);)
			end += BLOCK;
		if (end > at)
			put_at(pack, offset + at, bytes + at, end - at);
	}
}

static void put_range(struct pack *pack, const struct rcore_pack_piece *piece, uint8_t *buffer)
{
	for (uint64_t at = piece->start; at < piece->end && !pack->failed;) {
		size_t size = piece->end - at < CHUNK ? (size_t)(piece->end - at) : CHUNK;
		enum rcore_fault fault = rcore_read(pack->memory, at, buffer, size);
		if (fault) {
			pack->err = rcore_fault_error(fault, "memory to pack", at, size);
			pack->failed = true;
			return;
		}
		put_blocks(pack, piece->offset + (at - piece->start), buffer, size);
		at += size;
	}
}

static void put_memory(struct pack *pack, uint8_t *buffer)
{
	const struct rcore_pack_plan *plan = &pack->plan;
	for (size_t i = 0; i < plan->pieces.count && !pack->failed; i++) {
		const struct rcore_pack_piece *piece = &plan->pieces.items[i];
		uint8_t bytes[PAGE];
		if (piece->page) {
			rcore_pack_page_read(piece->page, pack->memory, 0, NULL, NULL, bytes);
			put_at(pack, piece->offset, bytes, sizeof(bytes));
		} else if (!piece->is_zero) {
			put_range(pack, piece, buffer);
		}
	}
	if (pack->written < plan->size &&
	    (fflush(pack->out) ||
	     ftruncate(fileno(pack->out), (off_t)(pack->data_offset + plan->size))))
		pack->failed = true;
}

static struct rcore_error *put_all(FILE *out, const void *context)
{
	struct pack *pack = *(struct pack *const *)context;
	uint8_t *buffer = rcore_page_buffer(CHUNK);
	if (!buffer)
		return rcore_error_no_memory();
	pack->out = out;
	put_head(pack);
	put_notes(pack);
	put_zeroes(pack,
		   pack->data_offset - (pack->notes[1].p_offset + pack->notes[1].p_filesz));
	put_memory(pack, buffer);
	int errnum = errno;
	free(buffer);
	if (pack->err || !pack->failed)
		return pack->err;
	return rcore_error_os(errnum ? errnum : EIO, "cannot write the pack");
}

struct rcore_error *rcore_pack_write(const struct rcore_pack_source *source,
				     struct rcore_memory *memory,
				     struct rcore_recorder *recorder, const char *note,
				     size_t note_size, const struct rcore_pack_hiding *hiding,
				     const struct rcore_output *output, uint64_t *ret_size)
{
	struct pack pack = {.source = source,
			    .memory = memory,
			    .note = note,
			    .note_size = note_size,
			    .hiding = hiding};
	struct pack *self = &pack;
	struct rcore_error *err = place(&pack, recorder);
	if (!err)
		err = rcore_output_fill(output, put_all, &self);
	*ret_size = pack.data_offset + pack.plan.size;
	rcore_pack_plan_deinit(&pack.plan);
	return err;
}
