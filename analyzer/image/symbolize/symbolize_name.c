/* SPDX-License-Identifier: MIT */
#include "image/symbolize/debug_sections.h"
#include "image/symbolize/symbolize_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "image/elf/elf_memory.h"
#include "image/elf/module_helper.h"
#include "image/symbolize/demangle.h"

enum {
	/* A longer name says nothing more to a person. */
	MAX_NAME = 16 << 10,
};

/* GCC moves rarely executed code of a function into "NAME.cold". */
static uint64_t hot_start(const struct rcore_native_module *module,
			  const struct rcore_function_symbol *symbol)
{
	const char *suffix = ".cold";
	if (!rcore_ends_with(symbol->name, suffix))
		return symbol->start;
	const struct rcore_function_symbol *hot = rcore_symbols_named(
		module->symbols, symbol->name, strlen(symbol->name) - strlen(suffix));
	return hot ? hot->start : symbol->start;
}

/* Strings of a name that is being written, one after the other. */
struct writer {
	char *at, *end;
};

/* Returns NULL if there is no room left. */
static const char *put(struct writer *writer, const char *text, size_t size)
{
	if (!text || !size)
		return NULL;
	size = size < MAX_NAME ? size : MAX_NAME;
	if ((size_t)(writer->end - writer->at) <= size)
		return NULL;
	char *copy = writer->at;
	memcpy(copy, text, size);
	copy[size] = '\0';
	writer->at += size + 1;
	return copy;
}

static const char *put_text(struct writer *writer, const char *text)
{
	return text ? put(writer, text, strlen(text)) : NULL;
}

/*
 * DWARF has the name of an inlined function as in the source; a symbol has the
 * linker's name.
 */
static void put_function(struct writer *writer, const char *name, size_t size,
			 struct rcore_function_name *ret)
{
	const char *linked = put(writer, name, size);
	char *readable = rcore_demangle(linked);
	ret->name = readable ? put_text(writer, readable) : linked;
	ret->symbol = ret->name != linked ? linked : NULL;
	if (!ret->name)
		*ret = (struct rcore_function_name){linked, NULL, ret->file, ret->line};
	free(readable);
}

static void name_function(struct rcore_native_module *module, uint64_t address,
			  uint64_t fde_start, struct writer *writer,
			  struct rcore_address_name *name)
{
	const struct rcore_function_symbol *symbol =
		module->symbols ? rcore_symbols_find(module->symbols, address, fde_start)
				: NULL;
	if (symbol) {
		put_function(writer, symbol->name, strcspn(symbol->name, "@"),
			     &name->functions[name->count - 1]);
		name->function_offset = address - symbol->start;
		name->function_start = hot_start(module, symbol);
	}
	if (fde_start && (!symbol || !symbol->size))
		name->function_start = fde_start;
	if (!symbol && fde_start)
		name->function_offset = address - fde_start;
}

static void read_module(struct rcore_native_module *module)
{
	module->has_symbols = true;
	module->symbols = rcore_symbols_new(module->dwfl);
	bool is_short = rcore_elf_lacked_memory();
	/* Only then is this the helper. */
	if (module->all->reads_debug_files)
		rcore_debug_sections_inflate(module->dwfl);
	is_short |= rcore_elf_lacked_memory();
	module->units = rcore_units_new(module->dwfl);
	module->lacked_memory = rcore_elf_lacked_memory() || is_short;
}

/*
 * Writes the strings of *ret to `room`, which has `size` bytes. Returns their
 * end.
 */
static char *find(struct rcore_native_module *module, uint64_t address, uint64_t fde_start,
		  char *room, size_t size, struct rcore_address_name *ret)
{
	struct rcore_source sources[RCORE_MAX_INLINED + 1] = {{0}};
	struct writer writer = {room, room + size};
	size_t count = 0;
	*ret = (struct rcore_address_name){0};
	if (!module->has_symbols)
		read_module(module);
	if (module->units)
		count = rcore_units_find(module->units, address, sources);
	ret->count = count ? count : 1;
	for (size_t i = 0; i < ret->count; i++) {
		struct rcore_function_name *function = &ret->functions[i];
		function->file = put_text(&writer, sources[i].file);
		function->line = sources[i].line;
		if (sources[i].function)
			put_function(&writer, sources[i].function, strlen(sources[i].function),
				     function);
	}
	name_function(module, address, fde_start, &writer, ret);
	return writer.at;
}

struct request {
	size_t index;
	uint64_t address, fde_start;
};

/* In the helper. Returns NULL if libdwfl did not accept the module. */
static struct rcore_native_module *find_module(struct rcore_modules *modules, size_t index)
{
	const struct rcore_module_entry *entry = rcore_module_of_index(modules, index);
	if (!modules->named) {
		rcore_error_free(rcore_native_modules_open(
			modules, modules->memory, modules->process->machine, &modules->named));
		if (!modules->named)
			return NULL;
		modules->named->reads_debug_files = true;
	}
	for (size_t i = 0; i < modules->named->count; i++)
		if (modules->named->items[i].entry == entry)
			return &modules->named->items[i];
	return NULL;
}

/*
 * In a reply, replaces the address of a string by its offset, counted from 1.
 * The strings follow the name.
 */
static void shift(const char **text, const char *from)
{
	if (*text)
		*text = (const char *)(uintptr_t)(*text - from + 1);
}

/* In the helper. */
static size_t serve(void *context, const void *bytes, size_t size, void *reply, size_t room)
{
	struct request request;
	struct rcore_address_name name;
	memcpy(&request, bytes, sizeof(request));
	struct rcore_native_module *module = find_module(context, request.index);
	if (!module)
		return 0;
	char *strings = (char *)reply + sizeof(name);
	char *end = find(module, request.address, request.fde_start, strings,
			 room - sizeof(name), &name);
	for (size_t i = 0; i < name.count; i++) {
		shift(&name.functions[i].name, strings);
		shift(&name.functions[i].symbol, strings);
		shift(&name.functions[i].file, strings);
	}
	memcpy(reply, &name, sizeof(name));
	if (module->lacked_memory)
		errno = ENOMEM;
	return (size_t)(end - (char *)reply);
}

/* A string of the reply; NULL if it is not in it. */
static void take(const char **text, const char *strings, size_t size)
{
	uintptr_t offset = (uintptr_t)*text;
	*text = offset && offset <= size ? strings + offset - 1 : NULL;
}

static bool take_reply(char *reply, size_t size, struct rcore_address_name *ret)
{
	if (size < sizeof(*ret))
		return false;
	memcpy(ret, reply, sizeof(*ret));
	char *strings = reply + sizeof(*ret);
	size -= sizeof(*ret);
	if (!ret->count || ret->count > RCORE_MAX_INLINED + 1 || (size && strings[size - 1]))
		return false;
	for (size_t i = 0; i < ret->count; i++) {
		take(&ret->functions[i].name, strings, size);
		take(&ret->functions[i].symbol, strings, size);
		take(&ret->functions[i].file, strings, size);
	}
	return true;
}

bool rcore_name_address(struct rcore_native_module *module, uint64_t address,
			uint64_t fde_start, struct rcore_address_name *ret)
{
	struct rcore_modules *modules = module->all->modules;
	const struct request request = {rcore_module_index(modules, module->entry), address,
					fde_start};
	char *reply = rcore_module_helper_room(modules);
	size_t size = 0;
	if (!reply)
		return false;
	if (module->entry == &module->all->vdso) {
		find(module, address, fde_start, reply, RCORE_HELPER_ROOM, ret);
		return true;
	}
	return rcore_module_helper_call(modules, module->entry, serve, &request,
					sizeof(request), reply, &size) &&
	       take_reply(reply, size, ret);
}
