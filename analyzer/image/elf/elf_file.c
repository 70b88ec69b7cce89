/* SPDX-License-Identifier: MIT */
#include "image/elf/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * objcopy --only-keep-debug and eu-strip -f keep the headers of code, but not
 * the code.
 */
static bool is_debug_only(Elf *elf)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOBITS &&
		    header.sh_flags & SHF_EXECINSTR)
			return true;
	}
	return false;
}

/* libelf also fails if memory is short; then this returns NO_MEMORY. */
static struct rcore_error *wrong(const char *path, const char *what)
{
	return rcore_lacks_memory()
		       ? rcore_error_no_memory()
		       : rcore_error_create(RCORE_ERROR_FORMAT, "%s: %s", path, what);
}

static struct rcore_error *load(const char *path, unsigned machine, struct rcore_elf *elf)
{
	int errnum = rcore_map_file(path, true, &elf->map);
	/* A file that is there must not be reported as missing. */
	if (errnum == ENOMEM)
		return rcore_error_no_memory();
	if (errnum && (!elf->map.mode || S_ISREG(elf->map.mode)))
		return rcore_error_os(errnum, "%s", path);
	errno = 0;
	if (elf->map.size >= SELFMAG && !memcmp(elf->map.bytes, ELFMAG, SELFMAG)) {
		elf_version(EV_CURRENT);
		elf->elf = elf_memory((char *)elf->map.bytes, elf->map.size);
	}
	if (!elf->elf)
		return wrong(path, "is not an ELF file");
	enum rcore_elf_outcome outcome =
		rcore_elf_headers_read(elf->elf, machine, &elf->headers);
	if (outcome == RCORE_ELF_NO_MEMORY)
		return rcore_error_no_memory();
	if (outcome != RCORE_ELF_READ)
		return wrong(path, "is not a program or library of the core's machine");
	if (is_debug_only(elf->elf))
		return wrong(path, "contains only debug information, without the program's "
				   "code");
	return rcore_lacks_memory() ? rcore_error_no_memory() : NULL;
}

struct rcore_error *rcore_elf_open(const char *path, unsigned machine, struct rcore_elf **ret)
{
	struct rcore_elf *elf = calloc(1, sizeof(*elf));
	if (!elf)
		return rcore_error_no_memory();
	struct rcore_error *err = load(path, machine, elf);
	if (err) {
		rcore_elf_close(elf);
		return err;
	}
	*ret = elf;
	return NULL;
}

void rcore_elf_close(struct rcore_elf *elf)
{
	if (!elf)
		return;
	rcore_elf_headers_deinit(&elf->headers);
	elf_end(elf->elf);
	rcore_unmap_file(&elf->map);
	free(elf);
}

uint64_t rcore_elf_cut_off(const struct rcore_elf *elf)
{
	uint64_t whole = 0;
	for (size_t i = 0; i < elf->headers.count; i++) {
		const GElf_Phdr *item = &elf->headers.items[i];
		if (item->p_filesz <= UINT64_MAX - item->p_offset &&
		    item->p_offset + item->p_filesz > whole)
			whole = item->p_offset + item->p_filesz;
	}
	GElf_Ehdr header;
	if (gelf_getehdr(elf->elf, &header) && header.e_shoff < INT64_MAX &&
	    header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize > whole)
		whole = header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
	return whole > elf->map.size ? whole : 0;
}

const uint8_t *rcore_elf_bytes(const struct rcore_elf *elf, uint64_t offset, uint64_t size)
{
	if (offset > elf->map.size || size > elf->map.size - offset)
		return NULL;
	return elf->map.bytes + offset;
}
