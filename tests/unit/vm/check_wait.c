/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "layout/schema.h"
#include "ruby/iseq/frame_flags.h"
#include "vm_suite.h"

/* Locks, queues and lists of waiters, added to the world of vm_suite.h. */

#define LAYOUT                  (world.vm.ruby.layout)
#define AT(base, struct_id, id) ((base) + (uint64_t)LAYOUT.struct_id.id.offset)

static uint64_t alloc(size_t size)
{
	return fake_alloc(&world.vm.ruby.target, size, 8);
}

static uint64_t thread_of(uint64_t fiber)
{
	return FAKE_GET(&world.vm, AT(fiber, fiber, saved_ec), ec, thread_ptr);
}

static uint64_t sleeping(void)
{
	return fake_current_fiber(&world.vm, world.sleeper);
}

/*
 * Creates a Mutex that the fiber holds, the newest of its thread's; 0: nobody
 * holds it.
 */
static uint64_t mutex(uint64_t owner, uint64_t *object)
{
	struct fake_vm *vm = &world.vm;
	uint64_t made = alloc(LAYOUT.mutex.size);
	fake_list_init(vm, AT(made, mutex, waitq));
	if (object)
		*object = fake_data(vm, fake_data_type(vm, "mutex"), made);
	if (!owner)
		return made;
	if (rcore_has(&LAYOUT.mutex.ec_serial)) {
		uint64_t ec = AT(owner, fiber, saved_ec);
		if (!FAKE_GET(vm, ec, ec, serial))
			FAKE_PUT(vm, ec, ec, serial, made); /* as good a number as any */
		FAKE_PUT(vm, made, mutex, ec_serial, FAKE_GET(vm, ec, ec, serial));
	}
	FAKE_PUT(vm, made, mutex, fiber, owner);
	if (!rcore_has(&LAYOUT.mutex.fiber))
		FAKE_PUT(vm, made, mutex, thread, thread_of(owner));
	FAKE_PUT(vm, made, mutex, next_mutex,
		 FAKE_GET(vm, thread_of(owner), thread, keeping_mutexes));
	FAKE_PUT(vm, thread_of(owner), thread, keeping_mutexes, made);
	return made;
}

/* Adds the fiber to the ring at `head` and returns its sync_waiter. */
static uint64_t waiter(uint64_t head, uint64_t object, uint64_t fiber)
{
	uint64_t made = alloc(LAYOUT.sync_waiter.size);
	FAKE_PUT(&world.vm, made, sync_waiter, self, object);
	FAKE_PUT(&world.vm, made, sync_waiter, th, thread_of(fiber));
	FAKE_PUT(&world.vm, made, sync_waiter, fiber, fiber);
	fake_list_add(&world.vm, head, AT(made, sync_waiter, node));
	return made;
}

static uint64_t lock_wanted(uint64_t owner, uint64_t who, uint64_t *object)
{
	uint64_t made = mutex(owner, object);
	FAKE_PUT(&world.vm, thread_of(who), thread, locking_mutex, *object);
	return waiter(AT(made, mutex, waitq), *object, who);
}

static const struct rcore_wait *wait_of(const struct rcore_snapshot *snapshot, uint64_t fiber)
{
	return world_fiber(snapshot, fiber)->wait;
}

static uint64_t owner_address(const struct rcore_snapshot *snapshot,
			      const struct rcore_owner *owner)
{
	return owner->fiber < 0 ? 0 : snapshot->fibers[owner->fiber].address;
}

START_TEST(test_locks)
{
	world_begin(_i);
	uint64_t wanted, free_one, other = mutex(world.parked, NULL);
	lock_wanted(world.running, sleeping(), &wanted);
	mutex(0, &free_one);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_null(snapshot->wait_problem);
	ck_assert_uint_eq(snapshot->lock_count, 2);

	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_MUTEX && wait->source == RCORE_WAIT_BY_VM);
	ck_assert_uint_eq(wait->object, wanted);
	const struct rcore_lock *lock = &snapshot->locks[0];
	ck_assert_uint_eq(lock->object, wanted);
	ck_assert_uint_eq(lock->address, wait->lock);
	ck_assert_uint_eq(lock->waiter_count, 1);
	ck_assert_uint_eq(snapshot->fibers[lock->waiters[0]].address, sleeping());
	ck_assert_int_eq(lock->owner.thread, 0);
	ck_assert_int_eq(wait->owner.thread, 0);
	bool by_fiber = rcore_has(&LAYOUT.mutex.fiber) || rcore_has(&LAYOUT.mutex.ec_serial);
	ck_assert_uint_eq(owner_address(snapshot, &wait->owner), by_fiber ? world.running : 0);

	/* No object that is found has this lock. */
	ck_assert_uint_eq(snapshot->locks[1].address, other);
	ck_assert_uint_eq(snapshot->locks[1].object, 0);
	ck_assert_uint_eq(snapshot->locks[1].waiter_count, 0);
	ck_assert_ptr_null(wait_of(snapshot, world.running));
	ck_assert_ptr_null(wait_of(snapshot, world.parked));
	world_free(snapshot);
}
END_TEST

/*
 * A frame of its holder refers to the lock; the Monitor is preferred to its
 * Mutex.
 */
START_TEST(test_names)
{
	world_begin(_i);
	uint64_t inner, monitor = 0, made = mutex(world.parked, &inner);
	uint64_t named = inner;
	if (LAYOUT.monitor.size) {
		monitor = alloc(LAYOUT.monitor.size);
		FAKE_PUT(&world.vm, monitor, monitor, mutex, inner);
		FAKE_PUT(&world.vm, monitor, monitor, count, 3);
		named = fake_data(&world.vm, fake_data_type(&world.vm, "monitor"), monitor);
	}
	fake_push(&world.vm, world.parked,
		  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
						RCORE_FRAME_CFRAME,
				       .pc = -1,
				       .self = named,
				       .me_cref = world.each_method});
	waiter(AT(made, mutex, waitq), inner, sleeping());
	FAKE_PUT(&world.vm, world.sleeper, thread, locking_mutex, inner);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->lock_count, 1);
	ck_assert_uint_eq(snapshot->locks[0].object, named);
	ck_assert_int_eq(snapshot->locks[0].kind,
			 monitor ? RCORE_LOCK_MONITOR : RCORE_LOCK_MUTEX);
	ck_assert_uint_eq(snapshot->locks[0].count, monitor ? 3 : 0);
	ck_assert_int_eq(wait_of(snapshot, sleeping())->kind,
			 monitor ? RCORE_WAIT_MONITOR : RCORE_WAIT_MUTEX);
	ck_assert_uint_eq(wait_of(snapshot, sleeping())->object, named);
	world_free(snapshot);
}
END_TEST

START_TEST(test_broken_locks)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t object, first = lock_wanted(world.running, sleeping(), &object);
	uint64_t held = FAKE_GET(vm, vm->main_thread, thread, keeping_mutexes);

	/* A chain with a cycle. */
	FAKE_PUT(vm, held, mutex, next_mutex, held);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, "in the list twice"));
	ck_assert_uint_eq(snapshot->lock_count, 1);
	world_free(snapshot);

	/* A chain that points nowhere. */
	FAKE_PUT(vm, held, mutex, next_mutex, 0x10);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, "rb_mutex_t"));
	ck_assert_uint_eq(snapshot->lock_count, 1);
	world_free(snapshot);
	FAKE_PUT(vm, held, mutex, next_mutex, 0);

	/* A ring of waiters that is not closed; those before that are kept. */
	uint64_t node = AT(first, sync_waiter, node);
	fake_put(&vm->ruby.target, node, node);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->locks[0].problem, "does not point back"));
	ck_assert_uint_eq(snapshot->locks[0].waiter_count, 1);
	world_free(snapshot);
	fake_put(&vm->ruby.target, node, AT(held, mutex, waitq));

	/* A waiter without a thread; the thread itself says what it wants. */
	FAKE_PUT(vm, first, sync_waiter, th, 0x1000);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->locks[0].problem, "not a thread or fiber"));
	ck_assert_uint_eq(snapshot->locks[0].waiter_count, 1);
	ck_assert_uint_eq(snapshot->fibers[snapshot->locks[0].waiters[0]].address, sleeping());
	world_free(snapshot);

	/* Nobody says it. */
	FAKE_PUT(vm, world.sleeper, thread, locking_mutex, 0);
	snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->locks[0].waiter_count, 0);
	world_free(snapshot);

	/* An owner that no longer exists; the thread still has the lock. */
	if (rcore_has(&LAYOUT.mutex.fiber) || rcore_has(&LAYOUT.mutex.ec_serial)) {
		FAKE_PUT(vm, held, mutex, fiber, 0xdead000);
		FAKE_PUT(vm, held, mutex, ec_serial, 0xdead000);
		snapshot = world_load_whole();
		ck_assert_int_eq(snapshot->locks[0].owner.fiber, -1);
		ck_assert_int_eq(snapshot->locks[0].owner.thread, 0);
		ck_assert_uint_eq(snapshot->locks[0].owner.address, 0xdead000);
		world_free(snapshot);
	}
}
END_TEST

/*
 * Waiters that were read keep their order, and those that are only known from
 * their threads follow.
 */
START_TEST(test_order_of_waiters)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t object, other = fake_current_fiber(vm, world.other);
	lock_wanted(world.running, other, &object);
	uint64_t held = FAKE_GET(vm, vm->main_thread, thread, keeping_mutexes);
	uint64_t second = waiter(AT(held, mutex, waitq), object, sleeping());
	FAKE_PUT(vm, waiter(AT(held, mutex, waitq), object, other), sync_waiter, th, 0x1000);
	FAKE_PUT(vm, world.sleeper, thread, locking_mutex, object);
	for (int i = 0; i < 2; i++) {
		struct rcore_snapshot *snapshot = world_load_whole();
		const struct rcore_lock *lock = &snapshot->locks[0];
		ck_assert_uint_eq(snapshot->lock_count, 1);
		ck_assert_ptr_nonnull(lock->problem);
		ck_assert_uint_eq(lock->waiter_count, 2);
		ck_assert_uint_eq(snapshot->fibers[lock->waiters[0]].address, other);
		ck_assert_uint_eq(snapshot->fibers[lock->waiters[1]].address, sleeping());
		ck_assert_int_gt(lock->waiters[0], lock->waiters[1]);
		world_free(snapshot);
		FAKE_PUT(vm, second, sync_waiter, th, 0x1000);
	}

	/* Nobody holds it any more. */
	FAKE_PUT(vm, vm->main_thread, thread, keeping_mutexes, 0);
	FAKE_PUT(vm, held, mutex, fiber, 0);
	FAKE_PUT(vm, held, mutex, ec_serial, 0);
	if (!rcore_has(&LAYOUT.mutex.fiber))
		FAKE_PUT(vm, held, mutex, thread, 0);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_uint_eq(snapshot->lock_count, 0);
	world_free(snapshot);
}
END_TEST

static uint64_t joiner(uint64_t target, uint64_t fiber)
{
	struct fake_vm *vm = &world.vm;
	uint64_t made = alloc(LAYOUT.join_waiter.size);
	FAKE_PUT(vm, made, join_waiter, next, FAKE_GET(vm, target, thread, join_list));
	FAKE_PUT(vm, made, join_waiter, thread, thread_of(fiber));
	FAKE_PUT(vm, made, join_waiter, fiber, fiber);
	FAKE_PUT(vm, target, thread, join_list, made);
	return made;
}

START_TEST(test_joins)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t entry = joiner(vm->main_thread, sleeping());
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_null(snapshot->wait_problem);
	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_JOIN && wait->source == RCORE_WAIT_BY_VM);
	ck_assert_int_eq(wait->thread, 0);
	ck_assert_uint_eq(wait->object, snapshot->threads[0].object);
	world_free(snapshot);

	/*
	 * One more waiter that is linked but not filled yet, of the function at
	 * the top of some stack.
	 */
	uint64_t empty = alloc(LAYOUT.join_waiter.size);
	uint64_t *sp =
		&world.process.threads->registers[rcore_register_sp(world.process.machine)];
	FAKE_PUT(vm, empty, join_waiter, next, entry);
	FAKE_PUT(vm, vm->main_thread, thread, join_list, empty);
	world.process.threads->has_registers = true;
	*sp = empty - 16;
	snapshot = world_load_whole();
	ck_assert_ptr_null(snapshot->wait_problem);
	world_free(snapshot);
	*sp = empty + 16;
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(snapshot->wait_problem);
	world_free(snapshot);
	FAKE_PUT(vm, vm->main_thread, thread, join_list, entry);

	static const char *const words = "threads that join T1";
	FAKE_PUT(vm, entry, join_waiter, next, entry);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, "has a cycle"));
	world_free(snapshot);
	uint64_t second = joiner(vm->main_thread, sleeping());
	uint64_t third = joiner(vm->main_thread, sleeping());
	FAKE_PUT(vm, entry, join_waiter, next, second);
	ck_assert_uint_ne(third, second);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, words));
	world_free(snapshot);
	FAKE_PUT(vm, entry, join_waiter, next, 0x10);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, words));
	ck_assert_ptr_nonnull(wait_of(snapshot, sleeping()));
	world_free(snapshot);
}
END_TEST

static uint64_t gvl_queue(const struct rcore_field **node)
{
	*node = rcore_has(&LAYOUT.thread.readyq_node) ? &LAYOUT.thread.readyq_node
						      : &LAYOUT.thread.gvl_node;
	if (rcore_has(&LAYOUT.vm.gvl_waitq))
		return AT(world.vm.address, vm, gvl_waitq);
	return rcore_has(&LAYOUT.ractor.sched_readyq)
		       ? AT(world.vm.ractor, ractor, sched_readyq)
		       : AT(world.vm.ractor, ractor, gvl_waitq);
}

START_TEST(test_gvl)
{
	world_begin(_i);
	const struct rcore_field *node;
	uint64_t head = gvl_queue(&node);
	fake_list_add(&world.vm, head, world.sleeper + (uint64_t)node->offset);
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_GVL && wait->source == RCORE_WAIT_BY_VM);
	ck_assert_int_eq(wait->owner.thread, 0);
	world_free(snapshot);

	fake_put(&world.vm.ruby.target, head, 0x10);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem, "threads that wait for the GVL"));
	ck_assert_ptr_null(wait_of(snapshot, sleeping()));
	world_free(snapshot);
}
END_TEST

START_TEST(test_waiting_fds)
{
	world_begin(_i);
	if (!rcore_has(&LAYOUT.vm.waiting_fds))
		return;
	uint64_t entry = alloc(LAYOUT.waiting_fd.size);
	FAKE_PUT(&world.vm, entry, waiting_fd, th, world.sleeper);
	FAKE_PUT(&world.vm, entry, waiting_fd, fd, 7);
	fake_list_add(&world.vm, AT(world.vm.address, vm, waiting_fds),
		      AT(entry, waiting_fd, node));
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_IO && wait->fd_count == 1);
	ck_assert_int_eq(wait->fds[0].fd, 7);
	ck_assert_ptr_null(wait->fds[0].mode);
	world_free(snapshot);

	/* Its registers show what it waits for: poll() for output. */
	uint64_t polled = alloc(8);
	fake_put(&world.vm.ruby.target, polled, 7 | (uint64_t)4 << 32);
	world.native[1].has_registers = true;
	world.native[1].register_count = 27;
	world.native[1].registers[15] = 7;
	world.native[1].registers[10] = (uint64_t)-516;
	world.native[1].registers[14] = polled;
	world.native[1].registers[13] = 1;
	snapshot = world_load_whole();
	wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->fd_count == 1);
	ck_assert_str_eq(wait->fds[0].mode, "write");
	world_free(snapshot);

	/* Zeros, for a stack that gcore could not read, are no descriptor 0. */
	fake_list_init(&world.vm, AT(world.vm.address, vm, waiting_fds));
	fake_put(&world.vm.ruby.target, polled, 0);
	snapshot = world_load_whole();
	wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_IO && !wait->fd_count);
	world_free(snapshot);
}
END_TEST

/*
 * One more waiter is being added to the list, and its own words are not written
 * yet.
 */
START_TEST(test_half_linked)
{
	enum { RUNS = -1, POLL = 7 };
	static const struct {
		bool leads_on, leads_back;
		int call;
		bool is_sound, has_prev;
	} states[] = {{true, true, RUNS, true, true},   {true, true, RUNS, true, false},
		      {true, false, RUNS, true, false}, {false, true, RUNS, true, false},
		      {true, true, POLL, false, false}, {true, true, POLL, false, true},
		      {true, false, POLL, false, false}};
	world_begin(_i);
	if (!rcore_has(&LAYOUT.vm.waiting_fds))
		return;
	uint64_t head = AT(world.vm.address, vm, waiting_fds);
	uint64_t entry = alloc(LAYOUT.waiting_fd.size), node = AT(entry, waiting_fd, node);
	FAKE_PUT(&world.vm, entry, waiting_fd, th, world.sleeper);
	FAKE_PUT(&world.vm, entry, waiting_fd, fd, 7);
	fake_list_add(&world.vm, head, node);
	uint64_t half = alloc(16);
	fake_put(&world.vm.ruby.target, half, UINT64_C(0xb000000201));
	fake_put(&world.vm.ruby.target, half + 8, 1);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		struct rcore_native_thread *native = &world.native[0];
		native->has_registers = true;
		native->register_count = 27;
		native->registers[15] = (uint64_t)(int64_t)states[i].call;
		native->registers[10] = (uint64_t)-516;
		native->registers[rcore_register_sp(EM_X86_64)] = half - 64;
		fake_put(&world.vm.ruby.target, half + 8, states[i].has_prev ? head : 1);
		fake_put(&world.vm.ruby.target, head, states[i].leads_on ? half : node);
		fake_put(&world.vm.ruby.target, node + 8, states[i].leads_back ? half : head);
		struct rcore_snapshot *snapshot = world_load_whole();
		ck_assert_msg(!snapshot->wait_problem == states[i].is_sound, "state %zu: %s", i,
			      snapshot->wait_problem ? snapshot->wait_problem : "no problem");
		const struct rcore_wait *wait = wait_of(snapshot, sleeping());
		ck_assert(!states[i].is_sound || (wait && wait->kind == RCORE_WAIT_IO));
		world_free(snapshot);
	}
}
END_TEST

/* Only registers: a descriptor, a child, more descriptors than possible. */
START_TEST(test_syscalls)
{
	static const struct {
		uint64_t number, result, first, second;
		int kind; /* -1: nothing is known */
	} calls[] = {
		{0, (uint64_t)-512, 5, 0, RCORE_WAIT_IO},
		{0, 12, 5, 0, -1},
		{(uint64_t)-1, (uint64_t)-512, 5, 0, -1},
		{61, (uint64_t)-512, 4321, 0, RCORE_WAIT_PROCESS},
		{202, (uint64_t)-512, 5, 0, -1},
		{73, (uint64_t)-512, 5, 0, RCORE_WAIT_SYSCALL},
		{9999, (uint64_t)-512, 5, 0, -1},
		{7, (uint64_t)-516, 0x10, 3, RCORE_WAIT_IO},
		{7, (uint64_t)-516, 0x10, (uint64_t)-1, RCORE_WAIT_IO},
		{23, (uint64_t)-514, (uint64_t)-1, 0x10, RCORE_WAIT_IO},
		{23, (uint64_t)-514, 64, 0x10, RCORE_WAIT_IO},
	};
	world_begin(_i);
	for (size_t i = 0; i < RCORE_COUNT(calls); i++) {
		struct rcore_native_thread *thread = &world.native[1];
		thread->has_registers = true;
		thread->register_count = 27;
		thread->registers[15] = calls[i].number;
		thread->registers[10] = calls[i].result;
		thread->registers[14] = calls[i].first;
		thread->registers[13] = calls[i].second;
		struct rcore_snapshot *snapshot = world_load_whole();
		const struct rcore_wait *wait = wait_of(snapshot, sleeping());
		ck_assert_int_eq(wait ? (int)wait->kind : -1, calls[i].kind);
		if (wait)
			ck_assert_int_eq(wait->source, RCORE_WAIT_BY_SYSCALL);
		if (calls[i].kind == RCORE_WAIT_PROCESS)
			ck_assert_int_eq(wait->pid, 4321);
		world_free(snapshot);
	}
}
END_TEST

/*
 * restart_syscall keeps the arguments: by the code before the call, or by their
 * form, it was poll().
 */
START_TEST(test_restarted)
{
	enum { ORIG_RAX = 15, RAX = 10, RIP = 16, RDI = 14, RSI = 13, LENGTH = 7 };
	/* mov $1,%eax; syscall: write() */
	static const uint64_t code = 0x050f00000001b8;
	world_begin(_i);
	uint64_t polled = alloc(8), calls = alloc(8);
	const struct {
		uint64_t rip, second;
		const char *mode; /* NULL: nothing is known */
	} states[] = {
		{0, 1, "read"},
		{0, 2, NULL},
		{0, 0x80, NULL},
		{calls + LENGTH, 1, "write"},
	};
	fake_put(&world.vm.ruby.target, polled, 5 | 1ull << 32);
	fake_put(&world.vm.ruby.target, calls, code);
	for (size_t i = 0; i < RCORE_COUNT(states); i++) {
		struct rcore_native_thread *thread = &world.native[1];
		thread->has_registers = true;
		thread->register_count = 27;
		thread->registers[ORIG_RAX] = 219;
		thread->registers[RAX] = (uint64_t)-516;
		thread->registers[RIP] = states[i].rip;
		thread->registers[RDI] = polled;
		thread->registers[RSI] = states[i].second;
		struct rcore_snapshot *snapshot = world_load_whole();
		const struct rcore_wait *wait = wait_of(snapshot, sleeping());
		ck_assert_int_eq(wait != NULL, states[i].mode != NULL);
		if (wait) {
			ck_assert_int_eq(wait->kind, RCORE_WAIT_IO);
			ck_assert_str_eq(wait->fds[0].mode, states[i].mode);
		}
		world_free(snapshot);
	}
}
END_TEST

/* The sleeping fiber is in a C function of an object. */
static void push_cfunc(uint64_t object)
{
	fake_push(&world.vm, sleeping(),
		  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
						RCORE_FRAME_CFRAME,
				       .pc = -1,
				       .self = object,
				       .me_cref = world.each_method});
}

static void add_operation(uint64_t io, uint64_t fiber)
{
	uint64_t made = alloc(LAYOUT.blocking_operation.size);
	FAKE_PUT(&world.vm, made, blocking_operation, ec, AT(fiber, fiber, saved_ec));
	fake_list_add(&world.vm, AT(io, io, blocking_operations),
		      AT(made, blocking_operation, list));
}

/*
 * An IO's list of those that use it: a thread, and, in the child of a fork, one
 * that has ended.
 */
START_TEST(test_blocking_operations)
{
	world_begin(_i);
	if (!rcore_has(&LAYOUT.io.blocking_operations))
		return;
	struct fake_vm *vm = &world.vm;
	uint64_t io = alloc(LAYOUT.io.size);
	uint64_t object = fake_object(&vm->ruby, RCORE_T_FILE, LAYOUT.file.size);
	FAKE_PUT(vm, object, file, fptr, io);
	FAKE_PUT(vm, io, io, fd, 7);
	fake_list_init(vm, AT(io, io, blocking_operations));
	push_cfunc(object);
	add_operation(io, sleeping());
	add_operation(io, world.orphan);
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_IO && wait->source == RCORE_WAIT_BY_VM);
	ck_assert(wait->fd_count == 1 && wait->fds[0].fd == 7);
	ck_assert_ptr_null(wait_of(snapshot, world.orphan));
	world_free(snapshot);
}
END_TEST

/* A queue is found as the self of a frame; its ring has the waiters. */
START_TEST(test_queue)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t made = alloc(LAYOUT.szqueue.size);
	uint64_t items[2] = {1, 3};
	uint64_t object = fake_data(vm, fake_data_type(vm, "sized_queue"), made);
	fake_list_init(vm, AT(made, queue, waitq));
	fake_list_init(vm, AT(made, szqueue, pushq));
	FAKE_PUT(vm, made, queue, que, fake_array_embedded(&vm->ruby, items, 2));
	FAKE_PUT(vm, made, szqueue, max, 2);
	FAKE_PUT(vm, made, szqueue, num_waiting_push, 1);
	push_cfunc(object);
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_null(wait_of(snapshot, sleeping())); /* it is in no ring */
	world_free(snapshot);

	uint64_t node =
		AT(waiter(AT(made, szqueue, pushq), object, sleeping()), sync_waiter, node);
	snapshot = world_load_whole();
	const struct rcore_wait *wait = wait_of(snapshot, sleeping());
	ck_assert(wait && wait->kind == RCORE_WAIT_PUSH && wait->object == object);
	ck_assert(wait->has_counts && wait->length == 2 && wait->max == 2 &&
		  wait->waiting == 1);
	world_free(snapshot);

	fake_put(&vm->ruby.target, node, 0x10);
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(snapshot->wait_problem);
	world_free(snapshot);
}
END_TEST

/*
 * A list that is not in the layout is reported as unknown. If this Ruby does
 * not have the head of a list, that is not a problem.
 */
START_TEST(test_unmeasured)
{
	world_begin(_i);
	uint64_t object;
	lock_wanted(world.running, sleeping(), &object);
	struct rcore_layout whole = LAYOUT;
	LAYOUT.sync_waiter.node.offset = RCORE_UNMEASURED;
	struct rcore_snapshot *snapshot = world_load_whole();
	ck_assert_ptr_nonnull(wait_of(snapshot, sleeping()));
	ck_assert_uint_eq(snapshot->lock_count, 1);
	ck_assert_ptr_nonnull(strstr(snapshot->locks[0].problem,
				     "waiters: sync_waiter.node is not measured for Ruby "));
	world_free(snapshot);

	LAYOUT = whole;
	LAYOUT.thread.locking_mutex.offset = RCORE_UNMEASURED;
	snapshot = world_load_whole();
	ck_assert_ptr_nonnull(strstr(snapshot->wait_problem,
				     "thread.locking_mutex is not measured for Ruby "));
	world_free(snapshot);

	LAYOUT = whole;
	LAYOUT.thread.name.offset = RCORE_UNMEASURED;
	snapshot = world_load();
	ck_assert_uint_eq(snapshot->problem_count, 1);
	ck_assert_ptr_nonnull(strstr(snapshot->problems[0], "thread.name is not measured"));
	ck_assert_ptr_nonnull(wait_of(snapshot, sleeping()));
	world_free(snapshot);
	LAYOUT = whole;
}
END_TEST

/* Whichever field is unmeasured: no crash. */
START_TEST(test_unmeasured_fields)
{
	world_begin(_i);
	struct rcore_layout whole = LAYOUT;
	for (size_t i = 0; i < rcore_item_count; i++) {
		struct rcore_snapshot *snapshot = NULL;
		if (rcore_items[i].kind != RCORE_ITEM_FIELD)
			continue;
		rcore_item_set_unmeasured(&LAYOUT, &rcore_items[i]);
		world_code(world_try_load(&snapshot));
		if (snapshot)
			world_free(snapshot);
		LAYOUT = whole;
	}
}
END_TEST

/* Whichever read fails: no crash, and each wait is complete. */
START_TEST(test_faults)
{
	world_begin(_i);
	uint64_t object;
	lock_wanted(world.running, sleeping(), &object);
	joiner(world.sleeper, fake_current_fiber(&world.vm, world.other));
	fake_target_fault(&world.vm.ruby.target, 0, false);
	world_free(world_load_whole());
	size_t reads = world.vm.ruby.target.reads;
	for (size_t at = reads; at > 1; at -= at > 300 ? 7 : 1) {
		struct rcore_snapshot *snapshot = NULL;
		fake_target_fault(&world.vm.ruby.target, at, at % 2);
		ck_assert_int_eq(world_code(world_try_load(&snapshot)), 0);
		for (size_t i = 0; i < snapshot->fiber_count; i++) {
			const struct rcore_wait *wait = snapshot->fibers[i].wait;
			ck_assert(!wait || wait->kind < RCORE_WAIT_KINDS);
			ck_assert(!wait || wait->kind != RCORE_WAIT_JOIN ||
				  (size_t)wait->thread < snapshot->thread_count);
		}
		world_free(snapshot);
	}
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_locks,
		test_names,
		test_broken_locks,
		test_order_of_waiters,
		test_joins,
		test_gvl,
		test_waiting_fds,
		test_half_linked,
		test_syscalls,
		test_blocking_operations,
		test_restarted,
		test_queue,
		test_faults,
		test_unmeasured,
		test_unmeasured_fields,
	};
	return world_run("wait", tests, RCORE_COUNT(tests));
}
