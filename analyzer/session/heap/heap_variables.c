/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_variables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "base/text.h"
#include "image/symbolize/variables.h"
#include "target/memory.h"

struct addresses {
	uint64_t *items;
	size_t count, capacity;
};

/* Receives the text for one address, in the order of the addresses. */
typedef struct rcore_error *use_text(void *context, size_t index, const char *text);

static struct rcore_error *describe(const struct rcore_module *module, uint64_t address,
				    const struct rcore_c_variable *variable, use_text *use,
				    void *context, size_t index)
{
	const char *file = rcore_base_name(module->path);
	char *text = NULL;
	int length = !*variable->name
			     ? asprintf(&text, "%s+0x%" PRIx64, file, address - module->bias)
		     : variable->offset ? asprintf(&text, "%s+%" PRIu64 " of %s",
						   variable->name, variable->offset, file)
					: asprintf(&text, "%s of %s", variable->name, file);
	if (length < 0)
		return rcore_error_no_memory();
	struct rcore_error *err = use(context, index, text);
	free(text);
	return err;
}

/* Describes the variables at sorted addresses; skips those in no module. */
static struct rcore_error *describe_all(struct rcore_modules *modules,
					const uint64_t *addresses, size_t count, use_text *use,
					void *context)
{
	struct rcore_c_variable *variables = rcore_calloc(count, sizeof(*variables));
	struct rcore_error *err = variables ? NULL : rcore_error_no_memory();
	size_t next = 0;
	for (size_t i = 0; i < count && !err; i = next) {
		struct rcore_module *module = rcore_modules_find(modules, addresses[i]);
		for (next = i + 1; next < count && module &&
				   rcore_modules_find(modules, addresses[next]) == module;)
			next++;
		if (!module)
			continue;
		rcore_name_variables(modules, module, addresses + i, next - i, variables + i);
		for (size_t k = i; k < next && !err; k++)
			err = describe(module, addresses[k], &variables[k], use, context, k);
	}
	free(variables);
	return err;
}

static bool add(struct addresses *addresses, uint64_t address)
{
	uint64_t *item = rcore_push(addresses);
	if (item)
		*item = address;
	return item != NULL;
}

static bool is_registered(const struct rcore_heap_root *root)
{
	return root->kind == RCORE_ROOT_REGISTERED && root->address;
}

/* Sorted; an address may be registered twice. */
static bool list_registered(const struct rcore_heap *heap, struct addresses *ret)
{
	bool ok = true;
	for (size_t i = 0; i < heap->root_count && ok; i++)
		if (is_registered(&heap->roots[i]))
			ok = add(ret, heap->roots[i].address);
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), rcore_ascending);
	return ok;
}

struct naming {
	struct rcore_heap *heap;
	uint32_t *names; /* by the address's index; 0: none */
};

static struct rcore_error *add_name(void *context, size_t index, const char *text)
{
	struct naming *naming = context;
	struct rcore_heap *heap = naming->heap;
	char *copy = strdup(text);
	if (!copy)
		return rcore_error_no_memory();
	naming->names[index] = heap->name_count;
	heap->names[heap->name_count++] = copy;
	return NULL;
}

static void set_names(struct naming *naming, const struct addresses *addresses)
{
	for (size_t i = 0; i < naming->heap->root_count; i++) {
		struct rcore_heap_root *root = &naming->heap->roots[i];
		if (!is_registered(root))
			continue;
		const uint64_t *found =
			bsearch(&root->address, addresses->items, addresses->count,
				sizeof(*found), rcore_ascending);
		root->name = found ? naming->names[found - addresses->items] : 0;
	}
}

struct rcore_error *rcore_heap_name_registered(struct rcore_modules *modules,
					       struct rcore_heap *heap)
{
	struct addresses addresses = {0};
	struct naming naming = {.heap = heap};
	struct rcore_error *err = NULL;
	if (!list_registered(heap, &addresses))
		err = rcore_error_no_memory();
	else if (addresses.count && addresses.count < RCORE_HEAP_NONE - heap->name_count) {
		void *names = reallocarray(heap->names, heap->name_count + addresses.count,
					   sizeof(*heap->names));
		naming.names = rcore_calloc(addresses.count, sizeof(*naming.names));
		heap->names = names ? names : heap->names;
		err = names && naming.names ? describe_all(modules, addresses.items,
							   addresses.count, add_name, &naming)
					    : rcore_error_no_memory();
		if (!err)
			set_names(&naming, &addresses);
	}
	free(naming.names);
	free(addresses.items);
	return err;
}

/* Adds where the writable data of a module contains `value`. */
static bool search_data(struct rcore_memory *memory, uint64_t start, uint64_t end,
			uint64_t value, const struct addresses *registered,
			struct addresses *ret)
{
	enum { PAGE = 4096 };
	uint64_t words[PAGE / sizeof(uint64_t)];
	start = (start + 7) & ~UINT64_C(7);
	for (uint64_t size; start < end; start += size) {
		size = PAGE - start % PAGE;
		if (size > end - start)
			size = end - start;
		/* A page that is not in the core is skipped. */
		if (rcore_read(memory, start, words, size))
			continue;
		for (size_t i = 0; i < size / sizeof(*words); i++) {
			const uint64_t at = start + i * sizeof(*words);
			if (words[i] != value ||
			    (registered->count &&
			     bsearch(&at, registered->items, registered->count, sizeof(at),
				     rcore_ascending)))
				continue;
			if (!add(ret, at))
				return false;
		}
	}
	return true;
}

struct listing {
	struct rcore_heap_namer *namer;
	const char **texts;
	size_t count, limit;
};

static struct rcore_error *add_text(void *context, size_t index, const char *text)
{
	struct listing *listing = context;
	const char *copy = rcore_arena_strdup(listing->namer->arena, text);
	(void)index;
	if (listing->count >= listing->limit)
		return NULL;
	struct rcore_error *err = rcore_heap_redact(listing->namer, RCORE_PART_NAME, &copy);
	if (!err)
		listing->texts[listing->count++] = copy;
	return err;
}

struct rcore_error *rcore_heap_find_variables(struct rcore_heap_namer *namer, uint32_t node,
					      size_t limit, const char ***ret, size_t *count)
{
	const uint64_t value = rcore_heap_address(namer->heap, node);
	struct addresses registered = {0}, found = {0};
	uint64_t start, end;
	bool ok = list_registered(namer->heap, &registered);
	for (size_t i = 0; i < rcore_modules_count(namer->modules) && ok; i++) {
		const struct rcore_module *module = rcore_modules_get(namer->modules, i);
		for (size_t k = 0;
		     ok && rcore_module_writable(namer->modules, module, k, &start, &end); k++)
			ok = search_data(namer->ruby->memory, start, end, value, &registered,
					 &found);
	}
	struct rcore_error *err = ok ? NULL : rcore_error_no_memory();
	if (!err && found.count) {
		qsort(found.items, found.count, sizeof(*found.items), rcore_ascending);
		struct listing listing = {namer, NULL, 0, limit ? limit : found.count};
		listing.texts =
			rcore_arena_array(namer->arena, found.count, sizeof(*listing.texts));
		err = listing.texts ? describe_all(namer->modules, found.items, found.count,
						   add_text, &listing)
				    : rcore_error_no_memory();
		*ret = listing.texts;
		*count = listing.count;
	}
	free(registered.items);
	free(found.items);
	return err;
}
