/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "image/elf/module_debug.h"
#include "image/elf/module_dynamic.h"
#include "image/elf/module_helper.h"

enum { MAX_NAME = 4096 }; /* of a symbol that is looked up */

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

/* The name follows, with its NUL. */
struct request {
	size_t index;
};

struct reply {
	bool found;
	uint64_t address, size; /* in the file */
};

static bool find_static(struct rcore_modules *modules, struct rcore_module_entry *entry,
			const char *name, struct reply *ret)
{
	struct rcore_module_debug *debug = entry ? rcore_module_debug(modules, entry) : NULL;
	if (!debug || !debug->module)
		return false;
	if (!entry->symbols)
		entry->symbols = make_index(debug->module);
	return entry->symbols &&
	       rcore_symbol_index_find(entry->symbols, name, &ret->address, &ret->size);
}

/* In the helper. */
static size_t serve(void *context, const void *bytes, size_t size, void *reply, size_t room)
{
	struct rcore_modules *modules = context;
	struct reply found = {0};
	struct request request;
	memcpy(&request, bytes, sizeof(request));
	found.found = find_static(modules, rcore_module_of_index(modules, request.index),
				  (const char *)bytes + sizeof(request), &found);
	memcpy(reply, &found, sizeof(found));
	return sizeof(found);
}

static bool ask(struct rcore_modules *modules, struct rcore_module_entry *entry,
		const char *name, struct reply *ret)
{
	char request[sizeof(struct request) + MAX_NAME];
	char *reply = rcore_module_helper_room(modules);
	const struct request head = {rcore_module_index(modules, entry)};
	size_t length = strlen(name) + 1, size = 0;
	if (length > MAX_NAME || !reply)
		return false;
	memcpy(request, &head, sizeof(head));
	memcpy(request + sizeof(head), name, length);
	if (!rcore_module_helper_ask(modules, entry, serve, request, sizeof(head) + length,
				     reply, &size) ||
	    size != sizeof(*ret))
		return false;
	memcpy(ret, reply, sizeof(*ret));
	return ret->found;
}

bool rcore_module_exported(struct rcore_modules *modules, struct rcore_module *module,
			   const char *name, struct rcore_symbol *ret)
{
	return find_dynamic(modules, (struct rcore_module_entry *)module, name, ret);
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
	struct reply found;
	if (!ask(modules, entry, name, &found))
		return false;
	*ret = (struct rcore_symbol){.address = found.address + module->bias,
				     .size = found.size};
	return true;
}
