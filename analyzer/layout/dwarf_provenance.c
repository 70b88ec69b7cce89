/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layout/dwarf_file.h"

/* Prints "GNU C17 12.2.0 -g -O1 ...", without the words that contain a path. */
static void print_producer(FILE *out, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	Dwarf_Attribute attr;

	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL)) {
		const char *text = dwarf_formstring(dwarf_attr(&die, DW_AT_producer, &attr));
		if (!text || !rcore_dwarf_may_be_c(&die))
			continue;
		fputs("compiler:", out);
		while (*(text += strspn(text, " "))) {
			size_t length = strcspn(text, " ");
			if (!memchr(text, '/', length))
				fprintf(out, " %.*s", (int)length, text);
			text += length;
		}
		fputc('\n', out);
		return;
	}
}

char *rcore_layout_provenance(const char *path)
{
	struct rcore_dwarf_file file = {0};
	char *text = NULL;
	size_t size = 0;
	const char *base = strrchr(path, '/');
	const void *build_id;

	rcore_auto_error err = rcore_dwarf_open(path, false, &file);
	FILE *out = err ? NULL : open_memstream(&text, &size);
	if (!out) {
		rcore_dwarf_close(&file);
		return NULL;
	}
	fprintf(out, "printed by 'rcore layout %s' from its DWARF\n", base ? base + 1 : path);
	ssize_t id_size = dwelf_elf_gnu_build_id(file.elf, &build_id);
	if (id_size > 0) {
		fputs("build-id: ", out);
		for (ssize_t i = 0; i < id_size; i++)
			fprintf(out, "%02x", ((const unsigned char *)build_id)[i]);
		fputc('\n', out);
	}
	print_producer(out, file.dwarf);
	bool failed = ferror(out);
	if (fclose(out) || failed) {
		free(text);
		text = NULL;
	}
	rcore_dwarf_close(&file);
	return text;
}
