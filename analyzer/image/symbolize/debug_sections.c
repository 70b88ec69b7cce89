/* SPDX-License-Identifier: MIT */
#include "image/symbolize/debug_sections.h"

#include <string.h>

#include "base/count.h"
#include "image/symbolize/inflate_section.h"

/*
 * Where variables are, macros, and indexes that libdw does not use to find an
 * address.
 */
static const char *const unused[] = {".debug_loc",      ".debug_loclists", ".debug_macro",
				     ".debug_macinfo",  ".debug_pubnames", ".debug_pubtypes",
				     ".zdebug_loc",     ".zdebug_macro",   ".zdebug_macinfo",
				     ".zdebug_pubnames"};

static bool is_unused(const char *name)
{
	for (size_t i = 0; i < RCORE_COUNT(unused); i++)
		if (name && !strcmp(name, unused[i]))
			return true;
	return false;
}

/* libdw ignores a section that has no bytes in the file. */
static void hide(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char *name)
{
	if (!is_unused(name))
		return;
	header->sh_type = SHT_NOBITS;
	gelf_update_shdr(section, header);
}

static void inflate(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char *name)
{
	static const char dwarf[] = ".debug_";
	if (name && !is_unused(name) && !strncmp(name, dwarf, strlen(dwarf)))
		rcore_inflate_section(elf, section);
}

typedef void on_section(Elf *elf, Elf_Scn *section, GElf_Shdr *header, const char *name);

static void each_section(Elf *elf, on_section *function)
{
	size_t names;
	if (!elf || elf_getshdrstrndx(elf, &names))
		return;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (gelf_getshdr(section, &header))
			function(elf, section, &header, elf_strptr(elf, names, header.sh_name));
	}
}

/*
 * libdwfl has no function that returns the debug file, except as the file of a
 * symbol. A debug file without symbols is read as a whole.
 */
static void each_file(Dwfl_Module *module, on_section *function)
{
	GElf_Addr bias, address;
	GElf_Sym symbol;
	Elf *elf = NULL;
	each_section(dwfl_module_getelf(module, &bias), function);
	if (dwfl_module_getsymtab(module) > 1 &&
	    dwfl_module_getsym_info(module, 1, &symbol, &address, NULL, &elf, NULL))
		each_section(elf, function);
}

void rcore_debug_sections_hide(Dwfl_Module *module)
{
	each_file(module, hide);
}

void rcore_debug_sections_inflate(Dwfl_Module *module)
{
	each_file(module, inflate);
}
