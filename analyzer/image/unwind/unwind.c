/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind.h"

#include <stdlib.h>

#include "image/unwind/unwind_walk.h"

/* All stacks, as libdwfl counts threads. */
struct set {
	struct rcore_unwinder unwinder;
	struct rcore_walk walk;
	struct rcore_unwind_context *contexts;
	size_t count, next;
};

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	struct set *set = argument;
	struct rcore_walk *walk = &set->walk;
	if (set->unwinder.no_memory || set->next == set->count)
		return 0;
	/* The room for frames is kept for the next. */
	struct rcore_native_frame *frames = walk->frames.items;
	size_t capacity = walk->frames.capacity;
	*walk = (struct rcore_walk){
		.unwinder = &set->unwinder,
		.context = &set->contexts[set->next],
		.frames = {frames, 0, capacity},
	};
	set->unwinder.walk = walk;
	*thread = walk;
	return (pid_t)++set->next;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *argument)
{
	struct set *set = argument;
	return rcore_walk_read(&set->unwinder, address, ret);
}

static const Dwfl_Thread_Callbacks callbacks = {
	.next_thread = next_thread,
	.memory_read = read_memory,
	.set_initial_registers = rcore_walk_registers,
};

static int on_thread(Dwfl_Thread *thread, void *argument)
{
	struct set *set = argument;
	rcore_walk_stack(&set->walk, thread);
	return DWARF_CB_OK;
}

static struct rcore_error *walk_all(struct set *set)
{
	Dwfl *dwfl = set->unwinder.native->dwfl;
	if (!dwfl_attach_state(dwfl, set->unwinder.native->header_elf, 1, &callbacks, set) ||
	    dwfl_getthreads(dwfl, on_thread, set))
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "libdwfl cannot unwind this target: %s",
					  dwfl_errmsg(-1));
	return set->unwinder.no_memory ? rcore_error_no_memory() : NULL;
}

/* A copy of `functions`, with one more unless that is 0. */
static struct rcore_error *add_function(const struct rcore_functions *functions, uint64_t one,
					struct rcore_functions *ret)
{
	size_t count = functions ? functions->count : 0, i = 0;
	uint64_t *starts = malloc((count + 1) * sizeof(*starts));
	if (!starts)
		return rcore_error_no_memory();
	for (; i < count && (!one || functions->starts[i] < one); i++)
		starts[i] = functions->starts[i];
	if (one)
		starts[i] = one;
	for (; i < count; i++)
		starts[i + 1] = functions->starts[i];
	*ret = (struct rcore_functions){starts, count + (one != 0)};
	return NULL;
}

struct rcore_error *rcore_unwind(struct rcore_modules *modules, struct rcore_memory *memory,
				 unsigned machine, struct rcore_arena *arena,
				 const struct rcore_functions *functions,
				 struct rcore_interpreter *interpreter,
				 struct rcore_unwind_context *contexts, size_t count)
{
	const struct rcore_unwind_machine *row = rcore_unwind_machine(machine);
	if (!row)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "stacks of ELF machine %u cannot be unwound",
					  machine);
	struct set *set = calloc(1, sizeof(*set));
	if (!set)
		return rcore_error_no_memory();
	struct rcore_functions all = {0};
	struct rcore_unwinder *unwinder = &set->unwinder;
	set->contexts = contexts;
	set->count = count;
	unwinder->machine = row;
	unwinder->arena = arena;
	unwinder->frames_left = RCORE_NATIVE_TOTAL_LIMIT;
	rcore_kept_pages_init(&unwinder->memory, memory);
	struct rcore_error *err =
		rcore_native_modules_open(modules, memory, machine, &unwinder->native);
	if (!err) {
		unwinder->sites.native = unwinder->native;
		unwinder->sites.symbolizer.arena = arena;
		if (interpreter && !interpreter->activation)
			interpreter->activation =
				rcore_activation_find(&unwinder->sites, interpreter);
		err = add_function(functions, interpreter ? interpreter->activation : 0, &all);
		unwinder->sites.functions = &all;
		if (!err)
			err = walk_all(set);
		rcore_sites_deinit(&unwinder->sites);
		rcore_native_modules_close(unwinder->native);
	}
	free((void *)all.starts);
	free(set->walk.frames.items);
	free(set);
	return err;
}
