/* SPDX-License-Identifier: MIT */
/*
 * The sizes of T_DATA. Only the dsize function of a type knows how much memory
 * its struct needs, and rcore never runs code of the process. So this file does
 * what the dsize functions of CRuby's own types do. Most of them return the
 * size of the struct.
 */
#include "ruby/children/memsize_private.h"

#include <string.h>

#include "base/count.h"
#include "ruby/object/data.h"

struct type {
	const char *name;
	size_t size; /* offset of the struct's size in struct rcore_layout */
	/* Returns the bytes that dsize adds to the struct's; NULL: none. */
	uint64_t (*more)(struct rcore_sizing *sizing, uint64_t data);
	/*
	 * Whether the struct is one of Ruby's own, for a type of an extension
	 * that comes with Ruby. NULL: the type is in the VM's module.
	 */
	bool (*prove)(struct rcore_sizing *sizing, uint64_t data);
};

static struct rcore_error *find_type(struct rcore_ruby *ruby, uint64_t address,
				     const struct type **ret);

#define SIZE(struct_id) offsetof(struct rcore_layout, struct_id.size)

static uint64_t of_storage(struct rcore_sizing *sizing, uint64_t ec)
{
	const uint64_t storage = READ(ec, ec, local_storage);
	if (!storage)
		return 0;
	return sizing->layout->traits.local_storage_is_st
		       ? rcore_sizing_st(sizing, storage)
		       : rcore_sizing_id_table(sizing, storage);
}

/*
 * thread_memsize() of vm.c. It does not count the VM stack of a thread that has
 * a root fiber, which root_fiber_alloc() makes when the thread uses Fibers.
 */
static uint64_t of_thread(struct rcore_sizing *sizing, uint64_t data)
{
	const uint64_t ec = READ(data, thread, ec);
	if (!ec)
		return 0;
	const uint64_t stack = READ(data, thread, root_fiber) ? 0 : READ(ec, ec, vm_stack_size);
	return rcore_sizing_bounded(sizing, stack, WORD) + of_storage(sizing, ec);
}

/*
 * fiber_memsize() of cont.c. It counts twice the rb_context_t with which the
 * struct begins, the used part of a machine stack, and no VM stack.
 */
static uint64_t of_fiber(struct rcore_sizing *sizing, uint64_t data)
{
	const struct rcore_layout *layout = sizing->layout;
	const uint64_t ec = data + (uint64_t)layout->fiber.saved_ec.offset;
	const uint64_t thread = READ(ec, ec, thread_ptr);
	uint64_t bytes = (uint64_t)layout->fiber.first_proc.offset;
	if (READ(data, fiber, machine_stack))
		bytes += rcore_sizing_bounded(sizing, READ(data, fiber, machine_stack_size),
					      WORD);
	if (!thread || READ(thread, thread, root_fiber) == data || !READ(ec, ec, local_storage))
		return bytes;
	/* From 3.2 on, it adds the Hash of Fiber[]; this function does not. */
	if (rcore_is_object(sizing->ruby, READ(ec, ec, storage)))
		sizing->failed = true;
	return bytes + of_storage(sizing, ec);
}

/* backtrace_memsize() of vm_backtrace.c; up to 3.2. */
static uint64_t of_backtrace(struct rcore_sizing *sizing, uint64_t data)
{
	return rcore_sizing_bounded(sizing, READ(data, backtrace, count),
				    sizing->layout->location.size);
}

/* monitor.so defines it; each has a Thread::Mutex. */
static bool is_monitor(struct rcore_sizing *sizing, uint64_t data)
{
	const struct type *type;
	struct rcore_data mutex;
	struct rcore_error *err =
		rcore_data_head(sizing->ruby, READ(data, monitor, mutex), &mutex);
	if (!err)
		err = find_type(sizing->ruby, mutex.type, &type);
	if (err) {
		rcore_error_free(err);
		return false;
	}
	return type->size == SIZE(mutex);
}

static const struct type types[] = {
	{"VM/thread", SIZE(thread), of_thread, NULL},
	{"backtrace", SIZE(backtrace), of_backtrace, NULL},
	{"binding", SIZE(binding), NULL, NULL},
	{"chain", SIZE(enum_chain), NULL, NULL},
	{"condvar", SIZE(condvar), NULL, NULL},
	{"enumerator", SIZE(enumerator), NULL, NULL},
	{"fiber", SIZE(fiber), of_fiber, NULL},
	{"generator", SIZE(generator), NULL, NULL},
	{"method", SIZE(method), NULL, NULL},
	{"monitor", SIZE(monitor), NULL, is_monitor},
	{"mutex", SIZE(mutex), NULL, NULL},
	/*
	 * proc_memsize() is meant to return the size of a cfunc_proc_t if the
	 * Proc is one. It never does: it compares `ep`, which is env + 2, with
	 * env + 1.
	 */
	{"proc", SIZE(proc), NULL, NULL},
	{"product", SIZE(enum_chain), NULL, NULL},
	{"queue", SIZE(queue), NULL, NULL},
	{"sized_queue", SIZE(szqueue), NULL, NULL},
	{"Thread::Queue", SIZE(queue), NULL, NULL},
	{"Thread::SizedQueue", SIZE(szqueue), NULL, NULL},
	{"time", SIZE(time), NULL, NULL},
	{"yielder", SIZE(yielder), NULL, NULL},
};

/* Stands for all types that are not in the list. */
static const struct type unknown;

/*
 * Finds the type of a rb_data_type_t. Extensions have types of the same names
 * around other structs; those are not in the module that contains the VM.
 */
static struct rcore_error *find_type(struct rcore_ruby *ruby, uint64_t address,
				     const struct type **ret)
{
	char name[RCORE_DATA_NAME_SIZE];
	*ret = rcore_cache_get(&ruby->data_types, address, 0);
	if (*ret)
		return NULL;
	struct rcore_error *err = rcore_data_type_name(ruby, address, name, sizeof(name));
	if (err)
		return err;
	const struct rcore_range *module = &ruby->statics.module;
	const bool is_own = address >= module->start && address < module->end;
	*ret = &unknown;
	for (size_t i = 0; i < RCORE_COUNT(types); i++)
		if ((is_own || types[i].prove) && !strcmp(types[i].name, name))
			*ret = &types[i];
	return rcore_cache_put(&ruby->data_types, &ruby->scratch, address, 0, (void *)*ret)
		       ? NULL
		       : rcore_error_no_memory();
}

/* Returns what the dsize function of the object's type would return. */
static uint64_t of_struct(struct rcore_sizing *sizing, const struct rcore_data *data)
{
	const struct type *type;
	uint32_t size = 0;
	struct rcore_error *err = find_type(sizing->ruby, data->type, &type);
	if (!err && type->name && (!type->prove || type->prove(sizing, data->data)))
		memcpy(&size, (const char *)sizing->layout + type->size, sizeof(size));
	rcore_error_free(err);
	if (!size) {
		sizing->failed = true;
		return 0;
	}
	return size + (type->more ? type->more(sizing, data->data) : 0);
}

/* rb_objspace_data_type_memsize() of gc.c. */
uint64_t rcore_sizing_of_data(struct rcore_sizing *sizing)
{
	/* RUBY_TYPED_EMBEDDABLE, 3.3 on */
	const uint64_t embeddable = RCORE_FL_USER(3);
	struct rcore_data data;
	if (!rcore_sizing_can_decode(sizing))
		return 0;
	struct rcore_error *err = rcore_data_head(sizing->ruby, sizing->object, &data);
	sizing->failed |= err != NULL;
	rcore_error_free(err);
	if (err || !data.is_typed || !data.data)
		return 0;
	/* Ruby adds malloc_usable_size(), which rcore does not know. */
	if (READ(data.type, data_type, flags) & embeddable && !data.is_embedded)
		sizing->failed = true;
	return READ(data.type, data_type, dsize) ? of_struct(sizing, &data) : 0;
}
