/* SPDX-License-Identifier: MIT */
#include "image/symbolize/inflate_section.h"

#ifndef RCORE_DEFLATE

void rcore_inflate_section(Elf *elf, Elf_Scn *section)
{
}

#else

#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MAX_RATIO = 1032 /* of the best compression that deflate can reach */ };

static void *inflate(const void *bytes, size_t compressed, size_t size)
{
	if (size / MAX_RATIO > compressed)
		return NULL;
	struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
	void *room = decompressor ? malloc(size) : NULL;
	bool done = room && libdeflate_zlib_decompress(decompressor, bytes, compressed, room,
						       size, NULL) == LIBDEFLATE_SUCCESS;
	if (decompressor)
		libdeflate_free_decompressor(decompressor);
	if (done)
		return room;
	free(room);
	return NULL;
}

static void replace(Elf_Data *data, void *bytes, size_t size)
{
	if (!data)
		return;
	data->d_buf = bytes;
	data->d_size = size;
}

void rcore_inflate_section(Elf *elf, Elf_Scn *section)
{
	GElf_Shdr header;
	GElf_Chdr compression;
	size_t skipped = gelf_fsize(elf, ELF_T_CHDR, 1, EV_CURRENT);
	Elf_Data *data = elf_rawdata(section, NULL);
	if (!data || data->d_size <= skipped || !gelf_getshdr(section, &header) ||
	    !(header.sh_flags & SHF_COMPRESSED) || !gelf_getchdr(section, &compression) ||
	    compression.ch_type != ELFCOMPRESS_ZLIB || !compression.ch_size)
		return;
	void *bytes = inflate((const char *)data->d_buf + skipped, data->d_size - skipped,
			      compression.ch_size);
	if (!bytes)
		return;
	header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	header.sh_size = compression.ch_size;
	header.sh_addralign = compression.ch_addralign;
	gelf_update_shdr(section, &header);
	/* Programs get one, libdw the other. */
	replace(data, bytes, compression.ch_size);
	replace(elf_getdata(section, NULL), bytes, compression.ch_size);
}

#endif
