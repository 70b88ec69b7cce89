/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/count.h"
#include "ruby/iseq/frame_flags.h"
#include "vm_suite.h"

static enum rcore_label_style style(void)
{
	return world.vm.ruby.layout.traits.label_style;
}

static const struct rcore_frame *innermost(const struct rcore_snapshot *snapshot,
					   uint64_t fiber)
{
	const struct rcore_fiber *found = world_fiber(snapshot, fiber);
	ck_assert_uint_gt(found->frame_count, 0);
	return &found->frames[0];
}

static void check_frame(const struct rcore_frame *frame, enum rcore_frame_kind kind,
			const char *label, const char *path, int line)
{
	ck_assert_int_eq(frame->kind, kind);
	ck_assert_pstr_eq(frame->label, label);
	ck_assert_pstr_eq(frame->path, path);
	ck_assert_int_eq(frame->line, line);
	ck_assert_pstr_eq(frame->problem, NULL);
}

static void check_native(const struct rcore_frame *frame, const char *plain,
			 const char *qualified, const char *path, int line)
{
	ck_assert_pstr_eq(frame->native_label,
			  style() == RCORE_LABEL_PLAIN ? plain : qualified);
	ck_assert_pstr_eq(frame->native_path, path);
	ck_assert_int_eq(frame->native_line, line);
}

START_TEST(test_stack)
{
	world_begin(_i);
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_fiber *parked = world_fiber(snapshot, world.parked);
	const struct rcore_frame *frames = parked->frames;
	ck_assert_uint_eq(parked->frame_count, 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(frames[i].cfp, world.parked_cfp[i]);
	/* A C method has the path and line of the next Ruby frame. */
	check_frame(&frames[0], RCORE_FRAME_CFUNC, "Foo#each", NULL, 0);
	check_native(&frames[0], "each", "Foo#each", "app.rb", 11);
	check_frame(&frames[1], RCORE_FRAME_RUBY, "Foo#run", "app.rb", 11);
	check_native(&frames[1], "run", "Foo#run", "app.rb", 11);
	check_frame(&frames[2], RCORE_FRAME_RUBY, "block in Foo#run", "app.rb", 10);
	check_native(&frames[2], "block in run", "block in Foo#run", "app.rb", 10);
	ck_assert_uint_eq(frames[1].method_entry, world.run_method);
	ck_assert_uint_eq(frames[2].method_entry, world.run_method);
	ck_assert_uint_eq(frames[0].method_entry, world.each_method);
	ck_assert_uint_eq(frames[1].iseq, world.run);
	ck_assert_uint_eq(frames[2].flags & RCORE_FRAME_MAGIC_MASK, RCORE_FRAME_MAGIC_BLOCK);

	check_frame(innermost(snapshot, world.root), RCORE_FRAME_RUBY, "<main>", "app.rb", 10);
	ck_assert_uint_eq(world_fiber(snapshot, world.root)->frame_count, 1);
	world_free(snapshot);
}
END_TEST

static uint64_t push(const struct fake_frame *frame)
{
	return fake_push(&world.vm, world.running, frame);
}

START_TEST(test_kinds)
{
	enum { IMEMO_IFUNC = 4 };
	world_begin(_i);
	uint64_t method = fake_env(&world.vm.ruby, world.run_method, 0,
				   RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL);
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_RESCUE,
				  .iseq = world.rescue,
				  .pc = 1,
				  .outer = method | 1});
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_IFUNC | RCORE_FRAME_CFRAME,
				  .iseq = fake_imemo(&world.vm.ruby, IMEMO_IFUNC,
						     world.vm.ruby.layout.ifunc.size),
				  .pc = -1,
				  .outer = 1});
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_DUMMY | RCORE_ENV_LOCAL |
					   RCORE_FRAME_FINISH,
				  .iseq = world.main,
				  .pc = -1});
	/* The pc is set when the frame is complete. */
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
				  .iseq = world.run,
				  .pc = -1,
				  .me_cref = world.run_method});
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_frame *frames = innermost(snapshot, world.running);
	check_frame(&frames[0], RCORE_FRAME_RUBY, "Foo#run", "app.rb", 9);
	ck_assert(frames[0].under_construction);
	ck_assert_pstr_eq(frames[0].native_label, NULL);
	check_frame(&frames[1], RCORE_FRAME_DUMMY, "<main>", "app.rb", 0);
	ck_assert_int_eq(frames[2].kind, RCORE_FRAME_IFUNC);
	ck_assert_pstr_eq(frames[2].native_label, NULL);
	check_frame(&frames[3], RCORE_FRAME_RUBY, "rescue in Foo#run", "app.rb", 10);
	ck_assert_int_eq(frames[4].kind, RCORE_FRAME_CFUNC);
	world_free(snapshot);
}
END_TEST

/* Ruby prints $0 for a C function that no Ruby code called. */
START_TEST(test_without_caller)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool known = rcore_has_place(&vm->ruby.layout.vm.progname);
	uint64_t fiber = fake_fiber(vm, vm->main_thread, RCORE_FIBER_SUSPENDED);
	for (int i = 0; i < 2; i++)
		fake_push(vm, fiber,
			  &(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC |
							RCORE_ENV_LOCAL | RCORE_FRAME_CFRAME,
					       .pc = -1,
					       .me_cref = world.each_method});
	if (known)
		FAKE_PUT(vm, vm->address, vm, progname, fake_string(&vm->ruby, "worker 1"));
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_frame *frames = innermost(snapshot, fiber);
	for (size_t i = 0; i < 2; i++) {
		check_frame(&frames[i], RCORE_FRAME_CFUNC, "Foo#each", NULL, 0);
		check_native(&frames[i], "each", "Foo#each", known ? "worker 1" : NULL, 0);
	}
	world_free(snapshot);
	if (!known)
		return;
	/* No object, and an object that is no String. */
	const uint64_t wrong[] = {3, world.each_method};
	for (size_t i = 0; i < RCORE_COUNT(wrong); i++) {
		FAKE_PUT(vm, vm->address, vm, progname, wrong[i]);
		snapshot = world_load();
		frames = innermost(snapshot, fiber);
		check_native(&frames[0], "each", "Foo#each", NULL, 0);
		ck_assert_ptr_nonnull(strstr(frames[0].problem, "name of the program"));
		world_free(snapshot);
	}
}
END_TEST

/*
 * vm_make_env_each has put the new rb_env_t at the place of the flags, but not
 * changed the frame yet.
 */
START_TEST(test_escaping)
{
	world_begin(_i);
	struct fake_ruby *ruby = &world.vm.ruby;
	uint64_t ep =
		push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
					  .iseq = world.run,
					  .pc = 3,
					  .me_cref = world.run_method});
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_BLOCK,
				  .iseq = world.block,
				  .pc = 1,
				  .outer = ep | 1});
	uint64_t moved =
		fake_env(ruby, world.run_method, 0,
			 RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL | RCORE_ENV_ESCAPED);
	uint64_t env = fake_imemo(ruby, ruby->layout.traits.imemo_env, ruby->layout.env.size);
	FAKE_PUT(&world.vm, env, env, ep, moved);
	fake_put(&ruby->target, ep, env);
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_frame *frames = innermost(snapshot, world.running);
	check_frame(&frames[0], RCORE_FRAME_RUBY, "block in Foo#run", "app.rb", 10);
	check_frame(&frames[1], RCORE_FRAME_RUBY, "Foo#run", "app.rb", 11);
	world_free(snapshot);

	fake_put(&ruby->target, moved, env);
	snapshot = world_load();
	ck_assert(world_says(snapshot, "has no frame flags"));
	world_free(snapshot);
}
END_TEST

static uint64_t word_at(uint64_t address)
{
	uint64_t value = 0;
	ck_assert_int_eq(rcore_read_u64(&world.vm.ruby.target.memory, address, &value), 0);
	return value;
}

/*
 * vm_make_env_each has changed the frame, but not marked the environment in the
 * heap yet.
 */
START_TEST(test_escaped_unmarked)
{
	world_begin(_i);
	struct fake_ruby *ruby = &world.vm.ruby;
	uint64_t ep =
		push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
					  .iseq = world.run,
					  .pc = 3,
					  .me_cref = world.run_method,
					  .escaped = true});
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
					   RCORE_FRAME_CFRAME,
				  .pc = -1,
				  .me_cref = world.each_method});
	fake_put(&ruby->target, ep, RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL);
	struct rcore_snapshot *snapshot = world_load_whole();
	check_frame(innermost(snapshot, world.running) + 1, RCORE_FRAME_RUBY, "Foo#run",
		    "app.rb", 11);
	world_free(snapshot);

	FAKE_PUT(&world.vm, word_at(ep + sizeof(ep)), env, ep, ep + sizeof(ep));
	snapshot = world_load();
	ck_assert(world_says(snapshot, "not where it should be on the VM stack"));
	world_free(snapshot);
}
END_TEST

/* A wrong word of the parked fiber, and the expected message. */
enum place { CFP_PC, CFP_ISEQ, CFP_EP, EP_FLAGS, EP_ME, STACK_SIZE, STACK, EC_CFP };

static uint64_t address_of(enum place place, size_t frame)
{
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	uint64_t cfp = world.parked_cfp[frame];
	uint64_t ec = world.parked + (uint64_t)layout->fiber.saved_ec.offset;
	uint64_t ep = FAKE_GET(&world.vm, cfp, cfp, ep);
	switch (place) {
	case CFP_PC:
		return cfp + (uint64_t)layout->cfp.pc.offset;
	case CFP_ISEQ:
		return cfp + (uint64_t)layout->cfp.iseq.offset;
	case CFP_EP:
		return cfp + (uint64_t)layout->cfp.ep.offset;
	case EP_FLAGS:
		return ep;
	case EP_ME:
		return ep - 16;
	case STACK_SIZE:
		return ec + (uint64_t)layout->ec.vm_stack_size.offset;
	case STACK:
		return ec + (uint64_t)layout->ec.vm_stack.offset;
	default:
		return ec + (uint64_t)layout->ec.cfp.offset;
	}
}

static void expect(enum place place, size_t frame, uint64_t value, const char *words)
{
	uint64_t address = address_of(place, frame), before = word_at(address);
	fake_put(&world.vm.ruby.target, address, value);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert_msg(world_says(snapshot, words), "place %d of frame %zu: no \"%s\"", place,
		      frame, words);
	ck_assert_uint_eq(world_fiber(snapshot, world.running)->frame_count, 3);
	world_free(snapshot);
	fake_put(&world.vm.ruby.target, address, before);
}

static void check_line(size_t frame, int line, bool is_stale)
{
	struct rcore_snapshot *snapshot = world_load_whole();
	const struct rcore_frame *frames = world_fiber(snapshot, world.running)->frames;
	ck_assert_int_eq(frames[frame].line, line);
	ck_assert(frames[frame].pc_stale == is_stale);
	world_free(snapshot);
}

START_TEST(test_misfits)
{
	enum { CFUNC, METHOD, BLOCK };
	world_begin(_i);
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	const uint64_t local = RCORE_ENV_LOCAL;
	expect(CFP_PC, BLOCK, 0x10, "is outside iseq");
	expect(CFP_ISEQ, BLOCK, world.rescue, "is outside iseq");
	expect(CFP_ISEQ, METHOD, 0x10, "iseq 0x10");
	expect(CFP_EP, METHOD, 0x10, "cannot read environment");
	expect(CFP_EP, BLOCK, FAKE_GET(&world.vm, world.parked_cfp[CFUNC], cfp, ep),
	       "not where it should be on the VM stack");
	expect(EP_FLAGS, BLOCK, RCORE_FRAME_MAGIC_BLOCK | local, "do not fit its kind");
	expect(EP_FLAGS, BLOCK, RCORE_FRAME_MAGIC_EVAL, "has another type");
	expect(EP_FLAGS, BLOCK, 0x12340001, "unknown kind");
	expect(EP_FLAGS, BLOCK, RCORE_FRAME_MAGIC_BLOCK | UINT64_C(1) << 40, "unknown kind");
	expect(EP_FLAGS, BLOCK, RCORE_FRAME_MAGIC_BLOCK | RCORE_ENV_ESCAPED,
	       "is on the VM stack");
	expect(EP_FLAGS, METHOD, RCORE_FRAME_MAGIC_METHOD | local,
	       "not where it should be on the VM stack");
	expect(EP_FLAGS, CFUNC, 0x10, "has no frame flags");
	expect(EP_ME, METHOD, 0, "has no method entry");
	expect(EP_ME, METHOD, world.run, "has no method entry");
	expect(EP_ME, METHOD, world.each_method, "is a C function");
	expect(EP_ME, CFUNC, world.run_method, "the entry of a Ruby method");
	expect(EP_ME, CFUNC, 0, "without a method entry");
	expect(EC_CFP, 0, world.parked_cfp[0] + 8, "is not a frame of the VM stack");
	expect(EC_CFP, 0, world.parked_cfp[0] + 4 * layout->cfp.size,
	       "is not a frame of the VM stack");
	expect(STACK_SIZE, 0, 512 - layout->cfp.size / 8, "begin with a dummy");
	expect(STACK_SIZE, 0, 512 + 8 * layout->cfp.size, "cannot read control frames");
	expect(STACK_SIZE, 0, UINT64_MAX / 8, "is not a frame of the VM stack");
	expect(STACK, 0, 0, "is not a frame of the VM stack");

	uint64_t ep = FAKE_GET(&world.vm, world.parked_cfp[METHOD], cfp, ep);
	uint64_t env = word_at(ep + 8);
	FAKE_PUT(&world.vm, env, env, ep, ep + 8);
	struct rcore_snapshot *snapshot = world_load();
	ck_assert(world_says(snapshot, "does not point back"));
	world_free(snapshot);
}
END_TEST

/* Compiled code has not written its pc, so no line is certain. */
START_TEST(test_stale_pc)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool has_jit = rcore_has(&vm->ruby.layout.cfp.jit_return);
	struct fake_frame frame = {.flags = RCORE_FRAME_MAGIC_METHOD | RCORE_ENV_LOCAL,
				   .iseq = world.run,
				   .pc = 3,
				   .me_cref = world.run_method};
	fake_push(vm, world.running, &frame);
	uint64_t cfp = fake_cfp(vm, world.running);
	check_line(0, 11, false);

	/*
	 * In the iseq: of the previous call, or of a previous frame in this
	 * place.
	 */
	FAKE_PUT(vm, cfp, cfp, jit_return, 0x12345);
	check_line(0, has_jit ? 0 : 11, has_jit);
	/* In no iseq. */
	FAKE_PUT(vm, cfp, cfp, jit_return, 0);
	uint64_t pc = FAKE_GET(vm, cfp, cfp, pc);
	FAKE_PUT(vm, cfp, cfp, pc, 0x1234);
	if (has_jit)
		check_line(0, 0, true);
	/* Its callee needs it. */
	FAKE_PUT(vm, cfp, cfp, pc, pc);
	FAKE_PUT(vm, cfp, cfp, jit_return, 0x12345);
	fake_push(vm, world.running, &frame);
	check_line(1, 11, false);
}
END_TEST

/*
 * vm_push_frame() up to 2.7, and YJIT of 3.1 and 3.2, count a frame before they
 * fill it.
 */
START_TEST(test_unfilled)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t cfp = fake_cfp(vm, world.running) - vm->ruby.layout.cfp.size;
	uint64_t ec = world.running + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	FAKE_PUT(vm, ec, ec, cfp, cfp);
	FAKE_PUT(vm, cfp, cfp, pc, 1);
	FAKE_PUT(vm, cfp, cfp, ep, vm->address);
	struct rcore_snapshot *snapshot = world_load();
	const struct rcore_fiber *fiber = world_fiber(snapshot, world.running);
	ck_assert_uint_eq(fiber->frame_count, 4);
	ck_assert_int_eq(fiber->frames[0].kind, RCORE_FRAME_BROKEN);
	ck_assert(fiber->frames[0].under_construction ==
		  vm->ruby.layout.traits.frames_pushed_first);
	ck_assert(!fiber->frames[0].problem == vm->ruby.layout.traits.frames_pushed_first);
	ck_assert(snapshot->incomplete != vm->ruby.layout.traits.frames_pushed_first);
	world_free(snapshot);
	/* In a system call, read(), all frames of a thread are filled. */
	enum { RAX = 10, ORIG_RAX = 15, REGISTERS = 27, EINTERNAL = 512 };
	world.native[0].has_registers = true;
	world.native[0].register_count = REGISTERS;
	world.native[0].registers[ORIG_RAX] = 0;
	world.native[0].registers[RAX] = (uint64_t)-EINTERNAL;
	snapshot = world_load();
	fiber = world_fiber(snapshot, world.running);
	ck_assert(fiber->frames[0].problem && !fiber->frames[0].under_construction);
	ck_assert(snapshot->incomplete);
	world_free(snapshot);
}
END_TEST

/*
 * Compiled code of 3.1 writes the environment of a C frame first, then counts
 * it, and writes its words last: until then it has those of an older frame.
 */
START_TEST(test_unfilled_c)
{
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	bool pushed_first = vm->ruby.layout.traits.frames_pushed_first;
	push(&(struct fake_frame){.flags = RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
					   RCORE_FRAME_CFRAME,
				  .pc = -1,
				  .me_cref = world.each_method});
	uint64_t cfp = fake_cfp(vm, world.running);
	struct rcore_snapshot *snapshot = world_load_whole();
	check_frame(innermost(snapshot, world.running), RCORE_FRAME_CFUNC, "Foo#each", NULL, 0);
	world_free(snapshot);
	for (size_t i = 0; i < 2; i++) {
		FAKE_PUT(vm, cfp, cfp, iseq, i ? 0 : world.run);
		FAKE_PUT(vm, cfp, cfp, pc, i ? 8 : 0);
		snapshot = world_load_whole();
		const struct rcore_frame *frame = innermost(snapshot, world.running);
		ck_assert(frame->under_construction == pushed_first);
		ck_assert((frame->kind == RCORE_FRAME_BROKEN) == pushed_first);
		world_free(snapshot);
	}
}
END_TEST

/* A fiber's VM stack while it is created and freed. */
START_TEST(test_empty_stack)
{
	static const enum rcore_fiber_status statuses[] = {RCORE_FIBER_CREATED,
							   RCORE_FIBER_TERMINATED};
	enum { SIZE = 512 };
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t ec = world.created + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	uint64_t stack = fake_alloc(&vm->ruby.target, SIZE, 8);
	const uint64_t cfps[] = {0, stack + SIZE, stack + SIZE - vm->ruby.layout.cfp.size};
	for (size_t i = 0; i < 2; i++) {
		FAKE_PUT(vm, world.created, fiber, status, statuses[i]);
		for (size_t j = 0; j < RCORE_COUNT(cfps); j++) {
			FAKE_PUT(vm, ec, ec, vm_stack, stack);
			FAKE_PUT(vm, ec, ec, vm_stack_size, SIZE / sizeof(uint64_t));
			FAKE_PUT(vm, ec, ec, cfp, cfps[j]);
			world_free(world_load_whole());
			FAKE_PUT(vm, ec, ec, vm_stack, 0);
			FAKE_PUT(vm, ec, ec, vm_stack_size, 0);
			world_free(world_load_whole());
		}
	}
}
END_TEST

/* A root fiber keeps its frames, whatever its status. */
START_TEST(test_root_status)
{
	world_begin(_i);
	struct rcore_snapshot *snapshot = world_load_whole();
	size_t count = world_fiber(snapshot, world.root)->frame_count;
	world_free(snapshot);
	ck_assert_uint_gt(count, 0);
	FAKE_PUT(&world.vm, world.root, fiber, status, RCORE_FIBER_CREATED);
	snapshot = world_load_whole();
	ck_assert_uint_eq(world_fiber(snapshot, world.root)->frame_count, count);
	world_free(snapshot);
}
END_TEST

/* Only a thread that has ended loses the stack of its root fiber before the cfp. */
START_TEST(test_root_without_stack)
{
	enum { KILLED = 3 };
	world_begin(_i);
	struct fake_vm *vm = &world.vm;
	uint64_t ec = world.root + (uint64_t)vm->ruby.layout.fiber.saved_ec.offset;
	uint64_t thread = FAKE_GET(vm, ec, ec, thread_ptr);
	FAKE_PUT(vm, ec, ec, vm_stack, 0);
	struct rcore_snapshot *snapshot = world_load();
	const struct rcore_fiber *fiber = world_fiber(snapshot, world.root);
	ck_assert(fiber->is_root && !fiber->frame_count);
	ck_assert_ptr_nonnull(fiber->problem);
	ck_assert(snapshot->incomplete);
	world_free(snapshot);

	FAKE_PUT(vm, thread, thread, status, KILLED);
	snapshot = world_load();
	ck_assert_ptr_null(world_fiber(snapshot, world.root)->problem);
	world_free(snapshot);
}
END_TEST

/* Plausible on its own: the entry of another method of the same class. */
START_TEST(test_other_method)
{
	world_begin(_i);
	struct fake_ruby *ruby = &world.vm.ruby;
	uint64_t other = fake_method(
		ruby, RCORE_METHOD_ISEQ, FAKE_GET(&world.vm, world.run_method, cme, owner),
		fake_id(ruby, "other"),
		fake_iseq(ruby, &(struct fake_iseq){.type = RCORE_ISEQ_METHOD,
						    .path = "app.rb",
						    .label = "other"}));
	expect(EP_ME, 1, other, "its iseq is not its method's");
}
END_TEST

START_TEST(test_many_frames)
{
	world_begin(_i);
	struct fake_target *target = &world.vm.ruby.target;
	const struct rcore_layout *layout = &world.vm.ruby.layout;
	/*
	 * More than are read at once, and all with one environment: only the
	 * first can be right.
	 */
	enum { COUNT = 1200 };
	uint64_t size = (COUNT + 1) * layout->cfp.size + 4096;
	uint64_t stack = fake_alloc(target, size, 4096);
	uint64_t end = stack + size / 8 * 8, cfp = end;
	uint64_t env[COUNT + 1];
	for (size_t i = 0; i <= COUNT; i++) {
		cfp -= layout->cfp.size;
		env[i] = fake_env(&world.vm.ruby, i ? world.each_method : 0, 0,
				  i ? RCORE_FRAME_MAGIC_CFUNC | RCORE_ENV_LOCAL |
						  RCORE_FRAME_CFRAME
				    : RCORE_FRAME_MAGIC_DUMMY | RCORE_ENV_LOCAL);
		FAKE_PUT(&world.vm, cfp, cfp, ep, env[i]);
	}
	uint64_t ec = world.parked + (uint64_t)layout->fiber.saved_ec.offset;
	FAKE_PUT(&world.vm, ec, ec, vm_stack, stack);
	FAKE_PUT(&world.vm, ec, ec, vm_stack_size, (end - stack) / 8);
	FAKE_PUT(&world.vm, ec, ec, cfp, cfp);
	struct rcore_snapshot *snapshot = world_load();
	const struct rcore_fiber *fiber = world_fiber(snapshot, world.parked);
	ck_assert_uint_eq(fiber->frame_count, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		ck_assert_pstr_eq(fiber->frames[i].label, "Foo#each");
	world_free(snapshot);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {test_stack,
				      test_kinds,
				      test_without_caller,
				      test_escaping,
				      test_misfits,
				      test_stale_pc,
				      test_escaped_unmarked,
				      test_unfilled,
				      test_unfilled_c,
				      test_empty_stack,
				      test_root_status,
				      test_root_without_stack,
				      test_other_method,
				      test_many_frames};
	return world_run("frames", tests, RCORE_COUNT(tests));
}
