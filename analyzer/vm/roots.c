/* SPDX-License-Identifier: MIT */
#include "vm/roots.h"

#include "base/count.h"
#include "ruby/object/constant.h"
#include "ruby/object/st_table.h"
#include "vm/roots_private.h"

/*
 * The members of the rb_vm_t that are named in paths; all others have no name.
 */
struct member {
	const struct rcore_field *field;
	const char *name;
};

static struct rcore_error *add_words(struct rcore_roots *roots, uint64_t base, uint32_t size,
				     const struct member *members, size_t member_count)
{
	for (uint64_t at = 0; at + 8 <= size; at += 8) {
		struct rcore_heap_root root = {.kind = RCORE_ROOT_VM, .address = base + at};
		uint64_t value;
		if (rcore_read_u64(roots->ruby->memory, root.address, &value)) {
			rcore_roots_problem(roots, "the struct of the VM cannot be read");
			return NULL;
		}
		for (size_t i = 0; i < member_count; i++)
			if (rcore_has_place(members[i].field) &&
			    members[i].field->offset == (int64_t)at &&
			    !rcore_roots_name(roots, members[i].name, &root.name))
				return rcore_error_no_memory();
		if (!rcore_roots_add(roots, value, &root))
			return rcore_error_no_memory();
	}
	return NULL;
}

/*
 * The collector marks all members of the rb_vm_t that point to objects, except
 * caches of methods that became invalid. So this reads the struct as words.
 */
static struct rcore_error *add_vm(struct rcore_roots *roots)
{
	const struct rcore_layout *layout = roots->ruby->layout;
	const struct member members[] = {
		{&layout->vm.top_self, "top_self"},
		{&layout->vm.progname, "$0"},
		{&layout->vm.loaded_features, "$LOADED_FEATURES"},
		{&layout->vm.mark_object_ary, "rb_gc_register_mark_object"},
	};
	const struct rcore_field *const boxes[] = {&layout->vm.root_box, &layout->vm.main_box};
	struct rcore_error *err = add_words(roots, roots->source->vm, layout->vm.size, members,
					    RCORE_COUNT(members));
	for (size_t i = 0; i < RCORE_COUNT(boxes) && !err; i++) {
		uint64_t box;
		if (rcore_has_place(boxes[i]) &&
		    !rcore_read_u64(roots->ruby->memory,
				    roots->source->vm + (uint64_t)boxes[i]->offset, &box) &&
		    box)
			err = add_words(roots, box, layout->box.size, NULL, 0);
	}
	return err;
}

/*
 * Object is registered like any class that C code defines. With a separate root
 * for it, paths through constants begin where a reader expects.
 */
static struct rcore_error *add_object_class(struct rcore_roots *roots)
{
	struct rcore_heap_root root = {.kind = RCORE_ROOT_VM};
	uint64_t object;
	struct rcore_error *err = rcore_constant(roots->ruby, "Object", &object);
	if (err) {
		rcore_error_free(err);
		return NULL;
	}
	return rcore_roots_name(roots, "Object", &root.name) &&
			       rcore_roots_add(roots, object, &root)
		       ? NULL
		       : rcore_error_no_memory();
}

/*
 * Follows a list of list heads from the one at `head`, and adds the object
 * whose address is `distance` bytes after each node.
 */
static struct rcore_error *add_list(struct rcore_roots *roots, uint64_t head, int64_t distance)
{
	struct rcore_memory *memory = roots->ruby->memory;
	struct rcore_roots_walk walk = {0};
	uint64_t node, value;
	enum rcore_fault fault = rcore_read_u64(memory, head, &node);
	while (!fault && node != head) {
		if (rcore_roots_repeats(&walk, node)) {
			rcore_roots_problem(roots, "the list of threads or Ractors never ends");
			return NULL;
		}
		const struct rcore_heap_root root = {.kind = RCORE_ROOT_THREAD,
						     .address = node + (uint64_t)distance};
		fault = rcore_read_u64(memory, root.address, &value);
		if (!fault && !rcore_roots_add(roots, value, &root))
			return rcore_error_no_memory();
		if (!fault)
			fault = rcore_read_u64(memory, node, &node);
	}
	if (fault)
		rcore_roots_problem(roots, "the list of threads or Ractors cannot be read");
	return NULL;
}

/* Adds the Ractors, which refer to their threads; up to 2.7, the threads. */
static struct rcore_error *add_threads(struct rcore_roots *roots)
{
	const struct rcore_layout *layout = roots->ruby->layout;
	const uint64_t vm = roots->source->vm;
	if (rcore_has_place(&layout->vm.ractor_set))
		return add_list(roots, vm + (uint64_t)layout->vm.ractor_set.offset,
				layout->ractor.self.offset - layout->ractor.vmlr_node.offset);
	if (rcore_has_place(&layout->vm.living_threads))
		return add_list(roots, vm + (uint64_t)layout->vm.living_threads.offset,
				layout->thread.self.offset - layout->thread.node.offset);
	return NULL;
}

/*
 * Adds rb_symbols_t.ids, which has all symbols and their names. Up to 3.4,
 * Init_sym() of symbol.c registers it; from 4.0 on,
 * rb_sym_global_symbols_mark_and_move() there marks it and sym_set, the set of
 * the same symbols. No other word before `ids` is an object.
 */
static struct rcore_error *add_symbols(struct rcore_roots *roots)
{
	const struct rcore_field *ids = &roots->ruby->layout->symbols.ids;
	if (!roots->ruby->global_symbols || !rcore_has_place(ids)) {
		rcore_roots_problem(roots, "the table of symbols was not found");
		return NULL;
	}
	for (uint64_t at = 0; at <= (uint64_t)ids->offset; at += sizeof(uint64_t)) {
		uint64_t value;
		struct rcore_heap_root root = {.kind = RCORE_ROOT_SYMBOL,
					       .address = roots->ruby->global_symbols + at};
		if (rcore_read_u64(roots->ruby->memory, root.address, &value)) {
			rcore_roots_problem(roots, "the table of symbols cannot be read");
			return NULL;
		}
		if (!rcore_roots_add(roots, value, &root))
			return rcore_error_no_memory();
	}
	return NULL;
}

/*
 * Adds the variables whose addresses were registered with
 * rb_gc_register_address().
 */
static struct rcore_error *add_registered(struct rcore_roots *roots)
{
	const struct rcore_layout *layout = roots->ruby->layout;
	struct rcore_memory *memory = roots->ruby->memory;
	bool is_in_vm = rcore_has_place(&layout->vm.global_object_list);
	const struct rcore_field *first =
		is_in_vm ? &layout->vm.global_object_list : &layout->objspace.global_list;
	uint64_t base = is_in_vm ? roots->source->vm : roots->source->objspace;
	struct rcore_roots_walk walk = {0};
	uint64_t entry = 0, value;
	if (!rcore_has_place(first) || !rcore_has_place(&layout->global_list_entry.address))
		return NULL;
	enum rcore_fault fault = rcore_read_u64(memory, base + (uint64_t)first->offset, &entry);
	while (!fault && entry) {
		if (rcore_roots_repeats(&walk, entry)) {
			rcore_roots_problem(roots,
					    "the list of rb_gc_register_address() never ends");
			return NULL;
		}
		struct rcore_heap_root root = {.kind = RCORE_ROOT_REGISTERED};
		fault = rcore_read_u64(
			memory, entry + (uint64_t)layout->global_list_entry.address.offset,
			&root.address);
		if (!fault && !rcore_read_u64(memory, root.address, &value) &&
		    !rcore_roots_add(roots, value, &root))
			return rcore_error_no_memory();
		if (!fault)
			fault = rcore_read_u64(
				memory, entry + (uint64_t)layout->global_list_entry.next.offset,
				&entry);
	}
	if (fault)
		rcore_roots_problem(roots,
				    "the list of rb_gc_register_address() cannot be read");
	return NULL;
}

/*
 * Adds the finalizers. The table maps an object to an Array of its finalizers,
 * and the collector marks only the Array.
 */
static struct rcore_error *add_finalizers(struct rcore_roots *roots)
{
	const struct rcore_field *field = &roots->ruby->layout->objspace.finalizer_table;
	struct rcore_st_iterator iterator;
	uint64_t table, object, finalizers;
	bool found = true;
	if (!rcore_has_place(field) ||
	    rcore_read_u64(roots->ruby->memory,
			   roots->source->objspace + (uint64_t)field->offset, &table) ||
	    !table)
		return NULL;
	struct rcore_error *err =
		rcore_st_begin(&iterator, roots->ruby, table, RCORE_ROOTS_LIMIT);
	while (!err && found) {
		const struct rcore_heap_root root = {.kind = RCORE_ROOT_FINALIZER};
		err = rcore_st_next(&iterator, &found, &object, &finalizers);
		if (!err && found && !rcore_roots_add(roots, finalizers, &root))
			return rcore_error_no_memory();
	}
	if (err)
		rcore_roots_problem(roots, "the table of finalizers cannot be read");
	rcore_error_free(err);
	return NULL;
}

struct rcore_error *rcore_roots_find(struct rcore_ruby *ruby,
				     const struct rcore_roots_source *source,
				     struct rcore_heap *heap)
{
	struct rcore_roots roots = {.ruby = ruby, .source = source, .heap = heap};
	roots.root_capacity = heap->root_count;
	struct rcore_error *err = add_object_class(&roots);
	if (!err)
		err = add_vm(&roots);
	if (!err)
		err = add_threads(&roots);
	if (!err)
		err = add_registered(&roots);
	if (!err)
		err = add_finalizers(&roots);
	if (!err)
		err = add_symbols(&roots);
	if (!err)
		err = rcore_roots_globals(&roots);
	if (!err)
		err = rcore_roots_ending(&roots);
	return err ? err : rcore_roots_machine(&roots);
}
