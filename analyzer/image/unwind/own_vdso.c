/* SPDX-License-Identifier: MIT */
#include "image/unwind/own_vdso.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

/* The kernel maps the whole file, which ends with its section headers. */
static size_t image_size(const Elf64_Ehdr *header)
{
	enum { LIMIT = 1 << 20 };
	uint64_t size = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	return !memcmp(header->e_ident, ELFMAG, SELFMAG) && size > sizeof(*header) &&
			       size <= LIMIT
		       ? size
		       : 0;
}

static bool is_same(struct rcore_memory *memory, uint64_t address, const char *own, size_t size)
{
	char *bytes = size ? malloc(size) : NULL;
	bool same =
		bytes && !rcore_read(memory, address, bytes, size) && !memcmp(bytes, own, size);
	free(bytes);
	return same;
}

Elf *rcore_own_vdso(struct rcore_memory *memory, uint64_t address)
{
	char *own = (char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	if (!own)
		return NULL;
	size_t size = image_size((const Elf64_Ehdr *)(const void *)own);
	return is_same(memory, address, own, size) ? elf_memory(own, size) : NULL;
}
