/* SPDX-License-Identifier: MIT */
#include "image/unwind_image.h"

#include <stdlib.h>
#include <string.h>

/* Larger than any library; the pages of it that nothing is read into cost nothing. */
enum { MAX_IMAGE = 512 << 20 };

static bool holds(const GElf_Phdr *load, const GElf_Phdr *part)
{
	return part && part->p_vaddr >= load->p_vaddr &&
	       part->p_vaddr - load->p_vaddr < load->p_filesz;
}

/* Tables for unwinding and names lie in read-only data, which older linkers put into the
 * segment of the code. */
static bool is_needed(const struct rcore_elf_headers *headers, const GElf_Phdr *load)
{
	if (load->p_type != PT_LOAD || load->p_flags & PF_W)
		return false;
	return !(load->p_flags & PF_X) || !load->p_offset ||
	       holds(load, rcore_elf_headers_find(headers, PT_GNU_EH_FRAME));
}

static bool copy(struct rcore_memory *memory, uint64_t bias, const GElf_Phdr *part, char *bytes,
		 size_t size)
{
	if (part->p_offset > size || part->p_filesz > size - part->p_offset)
		return false;
	return !rcore_read(memory, bias + part->p_vaddr, bytes + part->p_offset,
			   part->p_filesz);
}

static bool fill(struct rcore_memory *memory, const struct rcore_elf_headers *headers,
		 uint64_t bias, char *bytes, size_t size)
{
	const GElf_Phdr *dynamic = rcore_elf_headers_find(headers, PT_DYNAMIC);
	for (size_t i = 0; i < headers->count; i++)
		if (is_needed(headers, &headers->items[i]) &&
		    !copy(memory, bias, &headers->items[i], bytes, size))
			return false;
	if (dynamic)
		copy(memory, bias, dynamic, bytes, size);
	/* The file's headers again, but of these pieces alone. */
	Elf64_Ehdr header;
	memcpy(&header, bytes, sizeof(header));
	header.e_shoff = header.e_shnum = header.e_shstrndx = 0;
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_phnum < headers->count ||
	    header.e_phoff > size ||
	    header.e_phnum > (size - header.e_phoff) / sizeof(Elf64_Phdr))
		return false;
	memcpy(bytes, &header, sizeof(header));
	return true;
}

bool rcore_elf_image_read(struct rcore_memory *memory, const struct rcore_elf_headers *headers,
			  uint64_t bias, struct rcore_elf_image *ret)
{
	uint64_t size = 0;
	if (!rcore_elf_headers_find(headers, PT_GNU_EH_FRAME))
		return false;
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		uint64_t end;
		if (item->p_type != PT_LOAD)
			continue;
		if (__builtin_add_overflow(item->p_offset, item->p_filesz, &end) ||
		    end > MAX_IMAGE)
			return false;
		size = end > size ? end : size;
	}
	if (size < sizeof(Elf64_Ehdr))
		return false;
	struct rcore_elf_image image = {.bytes = calloc(1, size)};
	if (image.bytes && fill(memory, headers, bias, image.bytes, size))
		image.elf = elf_memory(image.bytes, size);
	if (!image.elf) {
		free(image.bytes);
		return false;
	}
	*ret = image;
	return true;
}
