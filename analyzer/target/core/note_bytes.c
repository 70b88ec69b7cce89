/* SPDX-License-Identifier: MIT */
#include "target/core/note_bytes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

bool rcore_note_append(struct rcore_note_bytes *notes, const void *bytes, size_t size)
{
	if (notes->capacity - notes->count < size) {
		size_t wanted = notes->capacity + notes->capacity / 2 + size;
		uint8_t *grown = realloc(notes->items, wanted);
		if (!grown)
			return false;
		notes->items = grown;
		notes->capacity = wanted;
	}
	if (size)
		memcpy(notes->items + notes->count, bytes, size);
	notes->count += size;
	return true;
}

static bool pad(struct rcore_note_bytes *notes, size_t align)
{
	static const uint8_t zeroes[8];
	return rcore_note_append(notes, zeroes, (align - notes->count % align) % align);
}

bool rcore_note_add(struct rcore_note_bytes *notes, size_t align, const char *owner,
		    uint32_t type, const void *body, size_t size)
{
	Elf64_Nhdr header = {(Elf64_Word)strlen(owner) + 1, (Elf64_Word)size, type};
	return pad(notes, align) && rcore_note_append(notes, &header, sizeof(header)) &&
	       rcore_note_append(notes, owner, header.n_namesz) && pad(notes, align) &&
	       rcore_note_append(notes, body, size) && pad(notes, align);
}
