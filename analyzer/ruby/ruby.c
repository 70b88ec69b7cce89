/* SPDX-License-Identifier: MIT */
#include "ruby/ruby.h"

void rcore_ruby_init(struct rcore_ruby *ruby, struct rcore_memory *memory,
		     const struct rcore_layout *layout, struct rcore_arena *arena)
{
	*ruby = (struct rcore_ruby){.memory = memory, .layout = layout, .arena = arena};
}

void rcore_ruby_set_vm(struct rcore_ruby *ruby, uint64_t vm)
{
	rcore_read_field(ruby->memory, vm, &ruby->layout->vm.shape_list, &ruby->shape_list);
}

void rcore_ruby_deinit(struct rcore_ruby *ruby)
{
	rcore_cache_deinit(&ruby->iseqs);
	rcore_cache_deinit(&ruby->classes);
	rcore_cache_deinit(&ruby->methods);
	rcore_cache_deinit(&ruby->names);
	rcore_cache_deinit(&ruby->labels);
	rcore_arena_deinit(&ruby->scratch);
}
