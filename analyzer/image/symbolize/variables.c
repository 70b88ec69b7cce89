/* SPDX-License-Identifier: MIT */
#include "image/symbolize/variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/elf/module_debug.h"
#include "image/elf/module_helper.h"
#include "image/symbolize/demangle.h"

enum { BATCH = 256 }; /* addresses in one request */

struct request {
	size_t index;
	size_t count;
	uint64_t addresses[BATCH]; /* in the file, ascending */
};

struct reply {
	struct rcore_c_variable variables[BATCH];
};

_Static_assert(sizeof(struct reply) <= RCORE_HELPER_ROOM, "a reply fits");

/* The best symbol for an address so far. */
struct match {
	const char *name;
	uint64_t start, size;
	int binding;
};

/* Prefers the smallest one; of equal ones, an exported name. */
static bool is_better(const struct match *match, const GElf_Sym *symbol)
{
	if (!match->name || symbol->st_size != match->size)
		return !match->name || symbol->st_size < match->size;
	return match->binding == STB_LOCAL && GELF_ST_BIND(symbol->st_info) != STB_LOCAL;
}

/* Returns how many addresses are below `address`. */
static size_t count_below(const struct request *request, uint64_t address)
{
	size_t low = RCORE_PARTITION_POINT(request->count, middle,
					   request->addresses[middle] < address);
	return low;
}

static void match_symbols(Dwfl_Module *module, const struct request *request,
			  struct match *matches)
{
	int count = dwfl_module_getsymtab(module);
	for (int i = 1; i < count; i++) {
		GElf_Sym symbol;
		GElf_Word section;
		const char *name = dwfl_module_getsym(module, i, &symbol, &section);
		if (!name || !*name || !symbol.st_size || section == SHN_UNDEF ||
		    section == SHN_ABS || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT)
			continue;
		for (size_t at = count_below(request, symbol.st_value);
		     at < request->count &&
		     request->addresses[at] - symbol.st_value < symbol.st_size;
		     at++)
			if (is_better(&matches[at], &symbol))
				matches[at] =
					(struct match){name, symbol.st_value, symbol.st_size,
						       GELF_ST_BIND(symbol.st_info)};
	}
}

/*
 * Copies a name without what compilers and linkers append: "@VERSION", and the
 * number of a function's static variable, "cache.0".
 */
static void copy_name(const char *symbol, char *ret)
{
	char *demangled = rcore_demangle(symbol);
	const char *name = demangled ? demangled : symbol;
	size_t length = demangled ? strlen(name) : strcspn(name, "@");
	size_t digits = length;
	while (digits && name[digits - 1] >= '0' && name[digits - 1] <= '9')
		digits--;
	if (digits > 1 && digits < length && name[digits - 1] == '.')
		length = digits - 1;
	if (length >= RCORE_VARIABLE_NAME)
		length = RCORE_VARIABLE_NAME - 1;
	memcpy(ret, name, length);
	ret[length] = '\0';
	free(demangled);
}

/* In the helper. */
static size_t serve(void *context, const void *bytes, size_t size, void *reply, size_t room)
{
	struct rcore_modules *modules = context;
	struct rcore_c_variable *ret = reply;
	struct request request;
	struct match matches[BATCH] = {0};
	memcpy(&request, bytes, sizeof(request));
	struct rcore_module_entry *entry = rcore_module_of_index(modules, request.index);
	struct rcore_module_debug *debug = entry ? rcore_module_debug(modules, entry) : NULL;
	if (debug && debug->module)
		match_symbols(debug->module, &request, matches);
	memset(ret, 0, request.count * sizeof(*ret));
	for (size_t i = 0; i < request.count; i++) {
		if (!matches[i].name)
			continue;
		copy_name(matches[i].name, ret[i].name);
		ret[i].offset = request.addresses[i] - matches[i].start;
	}
	return request.count * sizeof(*ret);
}

static void name_batch(struct rcore_modules *modules, struct rcore_module *module,
		       const uint64_t *addresses, size_t count, struct rcore_c_variable *ret)
{
	struct rcore_module_entry *entry = (struct rcore_module_entry *)module;
	struct request request = {.index = rcore_module_index(modules, entry), .count = count};
	char *reply = rcore_module_helper_room(modules);
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		request.addresses[i] = addresses[i] - module->bias;
	if (!reply ||
	    !rcore_module_helper_call(modules, entry, serve, &request, sizeof(request), reply,
				      &size) ||
	    size != count * sizeof(*ret))
		return;
	memcpy(ret, reply, size);
	/* The reply is hostile. */
	for (size_t i = 0; i < count; i++)
		ret[i].name[RCORE_VARIABLE_NAME - 1] = '\0';
}

void rcore_name_variables(struct rcore_modules *modules, struct rcore_module *module,
			  const uint64_t *addresses, size_t count, struct rcore_c_variable *ret)
{
	memset(ret, 0, count * sizeof(*ret));
	for (size_t i = 0; i < count; i += BATCH)
		name_batch(modules, module, addresses + i,
			   count - i < BATCH ? count - i : BATCH, ret + i);
}
