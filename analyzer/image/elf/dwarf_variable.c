/* SPDX-License-Identifier: MIT */
#include <dwarf.h>
#include <limits.h>
#include <string.h>

#include "image/elf/module_debug.h"
#include "image/elf/module_helper.h"

/* In the helper. Returns a file with DWARF, or NULL. */
static const char *find_file(struct rcore_modules *modules, struct rcore_module_entry *entry)
{
	struct rcore_module_debug *debug = entry ? rcore_module_debug(modules, entry) : NULL;
	if (!debug || !debug->module || debug->looked_for_file)
		return debug ? debug->file : NULL;
	debug->looked_for_file = true;
	Dwarf_Addr bias;
	Dwarf *dwarf = dwfl_module_getdwarf(debug->module, &bias);
	Dwarf_Off next;
	size_t size;
	if (!dwarf || dwarf_nextcu(dwarf, 0, &next, &size, NULL, NULL, NULL))
		return NULL;
	const char *main_file = NULL, *debug_file = NULL;
	dwfl_module_info(debug->module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
	const char *file = debug_file ? debug_file : main_file;
	debug->file = rcore_arena_copy(&modules->arena, file);
	return debug->file;
}

/* In the helper. Replies with the path, or with nothing. */
static size_t serve_file(void *context, const void *request, size_t size, void *reply,
			 size_t room)
{
	size_t index;
	memcpy(&index, request, sizeof(index));
	const char *file = find_file(context, rcore_module_of_index(context, index));
	size_t length = file ? strlen(file) : 0;
	if (length >= PATH_MAX)
		length = 0;
	if (length)
		memcpy(reply, file, length);
	((char *)reply)[length] = '\0';
	return length + 1;
}

const char *rcore_module_debug_file(struct rcore_modules *modules, struct rcore_module *module)
{
	struct rcore_module_entry *entry = (struct rcore_module_entry *)module;
	char *reply = rcore_module_helper_room(modules);
	size_t index = rcore_module_index(modules, entry), size = 0;
	if (entry->has_debug_file || !reply)
		return entry->debug_file;
	entry->has_debug_file = true;
	if (rcore_module_helper_ask(modules, entry, serve_file, &index, sizeof(index), reply,
				    &size) &&
	    size > 1 && !reply[size - 1])
		entry->debug_file = rcore_arena_strdup(&modules->arena, reply);
	return entry->debug_file;
}

/*
 * Finds the address of a variable with a fixed address. Returns false for
 * thread-locals and locals.
 */
static bool fixed_address(Dwarf_Die *die, uint64_t *ret)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *expression;
	size_t length;
	if (!dwarf_attr_integrate(die, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &expression, &length) || length != 1)
		return false;
	Dwarf_Attribute operand;
	if (expression[0].atom == DW_OP_addr) {
		*ret = expression[0].number;
		return true;
	}
	return expression[0].atom == DW_OP_addrx &&
	       !dwarf_getlocation_attr(&attribute, expression, &operand) &&
	       !dwarf_formaddr(&operand, ret);
}

static bool add_unit(struct rcore_symbol_index *index, Dwarf_Die *unit, Dwarf_Addr bias)
{
	Dwarf_Die die;
	int status = dwarf_child(unit, &die);
	for (; status == 0; status = dwarf_siblingof(&die, &die)) {
		uint64_t address;
		if (dwarf_tag(&die) != DW_TAG_variable || !fixed_address(&die, &address))
			continue;
		const char *name = dwarf_diename(&die);
		if (name && !rcore_symbol_index_add(index, name, address + bias, 0))
			return false;
	}
	return true;
}

/* In the helper. */
static bool find_variable(struct rcore_modules *modules, struct rcore_module_entry *entry,
			  const char *name, uint64_t *ret)
{
	if (!find_file(modules, entry))
		return false;
	struct rcore_module_debug *debug = entry->debug;
	if (!debug->variables) {
		debug->variables = rcore_symbol_index_new();
		if (!debug->variables)
			return false;
		Dwarf_Addr bias;
		Dwarf_Die *unit = NULL;
		while ((unit = dwfl_module_nextcu(debug->module, unit, &bias)))
			if (!add_unit(debug->variables, unit, bias))
				break;
	}
	return rcore_symbol_index_find(debug->variables, name, ret, NULL);
}

struct variable {
	size_t index;
	char name[256];
};

/* In the helper. Replies with the address in the file, or with nothing. */
static size_t serve_variable(void *context, const void *request, size_t size, void *reply,
			     size_t room)
{
	struct variable wanted;
	uint64_t address;
	memcpy(&wanted, request, sizeof(wanted));
	if (!find_variable(context, rcore_module_of_index(context, wanted.index), wanted.name,
			   &address))
		return 0;
	memcpy(reply, &address, sizeof(address));
	return sizeof(address);
}

bool rcore_module_dwarf_variable(struct rcore_modules *modules, struct rcore_module *module,
				 const char *name, uint64_t *ret)
{
	struct rcore_module_entry *entry = (struct rcore_module_entry *)module;
	struct variable wanted = {.index = rcore_module_index(modules, entry)};
	char *reply = rcore_module_helper_room(modules);
	size_t size = 0;
	if (!reply || strlen(name) >= sizeof(wanted.name))
		return false;
	strcpy(wanted.name, name);
	if (!rcore_module_helper_ask(modules, entry, serve_variable, &wanted, sizeof(wanted),
				     reply, &size) ||
	    size != sizeof(*ret))
		return false;
	memcpy(ret, reply, sizeof(*ret));
	*ret += module->bias;
	return true;
}
