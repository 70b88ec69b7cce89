/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_LOADER_H
#define RCORE_VM_LOADER_H

#include "base/address_map.h"
#include "model/ids_number.h"
#include "target/live/syscall.h"
#include "target/process.h"
#include "vm/vm.h"

/* The state of one rcore_vm_load(), shared by the files of vm/. Not public. */
struct rcore_loader {
	struct rcore_ruby *ruby;
	struct rcore_snapshot *snapshot;
	const struct rcore_process *process;
	uint64_t vm;

	struct {
		struct rcore_ractor *items;
		size_t count, capacity;
	} ractors;
	struct {
		struct rcore_thread *items;
		size_t count, capacity;
	} threads; /* living threads first, then ended ones */
	size_t ended_count;
	struct {
		struct rcore_fiber *items;
		size_t count, capacity;
	} fibers;
	struct rcore_address_map thread_at; /* rb_thread_t to index */
	struct rcore_address_map fiber_at;  /* rb_fiber_t to index */
	/* more searches, for fibers that the first one did not find */
	size_t searches;
};

/*
 * Returns the index of a fiber that has not changed since the earlier reading,
 * or -1. Most searches find the fibers in the same order as the earlier one.
 */
static inline int rcore_unchanged_fiber(const struct rcore_ruby *ruby, uint64_t address)
{
	struct rcore_earlier_fibers *earlier = ruby->earlier_fibers;
	if (!earlier)
		return -1;
	int index =
		earlier->next < earlier->count && earlier->addresses[earlier->next] == address
			? (int)earlier->next
			: rcore_address_map_get(&earlier->indices, address);
	if (index >= 0)
		earlier->next = (size_t)index + 1;
	return index >= 0 && earlier->unchanged[index] ? index : -1;
}

/*
 * Each of these functions adds what it finds to the loader. Error: NO_MEMORY
 * only.
 */
struct rcore_error *rcore_load_threads(struct rcore_loader *loader);
/*
 * Sets is_current and is_root, which the frames' decoder needs. Fibers have no
 * threads yet.
 */
struct rcore_error *rcore_find_fibers(struct rcore_loader *loader);
/* Sets fiber->problem to "fiber at 0x...: WHAT", unless it has a problem. */
void rcore_note_fiber(struct rcore_loader *loader, struct rcore_fiber *fiber, const char *what);
struct rcore_error *rcore_load_frames(struct rcore_loader *loader, struct rcore_fiber *fiber);
/* Sets each fiber's thread, and the ids of both. */
struct rcore_error *rcore_assign_fibers(struct rcore_loader *loader);

/* Sets is_parked of the threads and fibers after all are loaded. */
void rcore_mark_parked(struct rcore_loader *loader);

/*
 * Adds the thread at `address`; *ret is its index. `ractor` is an index or -1.
 */
struct rcore_error *rcore_load_thread(struct rcore_loader *loader, uint64_t address, int ractor,
				      bool is_ended, int *ret);

/*
 * Whether a thread, given by its index, is in a system call, which is returned
 * in *ret. Returns false also if there is no such thread or its registers are
 * not known.
 */
bool rcore_thread_syscall(const struct rcore_loader *loader, int thread,
			  struct rcore_syscall *ret);

/*
 * Sets native_label, native_path and native_line of a fiber's frames to what
 * this Ruby's own Thread#backtrace returns. Mirrors
 * rb_ec_partial_backtrace_object() of vm_backtrace.c (up to 2.7,
 * backtrace_each()): a C function gets the path and line of the next Ruby frame
 * outwards.
 */
void rcore_native_backtrace(struct rcore_loader *loader, struct rcore_fiber *fiber);

#endif
