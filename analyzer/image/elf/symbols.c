/* SPDX-License-Identifier: MIT */
#include "image/elf/module_dynamic.h"
#include "image/elf/module_debug.h"

static bool find_dynamic(struct rcore_modules *modules, const struct rcore_module_entry *entry,
			 const char *name, struct rcore_symbol *ret)
{
	struct rcore_module_dynamic of;
	GElf_Sym symbol;
	if (!rcore_module_dynamic(modules, entry, &of) ||
	    !rcore_dynamic_symbol(&of.dynamic, name, &symbol))
		return false;
	ret->address = symbol.st_value + (symbol.st_shndx == SHN_ABS ? 0 : entry->module.bias);
	ret->size = symbol.st_size;
	ret->is_dynamic = true;
	return true;
}

static struct rcore_symbol_index *make_index(Dwfl_Module *module)
{
	struct rcore_symbol_index *index = rcore_symbol_index_new();
	int count = index ? dwfl_module_getsymtab(module) : -1;
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		const char *name = dwfl_module_getsym(module, i, &symbol, &section);
		int type = GELF_ST_TYPE(symbol.st_info);
		if (!name || !*name || section == SHN_UNDEF || section == SHN_ABS ||
		    (type != STT_NOTYPE && type != STT_OBJECT && type != STT_FUNC &&
		     type != STT_GNU_IFUNC))
			continue;
		if (!rcore_symbol_index_add(index, name, symbol.st_value, symbol.st_size))
			break;
	}
	return index;
}

/*
 * Exported names come first: their lookup costs next to nothing, and .symtab
 * has the same addresses for them.
 */
bool rcore_module_symbol(struct rcore_modules *modules, struct rcore_module *module,
			 const char *name, struct rcore_symbol *ret)
{
	struct rcore_module_entry *entry = (struct rcore_module_entry *)module;
	if (find_dynamic(modules, entry, name, ret))
		return true;
	struct rcore_module_debug *debug = rcore_module_debug(modules, entry);
	if (!debug || !debug->module)
		return false;
	if (!entry->symbols)
		entry->symbols = make_index(debug->module);
	if (!entry->symbols ||
	    !rcore_symbol_index_find(entry->symbols, name, &ret->address, &ret->size))
		return false;
	ret->address += module->bias;
	ret->is_dynamic = false;
	return true;
}
