/* SPDX-License-Identifier: MIT */
#include "session/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* Newest name first. */
static const char *const shape_tree_names[] = {"rb_shape_tree", "rb_shape_tree_ptr", NULL};
static const char *const generic_ivars_names[] = {"generic_fields_tbl_", "generic_iv_tbl_",
						  "generic_iv_tbl", NULL};

static uint64_t find(const struct rcore_target *target, struct rcore_module *ruby,
		     const char *const *names)
{
	struct rcore_symbol symbol;
	for (; *names; names++)
		if (rcore_module_symbol(target->modules, ruby, *names, &symbol))
			return symbol.address;
	return 0;
}

static struct rcore_error *find_writable(const struct rcore_target *target,
					 const struct rcore_module *ruby,
					 struct rcore_statics *ret)
{
	struct {
		struct rcore_range *items;
		size_t count, capacity;
	} ranges = {0};
	uint64_t start, end;
	for (size_t i = 0; rcore_module_writable(target->modules, ruby, i, &start, &end); i++) {
		struct rcore_range *range = rcore_push(&ranges);
		if (!range) {
			free(ranges.items);
			return rcore_error_no_memory();
		}
		*range = (struct rcore_range){start, end};
	}
	free((void *)ret->writable);
	ret->writable = ranges.items;
	ret->writable_count = ranges.count;
	return NULL;
}

/*
 * The process has executed another program since the last reading if its VM is
 * elsewhere. Then nothing that was found out about the VM is true any more.
 */
static void forget_other_program(struct rcore_located *located,
				 const struct rcore_location *location)
{
	if (!located->is_found || located->location.vm == location->vm)
		return;
	free((void *)located->statics.writable);
	located->statics = (struct rcore_statics){0};
}

struct rcore_error *rcore_located_set(struct rcore_located *located,
				      const struct rcore_target *target,
				      const struct rcore_location *location)
{
	struct rcore_module *ruby = located->identity.module;
	struct rcore_statics *statics = &located->statics;
	forget_other_program(located, location);
	if (!statics->writable) {
		statics->module = (struct rcore_range){ruby->start, ruby->end};
		statics->shape_tree = find(target, ruby, shape_tree_names);
		statics->generic_ivars = find(target, ruby, generic_ivars_names);
		struct rcore_error *err = find_writable(target, ruby, statics);
		if (err)
			return err;
	}
	located->location = *location;
	located->is_found = true;
	return NULL;
}

void rcore_located_deinit(struct rcore_located *located)
{
	free((void *)located->statics.writable);
}

void rcore_reader_init(struct rcore_ruby *ruby, const struct rcore_target *target,
		       const struct rcore_located *located, struct rcore_arena *arena)
{
	const struct rcore_location *location = &located->location;
	rcore_ruby_init(ruby, target->memory, &location->layout, arena);
	rcore_ruby_set_vm(ruby, location->vm);
	ruby->global_symbols = location->global_symbols;
	ruby->statics = located->statics;
	ruby->recorder = target->recorder;
	ruby->core = target->core;
	ruby->live = target->live;
	ruby->earlier_fibers = target->earlier_fibers;
	ruby->packed_fibers = target->known_fibers;
	ruby->packed_fiber_count = target->known_fiber_count;
	if (target->pack) {
		ruby->packed_fibers = target->pack->fibers;
		ruby->packed_fiber_count = target->pack->fiber_count;
	}
}

void rcore_reader_deinit(struct rcore_ruby *ruby, struct rcore_located *located)
{
	located->statics = ruby->statics;
	rcore_ruby_deinit(ruby);
}
