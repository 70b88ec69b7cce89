/* SPDX-License-Identifier: MIT */
#ifndef RCORE_VM_ROOTS_H
#define RCORE_VM_ROOTS_H

#include "model/heap/heap.h"
#include "ruby/ruby.h"

/* A kernel thread: its registers, one of which is the stack pointer. */
struct rcore_roots_thread {
	uint64_t sp;
	uint64_t thread_pointer; /* 0: unknown */
	const uint64_t *registers;
	size_t register_count;
};

struct rcore_roots_source {
	uint64_t vm, objspace;
	const struct rcore_roots_thread *threads;
	size_t thread_count;
	/* How many bytes of all machine stacks together are read, at most. */
	uint64_t stack_limit;
};

/* Each word that is read may be a root, so this also limits the roots. */
#define RCORE_ROOTS_STACK_LIMIT (UINT64_C(256) << 20)

/*
 * Finds what the collector starts from, as gc_mark_roots() of gc.c
 * (rb_gc_mark_roots() from 3.4 on) and rb_vm_mark() of vm.c do, and appends it
 * to heap->roots: members of the VM, Ractors, what rb_gc_register_address()
 * registered, finalizers, global variables, at_exit blocks, and machine stacks.
 * Threads and their VM stacks are edges of Ractors. Skips what cannot be read;
 * heap->problem then says so. Error: NO_MEMORY.
 */
struct rcore_error *rcore_roots_find(struct rcore_ruby *ruby,
				     const struct rcore_roots_source *source,
				     struct rcore_heap *heap);

#endif
