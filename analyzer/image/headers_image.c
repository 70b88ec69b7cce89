/* SPDX-License-Identifier: MIT */
#include "image/headers_image.h"

#include <stdlib.h>
#include <string.h>

struct build_id_note {
	Elf64_Nhdr header;
	char owner[4];
	unsigned char build_id[64];
};

char *rcore_headers_image(const struct rcore_elf_headers *headers, unsigned machine,
			  size_t *size)
{
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = headers->type,
		.e_machine = (uint16_t)machine,
		.e_version = EV_CURRENT,
		.e_entry = headers->entry,
		.e_phoff = sizeof(head),
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)(headers->count + 1),
	};
	struct build_id_note note = {
		.header = {4, (uint32_t)headers->build_id_size, NT_GNU_BUILD_ID},
		.owner = "GNU",
	};
	memcpy(note.build_id, headers->build_id, headers->build_id_size);
	size_t table = headers->count * sizeof(Elf64_Phdr);
	Elf64_Phdr note_header = {
		.p_type = PT_NOTE,
		.p_offset = sizeof(head) + table + sizeof(Elf64_Phdr),
		.p_filesz = offsetof(struct build_id_note, build_id) + headers->build_id_size,
		.p_align = 4,
	};
	*size = note_header.p_offset + sizeof(note);
	char *image = calloc(1, *size);
	if (!image)
		return NULL;
	Elf64_Phdr *items = (Elf64_Phdr *)(image + sizeof(head));
	memcpy(image, &head, sizeof(head));
	memcpy(items, headers->items, table);
	/* Of the module's own segments the image has no bytes. */
	for (size_t i = 0; i < headers->count; i++)
		if (items[i].p_type != PT_LOAD)
			items[i].p_type = PT_NULL;
	items[headers->count] = note_header;
	memcpy(image + note_header.p_offset, &note, sizeof(note));
	return image;
}
