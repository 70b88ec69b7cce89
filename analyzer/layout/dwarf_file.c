/* SPDX-License-Identifier: MIT */
#include "layout/dwarf_file.h"

#include <dwarf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "layout/schema.h"

/*
 * Sections that are not needed to read types. libdw decompresses every section
 * that it knows, and these are most of the work. So their headers are changed,
 * in a private mapping, to have no bytes.
 */
static void hide_unneeded(Elf *elf, bool needs_lines)
{
	static const char *const unneeded[] = {
		".debug_loc",     ".debug_loclists", ".debug_ranges", ".debug_rnglists",
		".debug_aranges", ".debug_frame",    ".debug_macro",  ".debug_macinfo",
		".debug_line", /* must be last: the places of declarations */
	};
	size_t count = RCORE_COUNT(unneeded) - needs_lines, names;
	Elf_Scn *section = NULL;
	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;
		for (size_t i = 0; name && i < count; i++) {
			if (strcmp(name, unneeded[i]))
				continue;
			header.sh_type = SHT_NOBITS;
			gelf_update_shdr(section, &header);
		}
	}
}

static struct rcore_error *open_dwarf(struct rcore_dwarf_file *file, bool needs_lines)
{
	GElf_Ehdr header;
	struct stat status;

	if (fstat(file->fd, &status))
		return rcore_error_create(RCORE_ERROR_OS, "%s", strerror(errno));
	if (S_ISDIR(status.st_mode))
		return rcore_error_create(RCORE_ERROR_FORMAT, "is a directory");
	if (!S_ISREG(status.st_mode))
		return rcore_error_create(RCORE_ERROR_FORMAT, "not a regular file");
	elf_version(EV_CURRENT);
	file->elf = elf_begin(file->fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &header))
		return rcore_error_create(RCORE_ERROR_FORMAT, "not an ELF file");
	file->machine = header.e_machine;
	if (gelf_getclass(file->elf) != ELFCLASS64 || !rcore_machine_name(file->machine))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "neither x86-64 nor 64-bit ARM");
	if (header.e_shoff > (uint64_t)status.st_size)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "is truncated: its section headers are missing");
	hide_unneeded(file->elf, needs_lines);
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (!file->dwarf)
		return rcore_error_create(RCORE_ERROR_FORMAT,
					  "no debug information (DWARF); name a build that is "
					  "not stripped, or its separate debug file");
	return NULL;
}

struct rcore_error *rcore_dwarf_open(const char *path, bool needs_lines,
				     struct rcore_dwarf_file *ret)
{
	struct rcore_dwarf_file file = {0};

	/* Opening a FIFO would wait for a writer. */
	file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file.fd < 0)
		return rcore_error_create(RCORE_ERROR_OS, "%s", strerror(errno));
	struct rcore_error *err = open_dwarf(&file, needs_lines);
	if (err)
		rcore_dwarf_close(&file);
	else
		*ret = file;
	return err;
}

void rcore_dwarf_close(struct rcore_dwarf_file *file)
{
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	if (file->fd > 0)
		close(file->fd);
	memset(file, 0, sizeof(*file));
}

bool rcore_dwarf_may_be_c(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case -1:
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c: /* DW_LANG_C17, DW_LANG_C23: newer than elfutils 0.188 */
	case 0x3e:
		return true;
	default:
		return false;
	}
}

/* Copies a symbol's bytes from its section. */
static bool copy_symbol(Elf *elf, const GElf_Sym *symbol, char *buffer, size_t size)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, symbol->st_shndx);

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    symbol->st_value < header.sh_addr)
		return false;
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t offset = symbol->st_value - header.sh_addr;
	if (!data || !data->d_buf || offset >= data->d_size)
		return false;
	size_t length = data->d_size - offset;
	const char *text = (const char *)data->d_buf + offset;
	length = strnlen(text, length < size ? length : size);
	if (length >= size)
		return false;
	memcpy(buffer, text, length);
	buffer[length] = '\0';
	return true;
}

static bool search_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char *name,
			 GElf_Sym *ret)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym symbol;

	for (int i = 0; data && gelf_getsym(data, i, &symbol); i++) {
		const char *own;
		if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE)
			continue;
		own = elf_strptr(elf, header->sh_link, symbol.st_name);
		if (own && !strcmp(own, name)) {
			*ret = symbol;
			return true;
		}
	}
	return false;
}

bool rcore_dwarf_file_string(struct rcore_dwarf_file *file, const char *name, char *buffer,
			     size_t size)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) &&
		    search_table(file->elf, section, &header, name, &symbol))
			return copy_symbol(file->elf, &symbol, buffer, size);
	}
	return false;
}
