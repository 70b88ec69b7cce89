/* SPDX-License-Identifier: MIT */
#include "target/core/foreign_core.h"

#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "target/core/core_extend.h"
#include "target/pack/core_pack.h"

enum { MOST_NOTES = 64 << 20 }; /* bytes */

static bool is_ours(const Elf_Data *notes, const GElf_Nhdr *note, size_t name)
{
	static const char owner[] = RCORE_PACK_OWNER;
	return (note->n_type == RCORE_PACK_NOTE || note->n_type == RCORE_NOTE_ADDED) &&
	       note->n_namesz == sizeof(owner) &&
	       !memcmp((const char *)notes->d_buf + name, owner, sizeof(owner));
}

static bool has_our_note(Elf *elf, const GElf_Phdr *header)
{
	size_t at = 0, name, contents;
	GElf_Nhdr note;
	Elf_Data *notes =
		header->p_filesz <= MOST_NOTES
			? elf_getdata_rawchunk(elf, (int64_t)header->p_offset, header->p_filesz,
					       header->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)
			: NULL;
	while (notes && (at = gelf_getnote(notes, at, &note, &name, &contents)))
		if (is_ours(notes, &note, name))
			return true;
	return false;
}

static bool is_foreign(Elf *elf)
{
	GElf_Ehdr file;
	GElf_Phdr header;
	size_t count;
	if (!elf || !gelf_getehdr(elf, &file) || file.e_type != ET_CORE)
		return false;
	if (elf_getphdrnum(elf, &count))
		return true;
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE &&
		    has_our_note(elf, &header))
			return false;
	return true;
}

bool rcore_is_foreign_core(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(file, ELF_C_READ, NULL);
	bool foreign = is_foreign(elf);
	elf_end(elf);
	close(file);
	return foreign;
}
