/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "ruby/object/string.h"
#include "vm/find/list.h"
#include "vm/loader.h"
#include "vm/problem.h"
#include "vm/wrapper.h"

static uint64_t field_or_zero(struct rcore_loader *loader, uint64_t base,
			      const struct rcore_field *field)
{
	uint64_t value = 0;
	rcore_problem_unmeasured(loader->snapshot, loader->ruby->layout, field);
	if (base && rcore_has(field) &&
	    rcore_read_field(loader->ruby->memory, base, field, &value))
		value = 0;
	return value;
}

/*
 * A pthread_t is the address of libc's struct pthread. On x86-64, this is also
 * the thread pointer. On aarch64, the thread pointer is the end of the struct,
 * in glibc (THREAD_SELF of sysdeps/aarch64/nptl/tls.h) and in musl.
 */
static int tid_of_pthread(const struct rcore_process *process, uint64_t pthread)
{
	enum { STRUCT_PTHREAD = 4096 }; /* no libc's is larger */
	bool is_end = process->machine == EM_AARCH64;
	uint64_t least = is_end ? 1 : 0, most = is_end ? STRUCT_PTHREAD : 0;
	int found = 0;
	for (size_t i = 0; pthread && i < process->thread_count; i++) {
		uint64_t distance = process->threads[i].thread_pointer - pthread;
		if (distance < least || distance > most)
			continue;
		found = process->threads[i].tid;
		most = distance;
	}
	return found;
}

static int kernel_tid(struct rcore_loader *loader, uint64_t thread)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	const struct rcore_field *thread_id = &layout->thread.thread_id;
	const struct rcore_field *tid = &layout->thread.tid;
	uint64_t base = thread;
	if (rcore_has(&layout->thread.nt)) {
		base = field_or_zero(loader, thread, &layout->thread.nt);
		thread_id = &layout->native_thread.thread_id;
		tid = &layout->native_thread.tid;
	}
	/*
	 * Prefers the pthread_t to the tid: after a fork, 3.1 and 3.2 still
	 * have the parent's tid, and up to 3.0 there is none.
	 */
	int found = tid_of_pthread(loader->process, field_or_zero(loader, base, thread_id));
	return found ? found : (int)field_or_zero(loader, base, tid);
}

static uint64_t gvl_holder(struct rcore_loader *loader, uint64_t ractor)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	if (rcore_has(&layout->ractor.sched_running))
		return field_or_zero(loader, ractor, &layout->ractor.sched_running);
	if (rcore_has(&layout->ractor.gvl_owner))
		return field_or_zero(loader, ractor, &layout->ractor.gvl_owner);
	return field_or_zero(loader, loader->vm, &layout->vm.gvl_owner);
}

static enum rcore_gvl gvl_state(struct rcore_loader *loader, const struct rcore_thread *thread,
				uint64_t ractor)
{
	uint64_t holder = gvl_holder(loader, ractor);
	if (holder == thread->address)
		return RCORE_GVL_HOLDER;
	if (thread->status == RCORE_THREAD_KILLED)
		return RCORE_GVL_UNKNOWN;
	if (thread->status == RCORE_THREAD_RUNNABLE &&
	    !field_or_zero(loader, thread->address,
			   &loader->ruby->layout->thread.blocking_region_buffer))
		return RCORE_GVL_WAITING;
	return RCORE_GVL_RELEASED;
}

static const char *thread_name(struct rcore_loader *loader, struct rcore_thread *thread,
			       uint64_t value)
{
	const char *name = NULL;
	if (rcore_is_nil(loader->ruby, value))
		return NULL;
	struct rcore_error *err = rcore_text(loader->ruby, value, &name, NULL);
	if (err)
		thread->problem =
			rcore_problem(loader->snapshot, rcore_error_wrap(err, "name"));
	return name;
}

/* "T2", or "E1" for a thread that has ended */
static bool name_thread(struct rcore_loader *loader, struct rcore_thread *thread)
{
	const char *letter = thread->is_ended ? "E" : "T";
	size_t number = loader->threads.count;
	if (thread->is_ended)
		number = ++loader->ended_count;
	const struct rcore_who who = {
		.scope = letter,
		.address = thread->address,
		.object = field_or_zero(loader, thread->address,
					&loader->ruby->layout->thread.self),
	};
	if (loader->snapshot->ids && !rcore_ids_number(loader->snapshot->ids, &who, &number))
		return false;
	snprintf(thread->id, sizeof(thread->id), "%s%zu", letter, number);
	return true;
}

struct rcore_error *rcore_load_thread(struct rcore_loader *loader, uint64_t address, int ractor,
				      bool is_ended, int *ret)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	int index = (int)loader->threads.count;
	struct rcore_thread *thread = rcore_push(&loader->threads);
	if (!thread || !rcore_address_map_put(&loader->thread_at, address, index))
		return rcore_error_no_memory();
	thread->address = address;
	thread->ractor = ractor;
	thread->is_ended = is_ended;
	thread->current_fiber = -1;
	if (!name_thread(loader, thread))
		return rcore_error_no_memory();

	uint64_t back, status, value;
	enum rcore_fault fault =
		rcore_read_field(loader->ruby->memory, address, &layout->thread.vm, &back);
	if (fault || back != loader->vm) {
		thread->status = RCORE_THREAD_STATUS_UNKNOWN;
		thread->problem = rcore_problem(
			loader->snapshot,
			fault ? rcore_fault_error(fault, "thread", address, layout->thread.size)
			      : rcore_error_create(RCORE_ERROR_CORRUPT,
						   "no rb_thread_t at 0x%" PRIx64
						   " (its vm does not point back)",
						   address));
		*ret = index;
		return NULL;
	}
	thread->object = field_or_zero(loader, address, &layout->thread.self);
	if (thread->object && !rcore_wraps(loader->ruby, thread->object, address))
		thread->problem = rcore_problem(
			loader->snapshot,
			rcore_error_create(RCORE_ERROR_CORRUPT,
					   "thread at 0x%" PRIx64
					   ": self does not point to its Thread object",
					   address));
	thread->tid = is_ended ? 0 : kernel_tid(loader, address);
	thread->status =
		rcore_read_field(loader->ruby->memory, address, &layout->thread.status, &status)
			? RCORE_THREAD_STATUS_UNKNOWN
			: (enum rcore_thread_status)status;
	thread->to_kill = field_or_zero(loader, address, &layout->thread.to_kill);
	thread->is_main = field_or_zero(loader, loader->vm, &layout->vm.main_thread) == address;
	thread->is_crashed = thread->tid && thread->tid == loader->process->crashed_tid;
	value = field_or_zero(loader, address, &layout->thread.name);
	if (value)
		thread->name = thread_name(loader, thread, value);
	if (!is_ended)
		thread->gvl = gvl_state(loader, thread,
					ractor < 0 ? 0 : loader->ractors.items[ractor].address);
	*ret = index;
	return NULL;
}

/*
 * Loads the threads of one list, whose head is in the struct at `base`.
 * `ractor` is an index or -1.
 */
static struct rcore_error *load_list(struct rcore_loader *loader, uint64_t base,
				     const struct rcore_field *head, int ractor,
				     size_t expected)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t *threads;
	size_t count;
	struct rcore_error *err = rcore_list_of(loader->ruby, base, head, &layout->thread.node,
						RCORE_THREAD_LIMIT, &threads, &count);
	if (!err && !rcore_list_counts(count, expected))
		err = rcore_error_create(RCORE_ERROR_CORRUPT,
					 "thread list has a length of %zu, the VM counts %zu",
					 count, expected);
	if (err)
		rcore_problem_add(loader->snapshot, rcore_error_wrap(err, "threads"));
	err = NULL;
	int *indices = rcore_arena_array(&loader->snapshot->arena, count, sizeof(int));
	if (!indices)
		err = rcore_error_no_memory();
	for (size_t i = 0; !err && i < count; i++)
		err = rcore_load_thread(loader, threads[i], ractor, false, &indices[i]);
	if (!err && ractor >= 0) {
		loader->ractors.items[ractor].threads = indices;
		loader->ractors.items[ractor].thread_count = count;
	}
	free(threads);
	return err;
}

static struct rcore_error *load_ractor(struct rcore_loader *loader, uint64_t address)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	int index = (int)loader->ractors.count;
	struct rcore_ractor *ractor = rcore_push(&loader->ractors);
	if (!ractor)
		return rcore_error_no_memory();
	ractor->address = address;
	ractor->id = field_or_zero(loader, address, &layout->ractor.id);
	uint64_t name = field_or_zero(loader, address, &layout->ractor.name);
	if (rcore_is_object(loader->ruby, name)) {
		struct rcore_error *err = rcore_text(loader->ruby, name, &ractor->name, NULL);
		ractor->problem =
			rcore_problem(loader->snapshot, rcore_error_wrap(err, "name"));
	}
	return load_list(loader, address, &layout->ractor.threads_set, index,
			 field_or_zero(loader, address, &layout->ractor.threads_count));
}

static struct rcore_error *load_ractors(struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	uint64_t *ractors;
	size_t count;
	struct rcore_error *err =
		rcore_list_of(loader->ruby, loader->vm, &layout->vm.ractor_set,
			      &layout->ractor.vmlr_node, RCORE_RACTOR_LIMIT, &ractors, &count);
	bool broken = err != NULL;
	rcore_problem_add(loader->snapshot, rcore_error_wrap(err, "ractors"));

	/* The main ractor can be reached without the list. */
	uint64_t main_ractor = field_or_zero(loader, loader->vm, &layout->vm.main_ractor);
	bool seen = false;
	err = NULL;
	for (size_t i = 0; !err && i < count; i++) {
		seen |= ractors[i] == main_ractor;
		err = load_ractor(loader, ractors[i]);
	}
	if (!err && broken && !seen && main_ractor)
		err = load_ractor(loader, main_ractor);
	free(ractors);
	return err;
}

/*
 * Whether the main thread is certainly the first of the list: Init_BareVM() of
 * vm.c inserts it, and rb_thread_atfork_internal() of thread.c begins the list
 * anew with the thread that forked. Until it has, the list of a process with
 * one thread has others. From 3.0 on, the main Ractor points to the main
 * thread, too (rcore_vm_prove()).
 */
static bool is_first_listed(const struct rcore_loader *loader)
{
	return !rcore_has(&loader->ruby->layout->vm.ractor_set) &&
	       loader->process->thread_count > 1;
}

struct rcore_error *rcore_load_threads(struct rcore_loader *loader)
{
	const struct rcore_layout *layout = loader->ruby->layout;
	struct rcore_error *err;
	int index;

	if (rcore_has(&layout->vm.ractor_set))
		err = load_ractors(loader);
	else
		err = load_list(loader, loader->vm, &layout->vm.living_threads, -1,
				field_or_zero(loader, loader->vm, &layout->vm.living_count));
	if (err)
		return err;
	/*
	 * The VM points to the main thread even if a broken list has lost it.
	 */
	uint64_t main_thread = field_or_zero(loader, loader->vm, &layout->vm.main_thread);
	int listed = main_thread ? rcore_address_map_get(&loader->thread_at, main_thread) : 0;
	if (listed < 0)
		return rcore_load_thread(loader, main_thread, -1, false, &index);
	if (listed && is_first_listed(loader))
		rcore_problem_add(loader->snapshot,
				  rcore_error_create(RCORE_ERROR_CORRUPT,
						     "vm.main_thread is 0x%" PRIx64
						     ", which is not the VM's first thread",
						     main_thread));
	return NULL;
}

bool rcore_thread_syscall(const struct rcore_loader *loader, int thread,
			  struct rcore_syscall *ret)
{
	const struct rcore_process *process = loader->process;
	int tid = thread < 0 ? 0 : loader->threads.items[thread].tid;
	for (size_t i = 0; tid && i < process->thread_count; i++)
		if (process->threads[i].tid == tid)
			return rcore_syscall_of(process->machine, &process->threads[i],
						loader->ruby->memory, ret);
	return false;
}
