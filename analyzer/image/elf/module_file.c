/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "image/elf/build_id.h"
#include "image/elf/locate.h"
#include "image/elf/module_private.h"

static bool same_build_id(const struct rcore_module *module,
			  const struct rcore_elf_headers *file)
{
	return module->build_id_size == file->build_id_size &&
	       !memcmp(module->build_id, file->build_id, file->build_id_size);
}

static bool bias_of(const struct rcore_module_entry *entry, const struct rcore_elf *elf,
		    uint64_t *ret)
{
	if (entry->bias_known) {
		*ret = entry->module.bias;
		return true;
	}
	return rcore_elf_headers_bias(&elf->headers, entry->module.start, 0, ret);
}

/* Whether the headers explain every mapped range of the module. */
static bool rows_fit(const struct rcore_modules *modules,
		     const struct rcore_module_entry *entry,
		     const struct rcore_elf_headers *headers, uint64_t bias)
{
	for (size_t i = 0; i < modules->rows.count; i++) {
		const struct rcore_module_row *row = &modules->rows.items[i];
		bool placed = &modules->list.items[row->module] != entry;
		for (size_t j = 0; j < headers->count && !placed; j++) {
			const GElf_Phdr *item = &headers->items[j];
			uint64_t here =
				bias + item->p_vaddr - item->p_offset + row->file_offset;
			placed = item->p_type == PT_LOAD && here == row->start &&
				 row->file_offset < item->p_offset + item->p_filesz;
		}
		if (!placed)
			return false;
	}
	return true;
}

/*
 * Used if there is no build-id to compare. The file must have the program
 * headers that are in memory, or, if memory has none, fit everything that is
 * known about addresses. Another build rarely passes.
 */
static bool fits(const struct rcore_modules *modules, const struct rcore_module_entry *entry,
		 const struct rcore_elf *elf)
{
	const struct rcore_elf_headers *headers = &elf->headers;
	uint64_t bias, entry_point;
	if (entry->headers.count)
		return headers->count == entry->headers.count &&
		       !memcmp(headers->items, entry->headers.items,
			       headers->count * sizeof(*headers->items));
	if (!bias_of(entry, elf, &bias))
		return false;
	if (entry->module.is_executable &&
	    rcore_process_auxv(modules->process, AT_ENTRY, &entry_point) &&
	    bias + headers->entry != entry_point)
		return false;
	const GElf_Phdr *dynamic = rcore_elf_headers_find(headers, PT_DYNAMIC);
	if (entry->dynamic && (!dynamic || bias + dynamic->p_vaddr != entry->dynamic))
		return false;
	return rows_fit(modules, entry, headers, bias);
}

static void use(struct rcore_module_entry *entry, const char *path, struct rcore_elf *elf,
		enum rcore_module_status status)
{
	struct rcore_module *module = &entry->module;
	uint64_t low, high;
	bias_of(entry, elf, &module->bias);
	if (entry->bias_known && rcore_elf_headers_extent(&elf->headers, &low, &high))
		module->start = module->bias + low;
	entry->bias_known = true;
	module->file = path;
	module->elf = elf;
	module->status = status;
	module->whole_size = rcore_elf_cut_off(elf);
	module->file_size = module->whole_size ? elf->map.size : 0;
	module->file_build_id_size = 0;
	if (!module->build_id_size) {
		module->build_id_size = elf->headers.build_id_size;
		memcpy(module->build_id, elf->headers.build_id, module->build_id_size);
	}
}

static void remember_wrong(struct rcore_module *module, const char *path,
			   const struct rcore_elf *elf)
{
	if (module->status == RCORE_MODULE_WRONG)
		return;
	module->status = RCORE_MODULE_WRONG;
	module->file = path;
	module->file_build_id_size = elf->headers.build_id_size;
	memcpy(module->file_build_id, elf->headers.build_id, elf->headers.build_id_size);
}

/* Uses `elf` if it is the module's file. */
static bool try_file(struct rcore_modules *modules, struct rcore_module_entry *entry,
		     const char *path, bool by_name, struct rcore_elf *elf)
{
	struct rcore_module *module = &entry->module;
	if (module->build_id_size ? same_build_id(module, &elf->headers)
				  : by_name && fits(modules, entry, elf)) {
		use(entry, path, elf,
		    module->build_id_size ? RCORE_MODULE_FOUND : RCORE_MODULE_UNVERIFIED);
		return true;
	}
	if (by_name || module->build_id_size)
		remember_wrong(module, path, elf);
	return false;
}

/* Sets `elf` if this is the module's file. Error: NO_MEMORY. */
static struct rcore_error *try_candidate(struct rcore_modules *modules,
					 struct rcore_module_entry *entry,
					 const struct rcore_candidate *candidate)
{
	struct rcore_elf *elf;
	struct rcore_error *err =
		rcore_elf_open(candidate->path, modules->process->machine, &elf);
	if (err && err->code == RCORE_ERROR_NO_MEMORY)
		return err;
	if (err)
		rcore_error_free(err);
	else if (!try_file(modules, entry, candidate->path, candidate->by_name, elf))
		rcore_elf_close(elf);
	return NULL;
}

struct rcore_error *rcore_module_find_file(struct rcore_modules *modules,
					   struct rcore_module_entry *entry)
{
	struct rcore_candidate candidates[RCORE_MAX_CANDIDATES];
	struct rcore_candidate live = {entry->live_file, true};
	struct rcore_module *module = &entry->module;
	struct rcore_error *err = NULL;
	module->status = RCORE_MODULE_MISSING;
	if (live.path)
		err = try_candidate(modules, entry, &live);
	if (err || module->elf)
		return err;
	size_t count = rcore_locate(&modules->arena, &modules->options, module->path,
				    module->build_id, module->build_id_size, candidates);
	for (size_t i = 0; i < count && !err && !module->elf; i++)
		err = try_candidate(modules, entry, &candidates[i]);
	return err;
}

struct rcore_error *rcore_module_use_executable(struct rcore_modules *modules,
						struct rcore_module_entry *entry)
{
	struct rcore_module *module = &entry->module;
	const char *path = modules->options.executable;
	struct rcore_elf *elf;
	struct rcore_error *err = rcore_elf_open(path, modules->process->machine, &elf);
	if (err)
		return rcore_error_wrap(err, "the executable");
	if (try_file(modules, entry, path, true, elf))
		return NULL;
	char wanted[RCORE_BUILD_ID_TEXT], found[RCORE_BUILD_ID_TEXT];
	rcore_build_id_text(module->build_id, module->build_id_size, wanted);
	rcore_build_id_text(elf->headers.build_id, elf->headers.build_id_size, found);
	rcore_elf_close(elf);
	if (!module->build_id_size)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "%s: is not the program of this core (%s): its "
					  "segments differ; name the right program, or none",
					  path, module->path);
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "%s: is not the program of this core (%s): its build-id is "
				  "%s, not %s; name the right program, or none",
				  path, module->path, found, wanted);
}
