/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/grow.h"
#include "image/elf/module_private.h"

static bool same_path(const struct rcore_mapping *a, const struct rcore_mapping *b)
{
	return a->path == b->path || !strcmp(a->path, b->path);
}

/*
 * Whether the dynamic linker loaded the file. CRuby maps ELF files to read them
 * for its own crash report; these are not modules. The dynamic linker puts each
 * segment where its header says, and a mapping of code never contains anything
 * else.
 */
static bool is_loaded(const struct rcore_process *process, const struct rcore_mapping *first,
		      const struct rcore_elf_headers *headers, uint64_t bias)
{
	const struct rcore_mapping *code = NULL, *data = NULL;
	for (size_t i = 0; i < headers->count; i++) {
		const GElf_Phdr *item = &headers->items[i];
		if (item->p_type != PT_LOAD || !item->p_filesz)
			continue;
		uint64_t address = bias + item->p_vaddr;
		const struct rcore_mapping *mapping = rcore_process_mapping(process, address);
		if (!mapping || !same_path(mapping, first))
			continue;
		if (address - mapping->start + mapping->file_offset != item->p_offset)
			return false;
		if (item->p_flags & PF_X)
			code = mapping;
		else
			data = mapping;
	}
	return !code || code != data;
}

static bool add_rows(struct rcore_modules *modules, size_t first, uint64_t end)
{
	const struct rcore_process *process = modules->process;
	for (size_t i = first; i < process->mapping_count && process->mappings[i].start < end;
	     i++) {
		const struct rcore_mapping *mapping = &process->mappings[i];
		if (!same_path(mapping, &process->mappings[first]))
			continue;
		struct rcore_module_row *row = rcore_push(&modules->rows);
		if (!row)
			return false;
		row->start = mapping->start;
		row->end = mapping->end;
		row->file_offset = mapping->file_offset;
		row->module = modules->list.count - 1;
	}
	return true;
}

/*
 * If the header cannot be read, the module is the run of mappings of one path
 * with increasing offsets.
 */
static uint64_t end_of_run(const struct rcore_process *process, size_t first, size_t *count)
{
	uint64_t end = process->mappings[first].end;
	*count = 1;
	for (size_t i = first + 1; i < process->mapping_count; i++) {
		const struct rcore_mapping *mapping = &process->mappings[i];
		if (!same_path(mapping, &process->mappings[first]) || !mapping->file_offset)
			break;
		end = mapping->end;
		++*count;
	}
	return end;
}

/* Adds the module that begins with this mapping, if there is one. */
static struct rcore_error *add(struct rcore_modules *modules, size_t first)
{
	const struct rcore_process *process = modules->process;
	const struct rcore_mapping *mapping = &process->mappings[first];
	struct rcore_elf_headers headers = {0};
	uint64_t bias = 0, low, high, end;
	switch (rcore_elf_headers_from_memory(modules->memory, mapping->start, process->machine,
					      &headers)) {
	case RCORE_ELF_NONE:
		return NULL;
	case RCORE_ELF_NO_MEMORY:
		return rcore_error_no_memory();
	case RCORE_ELF_READ:
		if (!rcore_elf_headers_bias(&headers, mapping->start, 0, &bias) ||
		    !rcore_elf_headers_extent(&headers, &low, &high) ||
		    !is_loaded(process, mapping, &headers, bias)) {
			rcore_elf_headers_deinit(&headers);
			return NULL;
		}
		end = bias + high;
		break;
	default: {
		/* A file of data has one mapping; a library has several. */
		size_t count;
		end = end_of_run(process, first, &count);
		if (count < 2)
			return NULL;
	}
	}
	struct rcore_module_entry *entry = rcore_push(&modules->list);
	if (!entry) {
		rcore_elf_headers_deinit(&headers);
		return rcore_error_no_memory();
	}
	entry->headers = headers;
	entry->module.path = mapping->path;
	entry->live_file = mapping->file;
	entry->module.start = mapping->start;
	entry->module.end = end;
	entry->module.bias = bias;
	entry->bias_known = headers.count > 0;
	entry->module.build_id_size = headers.build_id_size;
	memcpy(entry->module.build_id, headers.build_id, headers.build_id_size);
	return add_rows(modules, first, end) ? NULL : rcore_error_no_memory();
}

/* The last module may map the start of its file a second time, as its data. */
static bool in_last_module(const struct rcore_modules *modules,
			   const struct rcore_mapping *mapping)
{
	if (!modules->list.count)
		return false;
	const struct rcore_module *last = &modules->list.items[modules->list.count - 1].module;
	return mapping->start < last->end && !strcmp(mapping->path, last->path);
}

struct rcore_error *rcore_modules_from_mappings(struct rcore_modules *modules)
{
	const struct rcore_process *process = modules->process;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct rcore_mapping *mapping = &process->mappings[i];
		if (mapping->file_offset || in_last_module(modules, mapping))
			continue;
		struct rcore_error *err = add(modules, i);
		if (err)
			return err;
	}
	return NULL;
}
