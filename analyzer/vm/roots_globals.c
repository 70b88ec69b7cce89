/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/object/id_table.h"
#include "ruby/search.h"
#include "vm/roots_private.h"

/*
 * Global variables are in rb_global_tbl of variable.c, a rb_id_table of entries
 * {variable, ID ...}. The second word of a struct rb_global_variable is `data`:
 * the value itself, or the address of a C variable that contains the value
 * ($stdout).
 */
enum { VARIABLE_DATA = 8 };

/* A table is recognized if at least this many names begin with '$'. */
enum { SAMPLES = 8 };

static bool is_global(struct rcore_ruby *ruby, uint64_t serial)
{
	const char *name = "";
	struct rcore_error *err = rcore_serial_name(ruby, serial, &name);
	bool is_one = !err && name[0] == '$';
	rcore_error_free(err);
	return is_one;
}

static bool is_table(void *context, uint64_t address, const void *copy, size_t size)
{
	struct rcore_roots *roots = context;
	struct rcore_id_iterator iterator;
	uint64_t table, serial, entry;
	unsigned samples = 0;
	bool found = true;
	memcpy(&table, copy, sizeof(table));
	/*
	 * malloc() allocates the table, so it is aligned and not in the Ruby
	 * heap.
	 */
	if (!table || table % 8 ||
	    rcore_heap_node_at(roots->heap, table, true) != RCORE_HEAP_NONE)
		return false;
	struct rcore_error *err = rcore_id_table_begin(&iterator, roots->ruby, table);
	while (!err && samples < SAMPLES && found) {
		err = rcore_id_table_next(&iterator, &found, &serial, &entry);
		if (err || !found || !is_global(roots->ruby, serial))
			break;
		samples++;
	}
	rcore_error_free(err);
	return samples == SAMPLES;
}

/* Adds what `data` is: a value, or the address of one. */
static struct rcore_error *add_global(struct rcore_roots *roots, uint64_t serial,
				      uint64_t entry)
{
	struct rcore_memory *memory = roots->ruby->memory;
	struct rcore_heap_root root = {.kind = RCORE_ROOT_GLOBAL};
	uint64_t variable, value;
	const char *name = "";
	if (rcore_read_u64(memory, entry, &variable) ||
	    rcore_read_u64(memory, variable + VARIABLE_DATA, &value)) {
		rcore_roots_problem(roots, "a global variable cannot be read");
		return NULL;
	}
	root.address = variable + VARIABLE_DATA;
	if (rcore_heap_node_at(roots->heap, value, false) == RCORE_HEAP_NONE) {
		root.address = value;
		if (!value || value % 8 || rcore_read_u64(memory, root.address, &value))
			return NULL;
	}
	rcore_error_free(rcore_serial_name(roots->ruby, serial, &name));
	if (!rcore_roots_name(roots, name, &root.name) || !rcore_roots_add(roots, value, &root))
		return rcore_error_no_memory();
	return NULL;
}

struct rcore_error *rcore_roots_globals(struct rcore_roots *roots)
{
	struct rcore_id_iterator iterator;
	uint64_t variable, table, serial, entry;
	bool found = true;
	if (!rcore_search_statics(roots->ruby, sizeof(table), is_table, roots, &variable) ||
	    rcore_read_u64(roots->ruby->memory, variable, &table)) {
		rcore_roots_problem(roots, "the table of global variables was not found");
		return NULL;
	}
	struct rcore_error *err = rcore_id_table_begin(&iterator, roots->ruby, table);
	while (!err) {
		err = rcore_id_table_next(&iterator, &found, &serial, &entry);
		if (err || !found)
			break;
		struct rcore_error *failure = add_global(roots, serial, entry);
		if (failure)
			return failure;
	}
	if (err)
		rcore_roots_problem(roots, "some global variables cannot be read");
	rcore_error_free(err);
	return NULL;
}
