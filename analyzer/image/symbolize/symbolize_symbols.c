/* SPDX-License-Identifier: MIT */
#include "image/symbolize/symbolize_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"

/* How many symbols that start closer to an address may end before it. */
enum { MAX_BEFORE = 256 };

struct rcore_symbols {
	struct rcore_function_symbol *items;
	size_t count, capacity;
};

/* Ranks the names of one function; a higher rank is a more public name. */
static int rank_of(const GElf_Sym *symbol, const char *name)
{
	int binding = GELF_ST_BIND(symbol->st_info);
	int rank = binding == STB_GLOBAL ? 2 : binding == STB_WEAK ? 1 : 0;
	return rank + (name[0] == '_' ? 0 : 4);
}

static bool is_function(const GElf_Sym *symbol, GElf_Word section, const char *name)
{
	int type = GELF_ST_TYPE(symbol->st_info);
	if (!name || !*name || section == SHN_UNDEF || section == SHN_ABS)
		return false;
	/* On aarch64, "$x" and similar names mark code and data. */
	return type == STT_FUNC || type == STT_GNU_IFUNC ||
	       (type == STT_NOTYPE && name[0] != '$' && name[0] != '.');
}

static int compare(const void *left, const void *right)
{
	const struct rcore_function_symbol *a = left, *b = right;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (!a->size != !b->size)
		return a->size ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

struct rcore_symbols *rcore_symbols_new(Dwfl_Module *module)
{
	struct rcore_symbols *symbols = calloc(1, sizeof(*symbols));
	if (!symbols)
		return NULL;
	int count = dwfl_module_getsymtab(module);
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Addr address;
		GElf_Word section;
		const char *name = dwfl_module_getsym_info(module, i, &symbol, &address,
							   &section, NULL, NULL);
		if (!is_function(&symbol, section, name))
			continue;
		struct rcore_function_symbol *item = rcore_push(symbols);
		if (!item)
			break;
		item->start = address;
		item->size = symbol.st_size;
		item->name = name;
		item->rank = rank_of(&symbol, name);
		item->index = i;
	}
	if (symbols->count)
		qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare);
	return symbols;
}

void rcore_symbols_free(struct rcore_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->items);
	free(symbols);
}

/* Returns the number of symbols that start at the address or before it. */
static size_t count_before(const struct rcore_symbols *symbols, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(symbols->count, middle,
					   symbols->items[middle].start <= address);
	return low;
}

const struct rcore_function_symbol *rcore_symbols_find(const struct rcore_symbols *symbols,
						       uint64_t address, uint64_t fde_start)
{
	const struct rcore_function_symbol *found = NULL, *label = NULL;
	size_t end = count_before(symbols, address);
	bool past_function = false;
	for (size_t i = end; i-- > 0 && end - i <= MAX_BEFORE;) {
		const struct rcore_function_symbol *item = &symbols->items[i];
		if (found && item->start != found->start)
			break;
		if (item->size && address - item->start < item->size)
			found = item;
		else if (item->size)
			past_function = true;
		else if (!found && item->start >= fde_start && !past_function &&
			 (!label || label->start == item->start))
			label = item;
	}
	return found ? found : label;
}

const struct rcore_function_symbol *rcore_symbols_named(const struct rcore_symbols *symbols,
							const char *name, size_t size)
{
	const struct rcore_function_symbol *found = NULL;
	for (size_t i = 0; i < symbols->count; i++) {
		const struct rcore_function_symbol *item = &symbols->items[i];
		if (strncmp(item->name, name, size) || item->name[size])
			continue;
		if (found && found->start != item->start)
			return NULL;
		found = item;
	}
	return found;
}
