/* SPDX-License-Identifier: MIT */
#ifndef RCORE_LAYOUT_DWARF_FILE_H
#define RCORE_LAYOUT_DWARF_FILE_H

#include <elfutils/libdw.h>

#include "layout/layout.h"

/* An open ELF file with DWARF. */
struct rcore_dwarf_file {
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	unsigned machine;
};

/*
 * Opens a file to read types, and, if `needs_lines`, the files in which they
 * are declared (dwarf_decl_file()). Errors: OS, FORMAT (not ELF, no DWARF),
 * UNSUPPORTED (32-bit, another machine). None of them names the file.
 */
struct rcore_error *rcore_dwarf_open(const char *path, bool needs_lines,
				     struct rcore_dwarf_file *ret);
/* Accepts one of all zeroes, too. */
void rcore_dwarf_close(struct rcore_dwarf_file *file);

/* Whether a unit is C, or does not say: dwz's partial units, type units. */
bool rcore_dwarf_may_be_c(Dwarf_Die *unit);

/*
 * Reads the bytes of the data symbol `name` (.symtab, otherwise .dynsym) up to
 * a NUL. Returns false if the file does not have the symbol, or not its bytes
 * (a separate debug file).
 */
bool rcore_dwarf_file_string(struct rcore_dwarf_file *file, const char *name, char *buffer,
			     size_t size);

/*
 * Do what rcore_layout_from_dwarf(), rcore_layout_from_headers() and
 * rcore_layout_provenance() do, in this process. `headers` may be NULL.
 */
struct rcore_error *rcore_dwarf_layout(const char *path, const unsigned version[3],
				       const char *headers, struct rcore_layout *ret);
char *rcore_dwarf_provenance(const char *path);

#endif
