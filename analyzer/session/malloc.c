/* SPDX-License-Identifier: MIT */
#include "session/malloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"

/*
 * Libraries that replace malloc(). One that is preloaded or linked comes before
 * the C library, so glibc's allocator is not used although it is there.
 */
static const struct {
	const char *file, *name;
} allocators[] = {
	{"libjemalloc.so", "jemalloc"},
	{"libtcmalloc.so", "tcmalloc"},
	{"libtcmalloc_min", "tcmalloc"},
	{"libmimalloc.so", "mimalloc"},
	{"libmimalloc-secure", "mimalloc"},
	{"libscudo.so", "Scudo"},
	{"libasan.so", "AddressSanitizer"},
	{"libhardened_malloc.so", "hardened_malloc"},
	{"ld-musl-", "musl"},
};

/* The names that glibc's library has had. */
static const char *const libraries[] = {"libc.so.6", "libc-2."};

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const char *find_allocator(const struct rcore_target *target)
{
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const char *file = rcore_base_name(rcore_modules_get(target->modules, i)->path);
		for (size_t n = 0; n < RCORE_COUNT(allocators); n++)
			if (begins(file, allocators[n].file))
				return allocators[n].name;
	}
	return NULL;
}

static const struct rcore_module *find_library(const struct rcore_target *target)
{
	for (size_t i = 0; i < rcore_modules_count(target->modules); i++) {
		const struct rcore_module *module = rcore_modules_get(target->modules, i);
		for (size_t n = 0; n < RCORE_COUNT(libraries); n++)
			if (begins(rcore_base_name(module->path), libraries[n]))
				return module;
	}
	return NULL;
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

struct rcore_error *rcore_session_malloc(const struct rcore_target *target,
					 struct rcore_malloc *ret)
{
	struct ranges data = {0};
	const char *allocator = find_allocator(target);
	const struct rcore_module *library = find_library(target);
	if (allocator || !library) {
		set_unknown(ret, allocator,
			    allocator ? "rcore reads only glibc's allocator: it does not know "
					"which C memory is in use"
				      : "no C library was found among the mapped files: the "
					"allocator is unknown");
		return NULL;
	}
	struct rcore_error *err = find_data(target, library, &data);
	const struct rcore_malloc_source source = {
		.memory = target->memory,
		.data = data.items,
		.data_count = data.count,
		.segments = target->process->segments,
		.segment_count = target->process->segment_count,
		.mappings = target->process->mappings,
		.mapping_count = target->process->mapping_count,
	};
	if (!err)
		err = rcore_malloc_init(&source, ret);
	free(data.items);
	return err;
}
