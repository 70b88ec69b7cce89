/* SPDX-License-Identifier: MIT */
#include "image/elf/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/helper.h"
#include "base/order.h"
#include "image/elf/module_private.h"

static bool copy_options(struct rcore_modules *modules, const struct rcore_module_options *from)
{
	struct rcore_module_options *to = &modules->options;
	struct rcore_arena *arena = &modules->arena;
	if (!from)
		return true;
	if (from->sysroot && !(to->sysroot = rcore_arena_strdup(arena, from->sysroot)))
		return false;
	if (from->executable && !(to->executable = rcore_arena_strdup(arena, from->executable)))
		return false;
	const char **paths = rcore_arena_alloc(arena, from->search_path_count * sizeof(*paths));
	if (!paths)
		return false;
	for (size_t i = 0; i < from->search_path_count; i++)
		if (!(paths[i] = rcore_arena_strdup(arena, from->search_paths[i])))
			return false;
	to->from_memory = from->from_memory;
	to->answers = from->answers;
	to->search_paths = paths;
	to->search_path_count = from->search_path_count;
	return true;
}

static uint64_t page_size_of(const struct rcore_process *process)
{
	uint64_t size;
	if (rcore_process_auxv(process, AT_PAGESZ, &size) &&
	    (size == 4096 || size == 16384 || size == 65536))
		return size;
	return 4096;
}

static struct rcore_module_entry *find_executable(struct rcore_modules *modules)
{
	uint64_t address;
	struct rcore_module *module = NULL;
	if (rcore_process_auxv(modules->process, AT_PHDR, &address))
		module = rcore_modules_find(modules, address);
	if (!module && rcore_process_auxv(modules->process, AT_ENTRY, &address))
		module = rcore_modules_find(modules, address);
	return (struct rcore_module_entry *)module;
}

static int by_start(const void *left, const void *right)
{
	const struct rcore_module_entry *a = left, *b = right;
	return a->module.start < b->module.start ? -1 : a->module.start > b->module.start;
}

static int row_by_start(const void *left, const void *right)
{
	const struct rcore_module_row *a = left, *b = right;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sets what each row of a module may contain, once the files are known. */
static void mark_writable(struct rcore_modules *modules)
{
	for (size_t i = 0; i < modules->rows.count; i++) {
		struct rcore_module_row *row = &modules->rows.items[i];
		const struct rcore_module_entry *entry = &modules->list.items[row->module];
		const struct rcore_elf_headers *headers = rcore_module_headers(entry);
		const GElf_Phdr *load = NULL;
		row->writable = true;
		for (size_t j = 0; j < headers->count; j++) {
			const GElf_Phdr *item = &headers->items[j];
			uint64_t start = entry->module.bias + item->p_vaddr;
			if (item->p_type == PT_LOAD && start < row->end &&
			    start + item->p_filesz > row->start &&
			    (!load || item->p_flags & PF_W))
				load = item;
		}
		if (load)
			row->writable = load->p_flags & PF_W;
	}
}

/* Without NT_FILE, the program headers show what the dynamic linker mapped. */
static bool rows_from_headers(struct rcore_modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		const struct rcore_module_entry *entry = &modules->list.items[i];
		const struct rcore_elf_headers *headers = rcore_module_headers(entry);
		uint64_t mask = modules->page_size - 1;
		for (size_t j = 0; j < headers->count; j++) {
			const GElf_Phdr *item = &headers->items[j];
			if (item->p_type != PT_LOAD || !item->p_filesz)
				continue;
			struct rcore_module_row *row = rcore_push(&modules->rows);
			if (!row)
				return false;
			uint64_t start = entry->module.bias + item->p_vaddr;
			row->start = start & ~mask;
			row->end = (start + item->p_filesz + mask) & ~mask;
			row->file_offset = item->p_offset & ~mask;
			row->module = i;
		}
	}
	return true;
}

/*
 * The headers of a damaged core may contain any size. Modules do not overlap.
 */
static void trim(struct rcore_modules *modules)
{
	for (size_t i = 0; i < modules->list.count; i++) {
		struct rcore_module *module = &modules->list.items[i].module;
		uint64_t low, high;
		if (module->elf && rcore_elf_headers_extent(&module->elf->headers, &low, &high))
			module->end = module->bias + high;
		if (i + 1 < modules->list.count &&
		    module->end > modules->list.items[i + 1].module.start)
			module->end = modules->list.items[i + 1].module.start;
	}
}

static struct rcore_error *load(struct rcore_modules *modules)
{
	bool mapped = modules->process->mapping_count > 0;
	struct rcore_error *err = mapped ? rcore_modules_from_mappings(modules)
					 : rcore_modules_from_link_map(modules);
	if (err)
		return err;
	if (!mapped && modules->list.count)
		qsort(modules->list.items, modules->list.count, sizeof(*modules->list.items),
		      by_start);
	struct rcore_module_entry *program = find_executable(modules);
	if (program)
		program->module.is_executable = true;
	for (size_t i = 0; i < modules->list.count && !err; i++) {
		struct rcore_module_entry *entry = &modules->list.items[i];
		if (entry == program && modules->options.executable)
			err = rcore_module_use_executable(modules, entry);
		else if (!entry->module.elf)
			err = rcore_module_find_file(modules, entry);
	}
	if (err)
		return err;
	if (!mapped && !rows_from_headers(modules))
		return rcore_error_no_memory();
	if (modules->rows.count)
		qsort(modules->rows.items, modules->rows.count, sizeof(*modules->rows.items),
		      row_by_start);
	mark_writable(modules);
	trim(modules);
	return NULL;
}

struct rcore_error *rcore_modules_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_module_options *options,
				       struct rcore_modules **ret)
{
	struct rcore_modules *modules = calloc(1, sizeof(*modules));
	if (!modules)
		return rcore_error_no_memory();
	modules->process = process;
	modules->memory = memory;
	modules->page_size = page_size_of(process);
	struct rcore_error *err =
		copy_options(modules, options) ? load(modules) : rcore_error_no_memory();
	if (err) {
		rcore_modules_close(modules);
		return err;
	}
	*ret = modules;
	return NULL;
}

void rcore_modules_close(struct rcore_modules *modules)
{
	if (!modules)
		return;
	rcore_helper_free(modules->helper);
	free(modules->reply);
	for (size_t i = 0; i < modules->list.count; i++) {
		struct rcore_module_entry *entry = &modules->list.items[i];
		rcore_symbol_index_free(entry->symbols);
		rcore_module_debug_free(entry->debug);
		rcore_elf_headers_deinit(&entry->headers);
		rcore_elf_close(entry->module.elf);
	}
	free(modules->list.items);
	free(modules->rows.items);
	rcore_arena_deinit(&modules->arena);
	free(modules);
}

size_t rcore_modules_count(const struct rcore_modules *modules)
{
	return modules->list.count;
}

struct rcore_module *rcore_modules_get(struct rcore_modules *modules, size_t index)
{
	return index < modules->list.count ? &modules->list.items[index].module : NULL;
}

struct rcore_module *rcore_modules_find(struct rcore_modules *modules, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(modules->list.count, middle,
					   modules->list.items[middle].module.end <= address);
	struct rcore_module *module = rcore_modules_get(modules, low);
	return module && module->start <= address ? module : NULL;
}

/*
 * Returns the range of PT_LOAD number `index`, counting only those whose flags
 * in `mask` are `flags`.
 */
static bool find_load(const struct rcore_module *module, size_t index, unsigned mask,
		      unsigned flags, uint64_t *start, uint64_t *end)
{
	const struct rcore_elf_headers *headers =
		rcore_module_headers((const struct rcore_module_entry *)module);
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		uint64_t from = module->bias + item->p_vaddr, to;
		if (item->p_type != PT_LOAD || (item->p_flags & mask) != flags ||
		    !item->p_memsz || __builtin_add_overflow(from, item->p_memsz, &to))
			continue;
		if (index--)
			continue;
		*start = from;
		*end = to;
		return true;
	}
	return false;
}

bool rcore_module_writable(struct rcore_modules *modules, const struct rcore_module *module,
			   size_t index, uint64_t *start, uint64_t *end)
{
	return find_load(module, index, PF_W, PF_W, start, end);
}

bool rcore_module_constant(struct rcore_modules *modules, const struct rcore_module *module,
			   size_t index, uint64_t *start, uint64_t *end)
{
	unsigned mask = PF_R | PF_W | PF_X;
	if (!find_load(module, 0, mask, PF_R, start, end))
		mask = PF_R | PF_W;
	return find_load(module, index, mask, PF_R, start, end);
}

uint64_t rcore_module_thread_block(const struct rcore_module *module)
{
	const struct rcore_elf_headers *headers =
		rcore_module_headers((const struct rcore_module_entry *)module);
	for (size_t i = 0; i < headers->count; i++)
		if (headers->items[i].p_type == PT_TLS)
			return headers->items[i].p_memsz;
	return 0;
}
