/* SPDX-License-Identifier: MIT */
#include "session/heap/malloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"

/*
 * A library that is preloaded or linked before the C library, or the program
 * itself, may define malloc(); then glibc's allocator is not used although it
 * is there. These are the files of allocators that are often used.
 */
static const struct {
	const char *file, *name;
} allocators[] = {
	{"libjemalloc", "jemalloc"},
	{"libtcmalloc", "tcmalloc"},
	{"libmimalloc", "mimalloc"},
	{"libscudo", "Scudo"},
	{"libasan.so", "AddressSanitizer"},
	{"libclang_rt.asan", "AddressSanitizer"},
	{"libhardened_malloc", "hardened_malloc"},
	{"libsnmalloc", "snmalloc"},
	{"librpmalloc", "rpmalloc"},
	{"libhoard.so", "Hoard"},
	{"libtbbmalloc", "oneTBB's scalable_malloc"},
	{"ld-musl-", "musl"},
};

/*
 * The names that glibc's library has had, and its dynamic linker, which exports
 * a malloc() of its own up to 2.30.
 */
static const char *const libraries[] = {"libc.so.6", "libc-2."};
static const char *const linkers[] = {"ld-linux", "ld-2."};

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_one(const struct rcore_module *module, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (begins(rcore_base_name(module->path), names[i]))
			return true;
	return false;
}

static bool is_library(const struct rcore_module *module)
{
	return is_one(module, libraries, RCORE_COUNT(libraries));
}

/* Returns the name of the allocator that a library is, or NULL. */
static const char *name_of(const struct rcore_module *module)
{
	for (size_t i = 0; i < RCORE_COUNT(allocators); i++)
		if (begins(rcore_base_name(module->path), allocators[i].file))
			return allocators[i].name;
	return NULL;
}

/* Whether a word of the module's data, such as its GOT, is `address`. */
static bool refers(const struct rcore_target *target, const struct rcore_module *module,
		   uint64_t address)
{
	enum { BLOCK = 4096 };
	uint64_t start, end, words[BLOCK / 8];
	for (size_t i = 0; rcore_module_writable(target->modules, module, i, &start, &end); i++)
		for (uint64_t at = (start + 7) & ~UINT64_C(7), size; at + 8 <= end;
		     at += size) {
			size = BLOCK - at % BLOCK;
			if (size > end - at)
				size = (end - at) & ~UINT64_C(7);
			if (rcore_read(target->memory, at, words, size))
				continue;
			for (size_t k = 0; k < size / 8; k++)
				if (words[k] == address)
					return true;
		}
	return false;
}

/*
 * Whether the program calls the malloc() of a module. An extension that has
 * been opened may have one that only it calls.
 */
static bool is_called(const struct rcore_target *target, const struct rcore_module *module,
		      uint64_t function)
{
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const struct rcore_module *other = rcore_modules_get(target->modules, i);
		if (other != module &&
		    (other->is_executable || begins(rcore_base_name(other->path), "libruby")) &&
		    refers(target, other, function))
			return true;
	}
	return module->is_executable;
}

/* Returns the module with the malloc() that the program calls, or NULL. */
static const struct rcore_module *find_module(const struct rcore_target *target)
{
	const struct rcore_module *library = NULL;
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		struct rcore_module *module = rcore_modules_get(target->modules, i);
		struct rcore_symbol function;
		if (is_library(module))
			library = module;
		else if (name_of(module) &&
			 !rcore_module_exported(target->modules, module, "malloc", &function))
			/*
			 * Its file may be missing here; musl's has another
			 * name.
			 */
			return module;
		else if (!is_one(module, linkers, RCORE_COUNT(linkers)) &&
			 rcore_module_exported(target->modules, module, "malloc", &function) &&
			 is_called(target, module, function.address))
			return module;
	}
	return library;
}

static void set_unknown(struct rcore_malloc *ret, const char *allocator, const char *problem)
{
	memset(ret, 0, sizeof(*ret));
	ret->allocator = allocator;
	snprintf(ret->problem, sizeof(ret->problem), "%s", problem);
}

struct ranges {
	struct rcore_malloc_range *items;
	size_t count, capacity;
};

static struct rcore_error *find_data(const struct rcore_target *target,
				     const struct rcore_module *module, struct ranges *ret)
{
	uint64_t start, end;
	for (size_t i = 0; rcore_module_writable(target->modules, module, i, &start, &end);
	     i++) {
		struct rcore_malloc_range *range = rcore_push(ret);
		if (!range)
			return rcore_error_no_memory();
		*range = (struct rcore_malloc_range){start, end};
	}
	return NULL;
}

struct rcore_error *rcore_session_parts(const struct rcore_target *target,
					struct rcore_malloc_parts *ret)
{
	uint64_t at = 0, start, end;
	bool is_zero;
	*ret = (struct rcore_malloc_parts){.is_known = target->core};
	while (target->core && rcore_core_saved(target->core, at, &start, &end, &is_zero)) {
		struct rcore_malloc_part *part = rcore_push(ret);
		if (!part)
			return rcore_error_no_memory();
		*part = (struct rcore_malloc_part){start, end, is_zero};
		at = end;
	}
	return NULL;
}

struct rcore_error *rcore_session_malloc(const struct rcore_target *target,
					 struct rcore_malloc *ret)
{
	struct ranges data = {0};
	const struct rcore_module *module = find_module(target);
	if (!module) {
		set_unknown(ret, NULL,
			    "no C library was found among the mapped files: the allocator "
			    "is unknown");
		return NULL;
	}
	struct rcore_malloc_parts parts = {0};
	struct rcore_error *err = find_data(target, module, &data);
	if (!err)
		err = rcore_session_parts(target, &parts);
	const struct rcore_malloc_source source = {
		.memory = target->memory,
		.parts = parts,
		.data = data.items,
		.data_count = data.count,
		.segments = target->process->segments,
		.segment_count = target->process->segment_count,
		.mappings = target->process->mappings,
		.mapping_count = target->process->mapping_count,
	};
	if (!err)
		err = is_library(module) ? rcore_malloc_init(&source, ret)
					 : rcore_jemalloc_init(&source, ret);
	free(data.items);
	free(parts.items);
	/* jemalloc has many names: it is often linked into another file. */
	if (!err && !is_library(module) && !ret->is_known) {
		const char *name = name_of(module);
		if (!name || strcmp(name, ret->allocator) != 0)
			set_unknown(ret, name ? name : rcore_base_name(module->path),
				    "rcore reads only glibc's allocator and jemalloc: it does "
				    "not know which C memory is in use");
	}
	return err;
}

struct rcore_error *rcore_session_chunk_sizes(const struct rcore_target *target,
					      struct rcore_chunk_sizes *ret)
{
	const struct rcore_module *module = find_module(target);
	*ret = (struct rcore_chunk_sizes){.from = RCORE_CHUNK_SIZES_GUESS};
	if (module && is_library(module)) {
		ret->from = RCORE_CHUNK_SIZES_HEADER;
		return NULL;
	}
	struct rcore_error *err = rcore_session_malloc(target, &ret->heap);
	if (!err && ret->heap.is_known)
		ret->from = RCORE_CHUNK_SIZES_LIST;
	return err;
}
