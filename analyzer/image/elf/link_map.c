/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/grow.h"
#include "image/elf/dynamic.h"
#include "image/elf/locate.h"
#include "image/elf/module_private.h"

/*
 * If there is no NT_FILE (qemu writes none, the kernel leaves out one that is
 * too big), the dynamic linker's own list shows what is loaded. Debuggers find
 * it like this:
 *
 *	AT_PHDR -> PT_DYNAMIC of the program -> DT_DEBUG -> r_debug
 *	-> link_map -> l_next ...
 *
 * (glibc: elf/link.h. The public members are the same on each 64-bit machine.)
 */
enum { MAX_LINK_MAPS = 4096, MAX_PATH = 4096, R_DEBUG_MAP = 8 };

struct link_map {
	uint64_t bias, name, dynamic, next, previous;
};

static struct rcore_module_entry *add_entry(struct rcore_modules *modules, const char *path,
					    uint64_t bias, uint64_t start)
{
	struct rcore_module_entry *entry = rcore_push(&modules->list);
	if (!entry)
		return NULL;
	entry->module.path = path;
	entry->module.bias = bias;
	entry->bias_known = true;
	entry->module.start = start;
	entry->module.end = start + 1;
	return entry;
}

static void use_headers(struct rcore_module_entry *entry,
			const struct rcore_elf_headers *headers)
{
	uint64_t low, high;
	entry->headers = *headers;
	entry->module.build_id_size = headers->build_id_size;
	memcpy(entry->module.build_id, headers->build_id, headers->build_id_size);
	if (rcore_elf_headers_extent(headers, &low, &high)) {
		entry->module.start = entry->module.bias + low;
		entry->module.end = entry->module.bias + high;
	}
}

static const char *read_path(struct rcore_modules *modules, uint64_t address)
{
	char path[MAX_PATH];
	if (!address || rcore_read_string(modules->memory, address, path, sizeof(path)) ||
	    !*path)
		return NULL;
	return rcore_arena_strdup(&modules->arena, path);
}

static const char *program_path(struct rcore_modules *modules)
{
	uint64_t address = 0;
	rcore_process_auxv(modules->process, AT_EXECFN, &address);
	const char *path = read_path(modules, address);
	if (!path)
		path = modules->options.executable;
	if (!path)
		path = modules->process->executable;
	return path ? path : "the program";
}

/*
 * Opens the file that is most likely the program, to find its load address. The
 * caller checks it later like any other file.
 */
static struct rcore_error *open_program(struct rcore_modules *modules, const char *path,
					struct rcore_elf **ret)
{
	struct rcore_candidate candidates[RCORE_MAX_CANDIDATES];
	unsigned machine = modules->process->machine;
	if (modules->options.executable)
		return rcore_error_wrap(
			rcore_elf_open(modules->options.executable, machine, ret),
			"the executable");
	size_t count =
		rcore_locate(&modules->arena, &modules->options, path, NULL, 0, candidates);
	for (size_t i = 0; i < count; i++) {
		struct rcore_error *err = rcore_elf_open(candidates[i].path, machine, ret);
		if (!err)
			return NULL;
		err = rcore_error_forgive(err);
		if (err)
			return err;
	}
	*ret = NULL;
	return NULL;
}

/* Adds the program. *debug is its DT_DEBUG, or 0. */
static struct rcore_error *add_program(struct rcore_modules *modules, uint64_t *debug)
{
	const char *path = program_path(modules);
	struct rcore_elf_headers headers;
	const struct rcore_elf_headers *used = &headers;
	struct rcore_elf *elf = NULL;
	uint64_t address, entry_point, bias = 0;
	bool placed = false;
	*debug = 0;
	/* All linkers put the program headers after the ELF header. */
	enum rcore_elf_outcome outcome =
		rcore_process_auxv(modules->process, AT_PHDR, &address)
			? rcore_elf_headers_from_memory(modules->memory,
							address - sizeof(Elf64_Ehdr),
							modules->process->machine, &headers)
			: RCORE_ELF_NONE;
	bool in_memory = outcome == RCORE_ELF_READ;
	if (outcome == RCORE_ELF_NO_MEMORY)
		return rcore_error_no_memory();
	if (in_memory) {
		placed = rcore_elf_headers_bias(&headers, address - sizeof(Elf64_Ehdr), 0,
						&bias);
	} else if (rcore_process_auxv(modules->process, AT_ENTRY, &entry_point)) {
		struct rcore_error *err = open_program(modules, path, &elf);
		if (err)
			return err;
		if (elf) {
			used = &elf->headers;
			bias = entry_point - elf->headers.entry;
			placed = true;
		}
	}
	struct rcore_module_entry *entry = placed ? add_entry(modules, path, bias, bias) : NULL;
	if (entry) {
		struct rcore_dynamic dynamic;
		uint64_t low, high;
		if (rcore_dynamic_init(modules->memory, bias, used, &dynamic))
			*debug = dynamic.debug;
		if (in_memory) {
			use_headers(entry, &headers);
		} else if (rcore_elf_headers_extent(used, &low, &high)) {
			entry->module.start = bias + low;
			entry->module.end = bias + high;
		}
	} else if (in_memory) {
		rcore_elf_headers_deinit(&headers);
	}
	rcore_elf_close(elf);
	return placed && !entry ? rcore_error_no_memory() : NULL;
}

static bool add_library(struct rcore_modules *modules, const struct link_map *map)
{
	const char *path = read_path(modules, map->name);
	/* The vdso has no file; its name has no folder. */
	if (!path || !strchr(path, '/'))
		return true;
	struct rcore_module_entry *entry = add_entry(modules, path, map->bias, map->bias);
	if (!entry)
		return false;
	entry->dynamic = map->dynamic;
	struct rcore_elf_headers headers;
	enum rcore_elf_outcome outcome = rcore_elf_headers_from_memory(
		modules->memory, map->bias, modules->process->machine, &headers);
	if (outcome == RCORE_ELF_READ)
		use_headers(entry, &headers);
	return outcome != RCORE_ELF_NO_MEMORY;
}

struct rcore_error *rcore_modules_from_link_map(struct rcore_modules *modules)
{
	uint64_t debug, address, previous = 0;
	struct rcore_error *err = add_program(modules, &debug);
	if (err || !debug || rcore_read_u64(modules->memory, debug + R_DEBUG_MAP, &address))
		return err;
	for (int i = 0; address && i < MAX_LINK_MAPS; i++) {
		struct link_map map;
		/*
		 * If the list had a cycle, this entry's predecessor would be
		 * another one.
		 */
		if (rcore_read(modules->memory, address, &map, sizeof(map)) ||
		    map.previous != previous)
			break;
		if (previous && !add_library(modules, &map))
			return rcore_error_no_memory();
		previous = address;
		address = map.next;
	}
	return NULL;
}
