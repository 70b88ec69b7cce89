/* SPDX-License-Identifier: MIT */
#include "sampler/native/kernel_symbols.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/grow.h"
#include "base/order.h"

enum {
	SYMBOLS_MAX = 4 << 20, /* twenty times as many as usual */
	/* No function is this long. */
	FUNCTION_MAX = 1 << 20,
	/*
	 * The same for a module. What follows its last function may be a module
	 * that was loaded later, or code that has no symbol.
	 */
	MODULE_FUNCTION_MAX = 64 << 10,
};

struct symbol {
	uint64_t address;
	struct rcore_kernel_symbol text;
};

struct rcore_kernel_symbols {
	struct {
		struct symbol *items; /* by address */
		size_t count, capacity;
	} list;
	struct rcore_arena arena;
	const char *last_module; /* modules follow one another */
};

void rcore_kernel_symbols_free(struct rcore_kernel_symbols *symbols)
{
	if (!symbols)
		return;
	rcore_arena_deinit(&symbols->arena);
	free(symbols->list.items);
	free(symbols);
}

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	return (a->address > b->address) - (a->address < b->address);
}

static const char *module_of(struct rcore_kernel_symbols *symbols, const char *text)
{
	if (!symbols->last_module || strcmp(symbols->last_module, text) != 0)
		symbols->last_module = rcore_arena_strdup(&symbols->arena, text);
	return symbols->last_module;
}

/* "ffffffff81000000 T _stext", and for a module "\t[name]" after it. */
static struct rcore_error *add_line(struct rcore_kernel_symbols *symbols, char *line)
{
	char *at, *name, *end;
	uint64_t address = strtoull(line, &at, 16);
	bool is_function = at != line && *at == ' ' && strchr("tTwW", at[1]) && at[1] &&
			   at[2] == ' ' && at[3] && !isspace((unsigned char)at[3]);
	if (!is_function || !address)
		return NULL;
	name = at + 3;
	end = name + strcspn(name, " \t\n");
	char *module = end + strspn(end, " \t");
	module[strcspn(module, " \t\n")] = '\0';
	bool has_module = *module == '[';
	*end = '\0';
	if (symbols->list.count == SYMBOLS_MAX)
		return rcore_error_create(RCORE_ERROR_LIMIT, "the kernel has over %d symbols",
					  SYMBOLS_MAX);
	struct symbol *symbol = rcore_push(&symbols->list);
	if (!symbol)
		return rcore_error_no_memory();
	*symbol = (struct symbol){.address = address};
	symbol->text.name = rcore_arena_strdup(&symbols->arena, name);
	symbol->text.module = has_module ? module_of(symbols, module) : NULL;
	return symbol->text.name && (symbol->text.module || !has_module)
		       ? NULL
		       : rcore_error_no_memory();
}

static struct rcore_error *read_lines(struct rcore_kernel_symbols *symbols, FILE *file)
{
	struct rcore_error *err = NULL;
	char *line = NULL;
	size_t size = 0;
	while (!err && getline(&line, &size, file) >= 0)
		err = add_line(symbols, line);
	free(line);
	return err;
}

struct rcore_error *rcore_kernel_symbols_read(const char *path,
					      struct rcore_kernel_symbols **ret)
{
	FILE *file = fopen(path, "re");
	if (!file)
		return rcore_error_os(errno, "cannot read %s", path);
	struct rcore_kernel_symbols *symbols = calloc(1, sizeof(*symbols));
	struct rcore_error *err = symbols ? read_lines(symbols, file) : rcore_error_no_memory();
	if (!err && ferror(file))
		err = rcore_error_os(errno, "cannot read %s", path);
	fclose(file);
	if (err) {
		rcore_kernel_symbols_free(symbols);
		return err;
	}
	if (symbols->list.count)
		qsort(symbols->list.items, symbols->list.count, sizeof(*symbols->list.items),
		      by_address);
	*ret = symbols;
	return NULL;
}

bool rcore_kernel_symbols_are_hidden(const struct rcore_kernel_symbols *symbols)
{
	/* All addresses read as 0 then. */
	return !symbols->list.count;
}

bool rcore_kernel_symbol_at(const struct rcore_kernel_symbols *symbols, uint64_t address,
			    struct rcore_kernel_symbol *ret)
{
	size_t low = RCORE_PARTITION_POINT(symbols->list.count, middle,
					   symbols->list.items[middle].address <= address);
	if (!low)
		return false;
	const struct symbol *last = &symbols->list.items[low - 1];
	if (address - last->address >=
	    (uint64_t)(last->text.module ? MODULE_FUNCTION_MAX : FUNCTION_MAX))
		return false;
	/* Of several names for one address, the first that the kernel lists. */
	while (low > 1 &&
	       symbols->list.items[low - 2].address == symbols->list.items[low - 1].address)
		low--;
	*ret = symbols->list.items[low - 1].text;
	return true;
}
