/* SPDX-License-Identifier: MIT */
#include "image/elf/headers_image.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct build_id_note {
	Elf64_Nhdr header;
	char owner[4];
	unsigned char build_id[64];
};

/* .eh_frame_hdr without a search table, followed by .eh_frame. */
struct frames {
	uint8_t format, frames_encoding, count_encoding, table_encoding;
	int32_t frames; /* relative to itself */
	uint8_t bytes[];
};

static size_t frames_size(const struct rcore_call_frames *frames)
{
	enum { TERMINATOR = sizeof(uint32_t) };
	return frames->size ? sizeof(struct frames) + frames->size + TERMINATOR : 0;
}

/*
 * Writes them at `offset`. Addresses in them are relative to their place in
 * memory.
 */
static GElf_Phdr put_frames(const struct rcore_call_frames *frames, char *image, size_t offset)
{
	struct frames *header = (struct frames *)(image + offset);
	*header = (struct frames){
		.format = 1,
		.frames_encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		.count_encoding = DW_EH_PE_omit,
		.table_encoding = DW_EH_PE_omit,
		.frames = sizeof(*header) - offsetof(struct frames, frames),
	};
	memcpy(header->bytes, frames->bytes, frames->size);
	return (GElf_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = offset,
		.p_vaddr = frames->address - sizeof(*header),
		.p_filesz = sizeof(*header),
		.p_memsz = sizeof(*header),
		.p_align = sizeof(uint32_t),
	};
}

char *rcore_headers_image(const struct rcore_elf_headers *headers,
			  const struct rcore_call_frames *frames, unsigned machine,
			  size_t *size)
{
	enum { OWN = 2 }; /* program headers that the image adds */
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
		.e_phnum = (uint16_t)(headers->count + OWN),
	};
	struct build_id_note note = {
		.header = {4, (uint32_t)headers->build_id_size, NT_GNU_BUILD_ID},
		.owner = "GNU",
	};
	memcpy(note.build_id, headers->build_id, headers->build_id_size);
	size_t table = headers->count * sizeof(Elf64_Phdr);
	Elf64_Phdr note_header = {
		.p_type = PT_NOTE,
		.p_offset = sizeof(head) + table + OWN * sizeof(Elf64_Phdr),
		.p_filesz = offsetof(struct build_id_note, build_id) + headers->build_id_size,
		.p_align = 4,
	};
	size_t frames_offset = note_header.p_offset + sizeof(note);
	*size = frames_offset + frames_size(frames);
	char *image = calloc(1, *size);
	if (!image)
		return NULL;
	Elf64_Phdr *items = (Elf64_Phdr *)(image + sizeof(head));
	memcpy(image, &head, sizeof(head));
	memcpy(items, headers->items, table);
	/* The image has no bytes of the module's own segments. */
	for (size_t i = 0; i < headers->count; i++)
		if (items[i].p_type != PT_LOAD)
			items[i].p_type = PT_NULL;
	items[headers->count] = note_header;
	if (frames->size)
		items[headers->count + 1] = put_frames(frames, image, frames_offset);
	memcpy(image + note_header.p_offset, &note, sizeof(note));
	return image;
}
