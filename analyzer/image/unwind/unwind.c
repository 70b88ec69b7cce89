/* SPDX-License-Identifier: MIT */
#include "image/unwind/unwind.h"

#include <errno.h>
#include <stdlib.h>

#include "image/unwind/unwind_walk.h"

/* All stacks; libdwfl calls them threads. */
struct set {
	struct rcore_unwinder unwinder;
	struct rcore_walk walk;
	struct rcore_unwind_context *contexts;
	size_t count, next;
};

struct rcore_code {
	struct rcore_modules *modules;
	struct rcore_memory *memory;
	const struct rcore_unwind_machine *machine;
	struct rcore_native_modules *native; /* NULL: not opened yet */
	struct rcore_sites sites;
	uint64_t activation; /* found by its code, or 0 */
	size_t frame_limit;  /* of one stack */
	struct set *set;     /* the stacks that are being unwound */
};

/* How many addresses to keep. Parked fibers are in the same few places. */
enum { SITE_LIMIT = 1 << 16 };

static pid_t next_thread(Dwfl *dwfl, void *argument, void **thread)
{
	struct set *set = ((struct rcore_code *)argument)->set;
	struct rcore_walk *walk = &set->walk;
	if (set->unwinder.no_memory || set->next == set->count)
		return 0;
	/* The array for frames is kept for the next stack. */
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
	struct set *set = ((struct rcore_code *)argument)->set;
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

static struct rcore_error *refused(void)
{
	if (rcore_lacks_memory())
		return rcore_error_no_memory();
	return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
				  "libdwfl cannot unwind this target: %s", dwfl_errmsg(-1));
}

static struct rcore_error *walk_all(struct set *set)
{
	errno = 0;
	if (dwfl_getthreads(set->unwinder.native->dwfl, on_thread, set))
		return refused();
	return set->unwinder.no_memory ? rcore_error_no_memory() : NULL;
}

static void forget(struct rcore_code *code)
{
	rcore_sites_deinit(&code->sites);
	rcore_native_modules_close(code->native);
	code->native = NULL;
}

/* libdwfl attaches to a target once. */
static struct rcore_error *prepare(struct rcore_code *code)
{
	if (code->sites.list.count > SITE_LIMIT)
		forget(code);
	if (code->native)
		return NULL;
	struct rcore_error *err = rcore_native_modules_open(
		code->modules, code->memory, code->machine->machine, &code->native);
	if (err)
		return err;
	code->sites.native = code->native;
	errno = 0;
	if (dwfl_attach_state(code->native->dwfl, code->native->header_elf, 1, &callbacks,
			      code))
		return NULL;
	err = refused();
	forget(code);
	return err;
}

struct rcore_error *rcore_code_open(struct rcore_modules *modules, struct rcore_memory *memory,
				    unsigned machine, struct rcore_code **ret)
{
	const struct rcore_unwind_machine *row = rcore_unwind_machine(machine);
	if (!row)
		return rcore_error_create(RCORE_ERROR_UNSUPPORTED,
					  "cannot unwind stacks of ELF machine %u", machine);
	struct rcore_code *code = calloc(1, sizeof(*code));
	if (!code)
		return rcore_error_no_memory();
	code->modules = modules;
	code->memory = memory;
	code->machine = row;
	code->frame_limit = RCORE_NATIVE_FRAME_LIMIT;
	*ret = code;
	return NULL;
}

void rcore_code_close(struct rcore_code *code)
{
	if (!code)
		return;
	forget(code);
	free(code);
}

void rcore_code_limit(struct rcore_code *code, size_t frames)
{
	code->frame_limit =
		frames < RCORE_NATIVE_FRAME_LIMIT ? frames : RCORE_NATIVE_FRAME_LIMIT;
}

static void find_activation(struct rcore_code *code, struct rcore_interpreter *interpreter)
{
	if (!interpreter)
		return;
	interpreter->core = rcore_activation_core(&code->sites, interpreter);
	if (interpreter->activation)
		return;
	if (!code->activation)
		code->activation = rcore_activation_find(&code->sites, interpreter);
	interpreter->activation = code->activation;
}

struct rcore_error *rcore_unwind(struct rcore_code *code, struct rcore_arena *arena,
				 const struct rcore_functions *functions,
				 struct rcore_interpreter *interpreter,
				 struct rcore_unwind_context *contexts, size_t count)
{
	struct rcore_error *err = prepare(code);
	if (err)
		return err;
	struct set *set = calloc(1, sizeof(*set));
	if (!set)
		return rcore_error_no_memory();
	struct rcore_unwinder *unwinder = &set->unwinder;
	set->contexts = contexts;
	set->count = count;
	unwinder->machine = code->machine;
	unwinder->native = code->native;
	unwinder->sites = &code->sites;
	unwinder->arena = unwinder->names.arena = arena;
	unwinder->frame_limit = code->frame_limit;
	unwinder->frames_left = RCORE_NATIVE_TOTAL_LIMIT;
	rcore_kept_pages_init(&unwinder->memory, code->memory);
	find_activation(code, interpreter);
	code->set = set;
	err = rcore_sites_set_functions(&code->sites, functions,
					interpreter ? interpreter->activation : 0)
		      ? walk_all(set)
		      : rcore_error_no_memory();
	if (!err && (code->native->lacks_memory || code->sites.no_memory))
		err = rcore_error_no_memory();
	code->set = NULL;
	rcore_names_deinit(&unwinder->names);
	free(set->walk.frames.items);
	free(set);
	/* libdwfl never searches again for what it did not find. */
	if (err && err->code == RCORE_ERROR_NO_MEMORY) {
		forget(code);
		code->activation = 0;
	}
	return err;
}
