/* SPDX-License-Identifier: MIT */
#include "image/elf/elf_headers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_HEADERS = 256, /* a linker writes about a dozen */
	/* Bytes in a segment of notes; a build-id is 36. */
	MAX_NOTES_SIZE = 1 << 16,
	PAGE = 4096,
};

/*
 * Searches the `size` bytes of notes at `offset_in_file` of `elf` for the
 * build-id.
 */
static bool read_notes(Elf *elf, uint64_t offset_in_file, uint64_t size, uint64_t align,
		       struct rcore_elf_headers *ret)
{
	if (size > MAX_NOTES_SIZE || offset_in_file > INT64_MAX)
		return false;
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)offset_in_file, size,
					      align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t offset = 0, next, name, desc;
	GElf_Nhdr note;
	for (; data && (next = gelf_getnote(data, offset, &note, &name, &desc));
	     offset = next) {
		const char *bytes = data->d_buf;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(bytes + name, "GNU", 4) || !note.n_descsz ||
		    note.n_descsz > sizeof(ret->build_id))
			continue;
		memcpy(ret->build_id, bytes + desc, note.n_descsz);
		ret->build_id_size = note.n_descsz;
		return true;
	}
	return false;
}

static bool read_headers(Elf *elf, unsigned machine, struct rcore_elf_headers *ret)
{
	GElf_Ehdr header;
	size_t count;
	*ret = (struct rcore_elf_headers){0};
	if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header) ||
	    gelf_getclass(elf) != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header.e_machine != machine ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN) ||
	    elf_getphdrnum(elf, &count) || !count || count > MAX_HEADERS)
		return false;
	ret->type = header.e_type;
	ret->entry = header.e_entry;
	ret->items = calloc(count, sizeof(*ret->items));
	if (!ret->items)
		return false;
	for (ret->count = 0; ret->count < count; ret->count++)
		if (!gelf_getphdr(elf, (int)ret->count, &ret->items[ret->count]))
			break;
	return ret->count == count;
}

/*
 * libelf also fails, or reports less, if it has no memory. malloc() then sets
 * errno, which the caller has set to 0.
 */
static enum rcore_elf_outcome settle(bool is_read, struct rcore_elf_headers *headers,
				     struct rcore_elf_headers *ret)
{
	bool lacks_memory = rcore_lacks_memory();
	if (is_read && !lacks_memory) {
		*ret = *headers;
		return RCORE_ELF_READ;
	}
	rcore_elf_headers_deinit(headers);
	return lacks_memory ? RCORE_ELF_NO_MEMORY : RCORE_ELF_NONE;
}

enum rcore_elf_outcome rcore_elf_headers_read(Elf *elf, unsigned machine,
					      struct rcore_elf_headers *ret)
{
	struct rcore_elf_headers headers;
	errno = 0;
	if (!read_headers(elf, machine, &headers))
		return settle(false, &headers, ret);
	for (size_t i = 0; i < headers.count; i++) {
		const GElf_Phdr *item = &headers.items[i];
		if (item->p_type == PT_NOTE &&
		    read_notes(elf, item->p_offset, item->p_filesz, item->p_align, &headers))
			break;
	}
	return settle(true, &headers, ret);
}

void rcore_elf_headers_deinit(struct rcore_elf_headers *headers)
{
	free(headers->items);
	*headers = (struct rcore_elf_headers){0};
}

/*
 * libelf reads a file, so the notes are placed after the page that begins with
 * the header.
 */
static void read_notes_in_memory(struct rcore_memory *memory, uint64_t start, char *page,
				 struct rcore_elf_headers *ret)
{
	uint64_t bias;
	if (!rcore_elf_headers_bias(ret, start, 0, &bias))
		return;
	for (size_t i = 0; i < ret->count; i++) {
		const GElf_Phdr *item = &ret->items[i];
		if (item->p_type != PT_NOTE || !item->p_filesz ||
		    item->p_filesz > MAX_NOTES_SIZE ||
		    rcore_read(memory, bias + item->p_vaddr, page + PAGE, item->p_filesz))
			continue;
		Elf *elf = elf_memory(page, PAGE + MAX_NOTES_SIZE);
		bool found = elf && read_notes(elf, PAGE, item->p_filesz, item->p_align, ret);
		elf_end(elf);
		if (found)
			return;
	}
}

enum rcore_elf_outcome rcore_elf_headers_from_memory(struct rcore_memory *memory,
						     uint64_t start, unsigned machine,
						     struct rcore_elf_headers *ret)
{
	Elf64_Ehdr header;
	if (rcore_read(memory, start, &header, sizeof(header)))
		return RCORE_ELF_UNREADABLE;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG))
		return RCORE_ELF_NONE;
	char *page = malloc(PAGE + MAX_NOTES_SIZE);
	if (!page)
		return RCORE_ELF_NO_MEMORY;
	if (rcore_read(memory, start, page, PAGE)) {
		free(page);
		return RCORE_ELF_UNREADABLE;
	}
	/* Sections are not in memory. */
	header.e_shoff = 0;
	header.e_shnum = 0;
	header.e_shstrndx = 0;
	memcpy(page, &header, sizeof(header));
	elf_version(EV_CURRENT);
	errno = 0;
	Elf *elf = elf_memory(page, PAGE);
	struct rcore_elf_headers headers = {0};
	bool is_read = elf && read_headers(elf, machine, &headers);
	elf_end(elf);
	if (is_read)
		read_notes_in_memory(memory, start, page, &headers);
	enum rcore_elf_outcome outcome = settle(is_read, &headers, ret);
	free(page);
	return outcome;
}

bool rcore_elf_headers_bias(const struct rcore_elf_headers *headers, uint64_t start,
			    uint64_t file_offset, uint64_t *ret)
{
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		uint64_t page = item->p_offset & ~(uint64_t)(PAGE - 1);
		if (item->p_type == PT_LOAD && page <= file_offset &&
		    file_offset - page < item->p_offset - page + item->p_filesz) {
			*ret = start - file_offset + item->p_offset - item->p_vaddr;
			return true;
		}
	}
	return false;
}

bool rcore_elf_headers_extent(const struct rcore_elf_headers *headers, uint64_t *low,
			      uint64_t *high)
{
	uint64_t lowest = UINT64_MAX, highest = 0;
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		uint64_t end;
		if (item->p_type != PT_LOAD ||
		    __builtin_add_overflow(item->p_vaddr, item->p_memsz, &end) ||
		    end > INT64_MAX)
			continue;
		if (item->p_vaddr < lowest)
			lowest = item->p_vaddr;
		if (end > highest)
			highest = end;
	}
	if (lowest >= highest)
		return false;
	*low = lowest;
	*high = highest;
	return true;
}

const GElf_Phdr *rcore_elf_headers_find(const struct rcore_elf_headers *headers, uint32_t type)
{
	for (size_t i = 0; i < headers->count; i++)
		if (headers->items[i].p_type == type)
			return &headers->items[i];
	return NULL;
}

const GElf_Phdr *rcore_elf_headers_load(const struct rcore_elf_headers *headers,
					uint64_t address)
{
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		if (item->p_type == PT_LOAD && address >= item->p_vaddr &&
		    address - item->p_vaddr < item->p_memsz)
			return item;
	}
	return NULL;
}
