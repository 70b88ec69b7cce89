/* SPDX-License-Identifier: MIT */
#include "fake_vm.h"

#include <stdlib.h>
#include <string.h>

#include "ruby/object/value.h"
#include "ruby/iseq/frame_flags.h"

enum {
	WORD = sizeof(uint64_t),
	STACK_WORDS = 512,
	SLOT = 40,
	SLOT_COUNT = 64,
	MAIN_TID = 100,
};

uint64_t fake_get_field(struct fake_ruby *ruby, uint64_t base, const struct rcore_field *field)
{
	uint64_t value = 0;
	if (rcore_has(field) && rcore_read_field(&ruby->target.memory, base, field, &value))
		abort();
	return value;
}

static uint64_t nil(const struct fake_vm *vm)
{
	return (uint64_t)vm->ruby.layout.constant.qnil;
}

void fake_list_init(struct fake_vm *vm, uint64_t head)
{
	fake_put(&vm->ruby.target, head, head);
	fake_put(&vm->ruby.target, head + WORD, head);
}

static uint64_t word(struct fake_vm *vm, uint64_t address)
{
	uint64_t value;
	if (rcore_read_u64(&vm->ruby.target.memory, address, &value))
		abort();
	return value;
}

/* Adds the node at the tail. */
void fake_list_add(struct fake_vm *vm, uint64_t head, uint64_t node)
{
	uint64_t last = word(vm, head + WORD);
	fake_put(&vm->ruby.target, node, head);
	fake_put(&vm->ruby.target, node + WORD, last);
	fake_put(&vm->ruby.target, last, node);
	fake_put(&vm->ruby.target, head + WORD, node);
}

uint64_t fake_data_type(struct fake_vm *vm, const char *name)
{
	uint64_t type = fake_alloc(&vm->ruby.target, vm->ruby.layout.data_type.size, 8);
	uint64_t text = fake_alloc(&vm->ruby.target, strlen(name) + 1, 8);
	fake_write(&vm->ruby.target, text, name, strlen(name) + 1);
	FAKE_PUT(vm, type, data_type, wrap_struct_name, text);
	return type;
}

/* A T_DATA object in the heap. */
uint64_t fake_data(struct fake_vm *vm, uint64_t type, uint64_t data)
{
	uint64_t object = vm->slot;
	if (object == vm->slots_end)
		abort();
	vm->slot += SLOT;
	uint64_t typed = rcore_has(&vm->ruby.layout.data.typed_flag)
				 ? 0
				 : (uint64_t)vm->ruby.layout.constant.typed_fl_is_typed_data;
	FAKE_PUT(vm, object, basic, flags, RCORE_T_DATA | typed);
	FAKE_PUT(vm, object, data, typed_flag, 1);
	FAKE_PUT(vm, object, data, type, type);
	FAKE_PUT(vm, object, data, data, data);
	return object;
}

uint64_t fake_ractor(struct fake_vm *vm, uint64_t id, const char *name)
{
	const struct rcore_layout *layout = &vm->ruby.layout;
	if (!rcore_has(&layout->vm.ractor_set))
		return 0;
	uint64_t ractor = fake_alloc(&vm->ruby.target, layout->ractor.size, 8);
	FAKE_PUT(vm, ractor, ractor, id, id);
	FAKE_PUT(vm, ractor, ractor, name, name ? fake_string(&vm->ruby, name) : nil(vm));
	fake_list_init(vm, ractor + (uint64_t)layout->ractor.threads_set.offset);
	if (rcore_has(&layout->ractor.sched_readyq))
		fake_list_init(vm, ractor + (uint64_t)layout->ractor.sched_readyq.offset);
	if (rcore_has(&layout->ractor.gvl_waitq))
		fake_list_init(vm, ractor + (uint64_t)layout->ractor.gvl_waitq.offset);
	fake_list_add(vm, vm->address + (uint64_t)layout->vm.ractor_set.offset,
		      ractor + (uint64_t)layout->ractor.vmlr_node.offset);
	FAKE_PUT(vm, vm->address, vm, ractor_count,
		 FAKE_GET(vm, vm->address, vm, ractor_count) + 1);
	return ractor;
}

/* Each new node becomes the head of the list. */
static void list_fiber(struct fake_vm *vm, uint64_t fiber)
{
	const struct rcore_layout *layout = &vm->ruby.layout;
	if (!layout->traits.fibers_listed)
		return;
	uint64_t node = fake_alloc(&vm->ruby.target, layout->jit_cont.size, 8);
	FAKE_PUT(vm, fiber, fiber, jit_cont, node);
	FAKE_PUT(vm, node, jit_cont, ec, fiber + (uint64_t)layout->fiber.saved_ec.offset);
	FAKE_PUT(vm, node, jit_cont, next, vm->newest);
	if (vm->newest)
		FAKE_PUT(vm, vm->newest, jit_cont, prev, node);
	vm->newest = node;
}

static uint64_t ec_of(const struct fake_vm *vm, uint64_t fiber)
{
	return fiber + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
}

uint64_t fake_cfp(struct fake_vm *vm, uint64_t fiber)
{
	return FAKE_GET(vm, ec_of(vm, fiber), ec, cfp);
}

static void make_stack(struct fake_vm *vm, uint64_t fiber)
{
	uint64_t stack = fake_alloc(&vm->ruby.target, STACK_WORDS * WORD, 4096);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, vm_stack, stack);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, vm_stack_size, STACK_WORDS);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, cfp, stack + STACK_WORDS * WORD);
	fake_push(vm, fiber,
		  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_DUMMY | RCORE_ENV_LOCAL |
						RCORE_FRAME_FINISH | RCORE_FRAME_CFRAME,
				       .pc = -1});
}

static uint64_t make_fiber(struct fake_vm *vm, uint64_t thread, enum rcore_fiber_status status)
{
	uint64_t fiber = fake_alloc(&vm->ruby.target, vm->ruby.layout.fiber.size, 16);
	FAKE_PUT(vm, fiber, fiber, type, 1);
	FAKE_PUT(vm, fiber, fiber, status, status);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, fiber_ptr, fiber);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, thread_ptr, thread);
	list_fiber(vm, fiber);
	if (status == RCORE_FIBER_RESUMED || status == RCORE_FIBER_SUSPENDED)
		make_stack(vm, fiber);
	return fiber;
}

void fake_machine_stack(struct fake_vm *vm, uint64_t fiber)
{
	enum { SIZE = 4096 };
	if (!rcore_has(&vm->ruby.layout.fiber.stack_base))
		return;
	uint64_t stack = fake_alloc(&vm->ruby.target, SIZE, 16);
	FAKE_PUT(vm, fiber, fiber, stack_base, stack);
	FAKE_PUT(vm, fiber, fiber, stack_size, SIZE);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, machine_stack_start, stack + SIZE);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, machine_stack_maxsize, SIZE);
}

uint64_t fake_fiber(struct fake_vm *vm, uint64_t thread, enum rcore_fiber_status status)
{
	uint64_t fiber = make_fiber(vm, thread, status);
	uint64_t object = fake_data(vm, vm->fiber_type, fiber);
	FAKE_PUT(vm, object, basic, klass, vm->fiber_class);
	FAKE_PUT(vm, fiber, fiber, self, object);
	return fiber;
}

uint64_t fake_current_fiber(struct fake_vm *vm, uint64_t thread)
{
	return FAKE_GET(vm, thread, thread, ec) -
	       (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
}

void fake_resume(struct fake_vm *vm, uint64_t thread, uint64_t fiber)
{
	uint64_t before = fake_current_fiber(vm, thread);
	if (!FAKE_GET(vm, thread, thread, root_fiber))
		FAKE_PUT(vm, thread, thread, root_fiber, before);
	/*
	 * Before 3.0, a fiber that waits for another one is suspended like any
	 * other.
	 */
	if (!rcore_has(&vm->ruby.layout.fiber.resuming_fiber))
		FAKE_PUT(vm, before, fiber, status, RCORE_FIBER_SUSPENDED);
	FAKE_PUT(vm, before, fiber, resuming_fiber,
		 vm->ruby.layout.traits.resuming_object ? FAKE_GET(vm, fiber, fiber, self)
							: fiber);
	FAKE_PUT(vm, fiber, fiber, prev, before);
	FAKE_PUT(vm, fiber, fiber, status, RCORE_FIBER_RESUMED);
	FAKE_PUT(vm, thread, thread, ec, ec_of(vm, fiber));
}

static void put_tid(struct fake_vm *vm, uint64_t thread, int tid)
{
	if (rcore_has(&vm->ruby.layout.thread.nt)) {
		uint64_t nt =
			fake_alloc(&vm->ruby.target, vm->ruby.layout.native_thread.size, 8);
		FAKE_PUT(vm, nt, native_thread, tid, (uint64_t)tid);
		FAKE_PUT(vm, nt, native_thread, thread_id, (uint64_t)tid << 12);
		FAKE_PUT(vm, thread, thread, nt, nt);
	}
	FAKE_PUT(vm, thread, thread, tid, (uint64_t)tid);
	FAKE_PUT(vm, thread, thread, thread_id, (uint64_t)tid << 12);
}

static void list_thread(struct fake_vm *vm, uint64_t thread, uint64_t ractor)
{
	const struct rcore_layout *layout = &vm->ruby.layout;
	uint64_t node = thread + (uint64_t)layout->thread.node.offset;
	if (!ractor) {
		fake_list_add(vm, vm->address + (uint64_t)layout->vm.living_threads.offset,
			      node);
		FAKE_PUT(vm, vm->address, vm, living_count,
			 FAKE_GET(vm, vm->address, vm, living_count) + 1);
		return;
	}
	fake_list_add(vm, ractor + (uint64_t)layout->ractor.threads_set.offset, node);
	FAKE_PUT(vm, ractor, ractor, threads_count,
		 FAKE_GET(vm, ractor, ractor, threads_count) + 1);
	FAKE_PUT(vm, thread, thread, ractor, ractor);
	if (!FAKE_GET(vm, ractor, ractor, threads_main))
		FAKE_PUT(vm, ractor, ractor, threads_main, thread);
}

uint64_t fake_thread(struct fake_vm *vm, const struct fake_thread *of)
{
	uint64_t thread = fake_alloc(&vm->ruby.target, vm->ruby.layout.thread.size, 8);
	uint64_t ractor = of->ractor ? of->ractor : vm->ractor;
	FAKE_PUT(vm, thread, thread, vm, vm->address);
	FAKE_PUT(vm, thread, thread, self, fake_data(vm, vm->thread_type, thread));
	FAKE_PUT(vm, thread, thread, status, of->status);
	FAKE_PUT(vm, thread, thread, to_kill, of->to_kill);
	FAKE_PUT(vm, thread, thread, name,
		 of->name ? fake_string(&vm->ruby, of->name) : nil(vm));
	FAKE_PUT(vm, thread, thread, blocking_region_buffer, of->in_blocking_region);
	put_tid(vm, thread, of->tid);
	if (of->has_ended)
		return thread;
	FAKE_PUT(vm, thread, thread, ec,
		 ec_of(vm, make_fiber(vm, thread, RCORE_FIBER_RESUMED)));
	list_thread(vm, thread, ractor);
	if (of->holds_gvl) {
		FAKE_PUT(vm, ractor, ractor, sched_running, thread);
		FAKE_PUT(vm, ractor, ractor, gvl_owner, thread);
		FAKE_PUT(vm, vm->address, vm, gvl_owner, thread);
	}
	return thread;
}

void fake_vm_init(struct fake_vm *vm, const struct rcore_layout *layout)
{
	static const uint64_t flags[SLOT_COUNT] = {0};
	struct fake_page page = {SLOT, SLOT_COUNT, flags};
	*vm = (struct fake_vm){0};
	fake_ruby_init(&vm->ruby, layout);
	vm->address = fake_alloc(&vm->ruby.target, layout->vm.size, 8);
	vm->objspace = fake_objspace(&vm->ruby, &page, 1, &vm->slot);
	vm->slots_end = vm->slot + SLOT * SLOT_COUNT;
	vm->fiber_type = fake_data_type(vm, "fiber");
	vm->fiber_class = fake_class(&vm->ruby, &(struct fake_class){.type = RCORE_T_CLASS,
								     .path = "Fiber",
								     .permanent = true});
	vm->thread_type = fake_data_type(vm, "VM/thread");
	FAKE_PUT(vm, vm->address, vm, objspace, vm->objspace);
	if (rcore_has(&layout->vm.shape_list))
		FAKE_PUT(vm, vm->address, vm, shape_list, vm->ruby.shapes);
	if (rcore_has(&layout->vm.ractor_set))
		fake_list_init(vm, vm->address + (uint64_t)layout->vm.ractor_set.offset);
	else
		fake_list_init(vm, vm->address + (uint64_t)layout->vm.living_threads.offset);
	if (rcore_has(&layout->vm.gvl_waitq))
		fake_list_init(vm, vm->address + (uint64_t)layout->vm.gvl_waitq.offset);
	if (rcore_has(&layout->vm.waiting_fds))
		fake_list_init(vm, vm->address + (uint64_t)layout->vm.waiting_fds.offset);
	vm->ractor = fake_ractor(vm, 1, NULL);
	vm->main_thread = fake_thread(vm, &(struct fake_thread){.status = RCORE_THREAD_RUNNABLE,
								.tid = MAIN_TID,
								.holds_gvl = true});
	FAKE_PUT(vm, vm->address, vm, main_thread, vm->main_thread);
	FAKE_PUT(vm, vm->address, vm, main_ractor, vm->ractor);
}

void fake_vm_deinit(struct fake_vm *vm)
{
	fake_ruby_deinit(&vm->ruby);
}

/* The lowest free word above the environments of the frames so far. */
static uint64_t stack_top(struct fake_vm *vm, uint64_t fiber)
{
	uint64_t stack = FAKE_GET(vm, ec_of(vm, fiber), ec, vm_stack);
	uint64_t cfp = fake_cfp(vm, fiber);
	uint64_t end = stack + STACK_WORDS * WORD;
	return cfp == end ? stack : FAKE_GET(vm, cfp, cfp, sp);
}

static uint64_t make_env(struct fake_vm *vm, uint64_t address, const struct fake_frame *of)
{
	fake_put(&vm->ruby.target, address, of->me_cref);
	fake_put(&vm->ruby.target, address + WORD, of->outer);
	fake_put(&vm->ruby.target, address + 2 * WORD,
		 of->flags | (of->escaped ? RCORE_ENV_ESCAPED : 0));
	return address + 2 * WORD;
}

static uint64_t make_escaped_env(struct fake_vm *vm, const struct fake_frame *of)
{
	const struct rcore_layout *layout = &vm->ruby.layout;
	uint64_t ep = make_env(vm, fake_alloc(&vm->ruby.target, 4 * WORD, 8), of);
	uint64_t env = fake_imemo(&vm->ruby, layout->traits.imemo_env, layout->env.size);
	FAKE_PUT(vm, env, env, ep, ep);
	fake_put(&vm->ruby.target, ep + WORD, env);
	return ep;
}

uint64_t fake_push(struct fake_vm *vm, uint64_t fiber, const struct fake_frame *of)
{
	uint64_t top = stack_top(vm, fiber);
	uint64_t cfp = fake_cfp(vm, fiber) - vm->ruby.layout.cfp.size;
	uint64_t ep = make_env(vm, top, of);
	if (of->escaped)
		ep = make_escaped_env(vm, of);
	if (top + 3 * WORD > cfp)
		abort();
	FAKE_PUT(vm, cfp, cfp, pc,
		 of->pc < 0 ? 0
			    : fake_iseq_code(&vm->ruby, of->iseq) + (uint64_t)of->pc * WORD);
	FAKE_PUT(vm, cfp, cfp, sp, top + 3 * WORD);
	FAKE_PUT(vm, cfp, cfp, iseq, of->iseq);
	FAKE_PUT(vm, cfp, cfp, self, of->self);
	FAKE_PUT(vm, cfp, cfp, ep, ep);
	FAKE_PUT(vm, ec_of(vm, fiber), ec, cfp, cfp);
	return ep;
}
