/* SPDX-License-Identifier: MIT */
#include "image/symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM         1
#define uthash_nonfatal_oom(text) ((text)->lost = true)
#include <uthash.h>

#include "base/text.h"
#include "image/elf/dynamic.h"
#include "image/elf/locate.h"
#include "image/symbolize/symbolize_gem.h"
#include "image/symbolize/symbolize_name.h"

struct rcore_interned {
	const char *text;
	bool lost;
	UT_hash_handle hh;
};

void rcore_symbolizer_deinit(struct rcore_symbolizer *symbolizer)
{
	struct rcore_interned *item, *next;
	HASH_ITER (hh, symbolizer->interned, item, next) {
		HASH_DEL(symbolizer->interned, item);
		free(item);
	}
}

/* Returns NULL for NULL, and if memory is short; the name is then missing. */
static const char *intern(struct rcore_symbolizer *symbolizer, const char *text, size_t size)
{
	struct rcore_interned *item = NULL;
	if (!text || !size)
		return NULL;
	HASH_FIND(hh, symbolizer->interned, text, size, item);
	if (item)
		return item->text;
	item = calloc(1, sizeof(*item));
	if (!item || !(item->text = rcore_arena_strndup(symbolizer->arena, text, size))) {
		free(item);
		return NULL;
	}
	const char *copy = item->text;
	HASH_ADD_KEYPTR(hh, symbolizer->interned, copy, size, item);
	if (item->lost)
		free(item);
	return copy;
}

static const char *intern_text(struct rcore_symbolizer *symbolizer, const char *text)
{
	return text ? intern(symbolizer, text, strlen(text)) : NULL;
}

/*
 * The executable of a Ruby with a shared library contains little code, but also
 * belongs to the interpreter. A program that embeds Ruby has another name.
 */
static bool is_ruby_executable(const struct rcore_module *module, const char *name)
{
	return module->is_executable && !strncmp(name, "ruby", 4) &&
	       strspn(name + 4, "0123456789.-") == strlen(name + 4);
}

/*
 * Uses only dynamic symbols, which distinguish the interpreter from a library
 * for it.
 */
static bool is_interpreter(struct rcore_native_module *module)
{
	struct rcore_module_entry *entry = module->entry;
	struct rcore_dynamic dynamic;
	GElf_Sym symbol;
	return rcore_dynamic_init(module->all->memory, entry->module.bias,
				  rcore_module_headers(entry), &dynamic) &&
	       rcore_dynamic_symbol(&dynamic, "ruby_version", &symbol);
}

static void name_module(struct rcore_symbolizer *symbolizer, struct rcore_native_module *module)
{
	struct rcore_module_entry *entry = module->entry;
	const char *path = rcore_path_without_deleted(symbolizer->arena, entry->module.path);
	if (!path)
		path = entry->module.path;
	const char *gem;
	size_t size = rcore_gem_of_path(path, &gem);
	module->named = true;
	module->name = intern_text(symbolizer, rcore_base_name(path));
	if (size)
		module->gem = intern(symbolizer, gem, size);
	module->is_interpreter =
		is_interpreter(module) ||
		(module->name && is_ruby_executable(&entry->module, module->name));
}

/* If the bias is not known, returns the offset from the module's start. */
static uint64_t offset_of(const struct rcore_native_module *module, uint64_t address)
{
	const struct rcore_module *found = &module->entry->module;
	return address - (module->entry->bias_known ? found->bias : found->start);
}

/* Of an address without symbols and DWARF. */
static struct rcore_address_name nothing(uint64_t address, uint64_t fde_start)
{
	return (struct rcore_address_name){
		.count = 1,
		.function_start = fde_start,
		.function_offset = fde_start ? address - fde_start : 0,
	};
}

size_t rcore_symbolize(struct rcore_symbolizer *symbolizer, struct rcore_native_module *module,
		       uint64_t address, uint64_t fde_start, struct rcore_native_frame **ret)
{
	struct rcore_address_name name;
	if (module && !module->named)
		name_module(symbolizer, module);
	if (!module || !rcore_name_address(module, address, fde_start, &name))
		name = nothing(address, fde_start);
	struct rcore_native_frame *frames =
		rcore_arena_alloc(symbolizer->arena, name.count * sizeof(*frames));
	if (!frames)
		return 0;
	for (size_t i = 0; i < name.count; i++) {
		const struct rcore_function_name *function = &name.functions[i];
		struct rcore_native_frame *frame = &frames[i];
		frame->pc = address;
		frame->function = intern_text(symbolizer, function->name);
		frame->symbol = intern_text(symbolizer, function->symbol);
		frame->file = intern_text(symbolizer, function->file);
		frame->line = function->line;
		frame->is_inlined = i + 1 < name.count;
		if (!module)
			continue;
		frame->module = module->name;
		frame->module_offset = offset_of(module, address);
		frame->gem = module->gem;
		frame->is_interpreter = module->is_interpreter;
	}
	if (module) {
		frames[name.count - 1].function_start = name.function_start;
		frames[name.count - 1].function_offset = name.function_offset;
	}
	*ret = frames;
	return name.count;
}
