/* SPDX-License-Identifier: MIT */
#ifndef FAKE_VM_H
#define FAKE_VM_H

#include "fake_ruby.h"
#include "model/snapshot.h"

/*
 * A VM of CRuby in fake memory, with the offsets of a layout: one Ractor (from
 * 3.0 on), its main thread with a root fiber, and what a test adds. A Ractor,
 * thread or fiber is known by the address of its struct.
 */
struct fake_vm {
	struct fake_ruby ruby;
	uint64_t address, objspace, ractor, main_thread;
	uint64_t slot, slots_end; /* of the heap's page, for Thread and Fiber objects */
	uint64_t fiber_type, thread_type, fiber_class;
	uint64_t newest; /* the newest rb_jit_cont; 0: none */
	int next_tid;
};

/* `layout` is copied. */
void fake_vm_init(struct fake_vm *vm, const struct rcore_layout *layout);
void fake_vm_deinit(struct fake_vm *vm);

/* Adds a Ractor without threads. Before 3.0, adds nothing and returns 0. */
uint64_t fake_ractor(struct fake_vm *vm, uint64_t id, const char *name);

struct fake_thread {
	uint64_t ractor; /* 0: the main one */
	enum rcore_thread_status status;
	const char *name; /* NULL: nil */
	int tid;
	bool to_kill, holds_gvl, in_blocking_region;
	bool has_ended; /* in no list, without EC */
};
/*
 * Makes a thread that runs its root fiber. Its stack has only the dummy frame
 * (VM_FRAME_MAGIC_DUMMY), which th_init() of vm.c pushes first.
 */
uint64_t fake_thread(struct fake_vm *vm, const struct fake_thread *of);

/*
 * Makes a fiber with its Fiber object, and with a stack if its status has one.
 */
uint64_t fake_fiber(struct fake_vm *vm, uint64_t thread, enum rcore_fiber_status status);
/*
 * Makes the fiber's own machine stack, with the bounds in its EC if the layout
 * has them.
 */
void fake_machine_stack(struct fake_vm *vm, uint64_t fiber);
/* Returns the fiber that a thread runs. */
uint64_t fake_current_fiber(struct fake_vm *vm, uint64_t thread);
/* Lets the fiber that a thread runs resume another one, which then runs. */
void fake_resume(struct fake_vm *vm, uint64_t thread, uint64_t fiber);

/* A T_DATA object around the struct at `data`, and a type for it. */
uint64_t fake_data_type(struct fake_vm *vm, const char *name);
uint64_t fake_data(struct fake_vm *vm, uint64_t type, uint64_t data);

/* ccan lists: an empty one, and a new last node. */
void fake_list_init(struct fake_vm *vm, uint64_t head);
void fake_list_add(struct fake_vm *vm, uint64_t head, uint64_t node);

struct fake_frame {
	uint32_t flags; /* ep[0]: magic and flags */
	uint64_t iseq;
	int64_t pc; /* words into the iseq's code; -1: NULL */
	uint64_t self;
	uint64_t me_cref, outer; /* ep[-2], ep[-1] */
	bool escaped;            /* the environment is in the heap */
};
/*
 * Pushes a frame on a fiber's stack as the new innermost one. Returns its ep.
 */
uint64_t fake_push(struct fake_vm *vm, uint64_t fiber, const struct fake_frame *of);
/* Returns the address of the innermost frame. */
uint64_t fake_cfp(struct fake_vm *vm, uint64_t fiber);

/* Read and write a field, named as in fields.def. */
#define FAKE_GET(vm, base, struct_id, id) \
	fake_get_field(&(vm)->ruby, base, &(vm)->ruby.layout.struct_id.id)
#define FAKE_PUT(vm, base, struct_id, id, value) \
	fake_put_field(&(vm)->ruby.target, base, &(vm)->ruby.layout.struct_id.id, value)
uint64_t fake_get_field(struct fake_ruby *ruby, uint64_t base, const struct rcore_field *field);

#endif
