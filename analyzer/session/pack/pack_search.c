/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_search.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/filler.h"
#include "base/grow.h"
#include "session/pack/pack_stretch.h"

/* The memory in a pack, as it is in the file. */
struct written {
	/* must come first: the callback casts it back */
	struct rcore_memory memory;
	int fd;
	struct {
		Elf64_Phdr *items;
		size_t count, capacity;
	} segments; /* those with contents, by address */
	int errnum; /* of a read that failed; 0: none failed */
};

static bool read_at(struct written *written, uint64_t offset, void *buffer, size_t size)
{
	for (char *out = buffer; size;) {
		ssize_t got = pread(written->fd, out, size, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			written->errnum = got ? errno : EIO;
			return false;
		}
		out += got;
		offset += (uint64_t)got;
		size -= (size_t)got;
	}
	return true;
}

static const Elf64_Phdr *segment_at(const struct written *written, uint64_t address)
{
	size_t low = 0, high = written->segments.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const Elf64_Phdr *segment = &written->segments.items[middle];
		if (address - segment->p_vaddr < segment->p_filesz)
			return segment;
		if (address < segment->p_vaddr)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static enum rcore_fault read_written(struct rcore_memory *memory, uint64_t address,
				     void *buffer, size_t size)
{
	struct written *written = (struct written *)memory;
	for (char *out = buffer; size;) {
		const Elf64_Phdr *segment = segment_at(written, address);
		if (!segment)
			return RCORE_FAULT_NOT_SAVED;
		uint64_t left = segment->p_vaddr + segment->p_filesz - address;
		size_t part = left < size ? (size_t)left : size;
		if (!read_at(written, segment->p_offset + (address - segment->p_vaddr), out,
			     part))
			return RCORE_FAULT_IO;
		out += part;
		address += part;
		size -= part;
	}
	return RCORE_FAULT_NONE;
}

static struct rcore_error *find_segments(struct written *written)
{
	Elf64_Ehdr header;
	Elf64_Shdr section;
	Elf64_Phdr segment;
	if (!read_at(written, 0, &header, sizeof(header)))
		return NULL;
	size_t count = header.e_phnum;
	if (count == PN_XNUM) {
		if (!read_at(written, header.e_shoff, &section, sizeof(section)))
			return NULL;
		count = section.sh_info;
	}
	for (size_t i = 0; i < count; i++) {
		if (!read_at(written, header.e_phoff + i * sizeof(segment), &segment,
			     sizeof(segment)))
			return NULL;
		if (segment.p_type != PT_LOAD || !segment.p_filesz)
			continue;
		Elf64_Phdr *kept = rcore_push(&written->segments);
		if (!kept)
			return rcore_error_no_memory();
		*kept = segment;
	}
	return NULL;
}

struct search {
	const struct rcore_redactor *redactor;
	struct rcore_known_secrets *taken;
	enum rcore_redact mode;
	uint64_t left; /* the address of a secret that is left */
	bool is_left, no_memory;
};

/* Whether rcore_fill() writes this byte, or leaves it as it is. */
static bool is_filler(char c)
{
	return c == RCORE_FILLER || c == '\n' || !c;
}

/* Whether pack_hide.c leaves this byte in the pack. */
static bool may_stay(const struct search *search, const struct rcore_stretch *stretch,
		     size_t at, bool stays_in_text)
{
	return rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_WORD) ||
	       (search->mode < RCORE_REDACT_ALL &&
		rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_NAME)) ||
	       (stays_in_text && rcore_stretch_is_marked(stretch, at, RCORE_RECORDED_TEXT));
}

static void check(struct search *search, const struct rcore_stretch *stretch,
		  struct rcore_spans *spans, bool stays_in_text)
{
	for (size_t i = 0; i < spans->count && !search->is_left; i++)
		for (size_t at = spans->items[i].start; at < spans->items[i].end; at++)
			if (!is_filler(stretch->items[at]) &&
			    !may_stay(search, stretch, at, stays_in_text)) {
				search->is_left = true;
				search->left = stretch->start + at;
			}
	search->no_memory |= spans->no_memory;
	rcore_spans_deinit(spans);
}

static bool search_stretch(void *context, const struct rcore_stretch *stretch)
{
	struct search *search = context;
	struct rcore_spans known = {0}, taken = {0};
	rcore_redactor_bytes(search->redactor, stretch->items, stretch->count, &known);
	check(search, stretch, &known, false);
	rcore_known_secrets_find(search->taken, stretch->items, stretch->count, &taken);
	check(search, stretch, &taken, true);
	return !search->is_left && !search->no_memory;
}

struct rcore_error *rcore_pack_search(const struct rcore_output *output,
				      struct rcore_recorder *recorder,
				      const struct rcore_redactor *redactor,
				      struct rcore_known_secrets *taken, enum rcore_redact mode)
{
	struct written written = {.memory = {.read = read_written}, .fd = output->fd};
	struct search search = {.redactor = redactor, .taken = taken, .mode = mode};
	if (mode == RCORE_REDACT_NONE)
		return NULL;
	struct rcore_error *err = find_segments(&written);
	if (!err && !written.errnum)
		err = rcore_stretches(recorder, &written.memory, search_stretch, &search);
	free(written.segments.items);
	if (err)
		return err;
	if (written.errnum)
		return rcore_error_os(written.errnum, "cannot read the pack again");
	if (search.no_memory)
		return rcore_error_no_memory();
	if (!search.is_left)
		return NULL;
	return rcore_error_create(RCORE_ERROR_CORRUPT,
				  "the pack was not kept: memory at 0x%" PRIx64
				  " still contained a secret; use another --redact, and please "
				  "report this",
				  search.left);
}
