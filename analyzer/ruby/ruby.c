/* SPDX-License-Identifier: MIT */
#include "ruby/ruby.h"

#include "ruby/heap/moved.h"

void rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
		     const struct rcore_layout *layout, struct rcore_arena *arena)
{
	*ruby = (struct rcore_ruby){.memory = memory, .layout = layout, .arena = arena};
}

/* Without boxes there is only the root box. */
static bool boxed(struct rcore_ruby *ruby, uint64_t vm, const struct rcore_field *field,
		  uint64_t *ret)
{
	return rcore_read_field(ruby->memory, vm, field, ret) == RCORE_FAULT_NONE && *ret;
}

void rcore_ruby_set_vm(struct rcore_ruby *ruby, uint64_t vm)
{
	const struct rcore_layout *layout = ruby->layout;
	uint64_t box;
	rcore_read_field(ruby->memory, vm, &layout->vm.shape_list, &ruby->shape_list);
	if (rcore_has(&layout->vm.progname))
		rcore_read_field(ruby->memory, vm, &layout->vm.progname, &ruby->progname);
	if (rcore_has(&layout->vm.top_self))
		rcore_read_field(ruby->memory, vm, &layout->vm.top_self, &ruby->top_self);
	else if (boxed(ruby, vm, &layout->vm.main_box, &box) ||
		 boxed(ruby, vm, &layout->vm.root_box, &box))
		rcore_read_field(ruby->memory, box, &layout->box.top_self, &ruby->top_self);
	/* rb_box_struct.box_object comes first. */
	if (rcore_has(&layout->vm.main_box) && boxed(ruby, vm, &layout->vm.main_box, &box))
		rcore_read_u64(ruby->memory, box, &ruby->main_box);
	rcore_moved_follow(ruby, vm);
}

void rcore_ruby_forget(struct rcore_ruby *ruby)
{
	rcore_cache_deinit(&ruby->iseqs);
	rcore_cache_deinit(&ruby->classes);
	rcore_cache_deinit(&ruby->methods);
	rcore_cache_deinit(&ruby->names);
	rcore_cache_deinit(&ruby->labels);
	rcore_cache_deinit(&ruby->data_types);
	rcore_arena_deinit(&ruby->scratch);
	ruby->printable = NULL;
	ruby->printable_count = 0;
}

void rcore_ruby_deinit(struct rcore_ruby *ruby)
{
	rcore_ruby_forget(ruby);
	rcore_moved_free(ruby->moved);
}
