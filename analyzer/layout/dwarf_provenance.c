/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "layout/dwarf_file.h"

enum { MAX_WORD = 256, MAX_TEXT = 2048 };

/*
 * They become comments of a table, and lines of a terminal. The options of a
 * compiler are shorter than MAX_TEXT.
 */
static void print_words(FILE *out, const char *text)
{
	char word[MAX_WORD];
	const char *end = text + strnlen(text, MAX_TEXT);
	while (*(text += strspn(text, " "))) {
		if (text >= end) {
			fputs(" ...", out);
			return;
		}
		size_t length = strcspn(text, " ");
		if (length < sizeof(word) && !memchr(text, '/', length)) {
			memcpy(word, text, length);
			word[length] = '\0';
			fputc(' ', out);
			rcore_escape_write(out, word);
		}
		text += length;
	}
}

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
		print_words(out, text);
		fputc('\n', out);
		return;
	}
}

char *rcore_dwarf_provenance(const char *path)
{
	struct rcore_dwarf_file file = {0};
	char *text = NULL;
	size_t size = 0;
	const void *build_id;

	rcore_auto_error err = rcore_dwarf_open(path, false, &file);
	FILE *out = err ? NULL : rcore_open_text(&text, &size);
	if (!out) {
		rcore_dwarf_close(&file);
		return NULL;
	}
	fputs("printed by 'rcore layout ", out);
	rcore_escape_write(out, rcore_base_name(path));
	fputs("' from its DWARF\n", out);
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
