/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "base/count.h"
#include "image/unwind/signal_frame.h"
#include "self_core.h"
#include "suite.h"

/* A stack of four pages, and one page of code below it. */
enum { STACK_SIZE = 0x4000, CODE = 0x1000, STACK = 0x10000 };

struct fake {
	struct rcore_memory memory;
	bool no_code;
	uint8_t code[0x1000], stack[STACK_SIZE];
};

static enum rcore_fault read_fake(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	struct fake *fake = (struct fake *)memory;
	if (address >= CODE && address - CODE + size <= sizeof(fake->code)) {
		if (fake->no_code)
			return RCORE_FAULT_FILE_MISSING;
		memcpy(buffer, fake->code + (address - CODE), size);
		return RCORE_FAULT_NONE;
	}
	if (address < STACK || address - STACK + size > STACK_SIZE)
		return RCORE_FAULT_UNMAPPED;
	memcpy(buffer, fake->stack + (address - STACK), size);
	return RCORE_FAULT_NONE;
}

static void put(struct fake *fake, uint64_t address, uint64_t value, size_t size)
{
	memcpy(fake->stack + (address - STACK), &value, size);
}

/* struct rt_sigframe of the kernel's arch/x86/include/asm/sigframe.h. */
static void put_x86(struct fake *fake, uint64_t frame, uint64_t pc, uint64_t sp,
		    uint64_t address)
{
	memcpy(fake->code + 0x40, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
	put(fake, frame, CODE + 0x40, 8);
	put(fake, frame + 8 + 40 + 15 * 8, sp, 8);
	put(fake, frame + 8 + 40 + 16 * 8, pc, 8);
	put(fake, frame + 8 + 40 + 18 * 8, UINT64_C(0x2b000000000033), 8);
	put(fake, frame + 8 + 304, SIGSEGV, 4);
	put(fake, frame + 8 + 304 + 8, SEGV_MAPERR, 4);
	put(fake, frame + 8 + 304 + 16, address, 8);
}

/* struct rt_sigframe of the kernel's arch/arm64/kernel/signal.c. */
static void put_arm(struct fake *fake, uint64_t frame, uint64_t pc, uint64_t sp,
		    uint64_t address)
{
	put(fake, frame, SIGSEGV, 4);
	put(fake, frame + 8, SEGV_MAPERR, 4);
	put(fake, frame + 16, address, 8);
	uint64_t context = frame + 128 + 176;
	put(fake, context + 8 + 31 * 8, sp, 8);
	put(fake, context + 8 + 32 * 8, pc, 8);
	put(fake, context + 288, 0x46508001, 4);
	put(fake, context + 292, 528, 4);
}

/* The trap number and error code of a page fault; the record with ESR_EL1. */
static void put_fault(struct fake *fake, unsigned machine, uint64_t frame, uint64_t code)
{
	if (machine == EM_X86_64) {
		put(fake, frame + 8 + 40 + 19 * 8, code, 8);
		put(fake, frame + 8 + 40 + 20 * 8, 14, 8);
		return;
	}
	put(fake, frame + 592 + 528, UINT64_C(0x1045535201), 8);
	put(fake, frame + 592 + 528 + 8, code, 8);
}

static const struct {
	unsigned machine;
	uint64_t code;
	enum rcore_access access;
} faults[] = {
	{EM_X86_64, 4, RCORE_ACCESS_READ},
	{EM_X86_64, 5, RCORE_ACCESS_READ},
	{EM_X86_64, 6, RCORE_ACCESS_WRITE},
	{EM_X86_64, 7, RCORE_ACCESS_WRITE},
	{EM_X86_64, 0x15, RCORE_ACCESS_EXECUTE},
	{EM_AARCH64, 0x92000006, RCORE_ACCESS_READ},
	{EM_AARCH64, 0x92000046, RCORE_ACCESS_WRITE},
	{EM_AARCH64, 0x8200000f, RCORE_ACCESS_EXECUTE},
	{EM_AARCH64, 0x02000000, RCORE_ACCESS_UNKNOWN},
};

static const struct {
	unsigned machine;
	void (*put)(struct fake *fake, uint64_t frame, uint64_t pc, uint64_t sp,
		    uint64_t address);
} machines[] = {{EM_X86_64, put_x86}, {EM_AARCH64, put_arm}};

static bool find(struct fake *fake, unsigned machine, uint64_t sp, struct rcore_siginfo *info,
		 uint64_t *pc, uint64_t *stack)
{
	struct rcore_native_thread thread = {.has_registers = true};
	thread.registers[rcore_register_sp(machine)] = sp;
	struct rcore_signal_frame frame = {0};
	bool found = rcore_signal_frame_find(&fake->memory, machine, &thread, &frame);
	*info = frame.info;
	*pc = frame.pc;
	*stack = frame.sp;
	return found;
}

START_TEST(finds_a_frame)
{
	struct rcore_siginfo info;
	uint64_t pc, sp;
	struct fake *fake = calloc(1, sizeof(*fake));
	ck_assert_ptr_nonnull(fake);
	fake->memory.read = read_fake;
	unsigned machine = machines[_i].machine;
	ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	ck_assert(!find(fake, machine, 0, &info, &pc, &sp));

	/* Also across the end of a page. */
	for (uint64_t frame = STACK + 0xd00; frame < STACK + 0x1100; frame += 8) {
		memset(fake->stack, 0, STACK_SIZE);
		machines[_i].put(fake, frame, CODE + 8, STACK + 0x3000, 0x28);
		ck_assert(find(fake, machine, STACK + 0x208, &info, &pc, &sp));
		ck_assert(info.present);
		ck_assert_int_eq(info.signo, SIGSEGV);
		ck_assert_int_eq(info.code, SEGV_MAPERR);
		ck_assert_uint_eq(info.address, 0x28);
		ck_assert_uint_eq(pc, CODE + 8);
		ck_assert_uint_eq(sp, STACK + 0x3000);
	}
	/* Nothing can be found below sp. */
	ck_assert(!find(fake, machine, STACK + 0x2000, &info, &pc, &sp));
	ck_assert(!find(fake, EM_RISCV, STACK, &info, &pc, &sp));

	/* If libc's file is missing. */
	fake->no_code = true;
	ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
	fake->no_code = false;
	free(fake);
}

/*
 * If the restorer's code cannot be read, the frame at its sp shows what it is,
 * and only there.
 */
START_TEST(knows_the_place)
{
	unsigned machine = machines[_i].machine;
	uint64_t frame = STACK + 0x800, sp = frame + (machine == EM_X86_64 ? 8 : 0);
	struct fake *fake = calloc(1, sizeof(*fake));
	ck_assert_ptr_nonnull(fake);
	fake->memory.read = read_fake;
	fake->no_code = true;
	ck_assert(!rcore_signal_frame_at(&fake->memory, machine, sp));
	machines[_i].put(fake, frame, CODE + 8, STACK + 0x3000, 0x28);
	for (uint64_t at = STACK; at < STACK + 0x1000; at += 8)
		ck_assert_int_eq(rcore_signal_frame_at(&fake->memory, machine, at), at == sp);
	ck_assert(!rcore_signal_frame_at(&fake->memory, machine, 0));
	ck_assert(!rcore_signal_frame_at(&fake->memory, EM_RISCV, sp));
	free(fake);
}
END_TEST

START_TEST(says_the_access)
{
	struct rcore_native_thread thread = {.has_registers = true};
	struct rcore_signal_frame frame;
	unsigned machine = faults[_i].machine;
	struct fake *fake = calloc(1, sizeof(*fake));
	ck_assert_ptr_nonnull(fake);
	fake->memory.read = read_fake;
	thread.registers[rcore_register_sp(machine)] = STACK;
	machines[machine == EM_AARCH64].put(fake, STACK + 0x100, CODE + 8, STACK + 0x3000,
					    0x28);
	ck_assert(rcore_signal_frame_find(&fake->memory, machine, &thread, &frame));
	ck_assert_int_eq(frame.access, RCORE_ACCESS_UNKNOWN);
	put_fault(fake, machine, STACK + 0x100, faults[_i].code);
	ck_assert(rcore_signal_frame_find(&fake->memory, machine, &thread, &frame));
	ck_assert_int_eq(frame.access, faults[_i].access);
	free(fake);
}

START_TEST(proves_a_frame)
{
	struct rcore_siginfo info;
	uint64_t pc, sp, frame = STACK + 0x800;
	unsigned machine = machines[_i].machine;
	struct fake *fake = calloc(1, sizeof(*fake));
	ck_assert_ptr_nonnull(fake);
	fake->memory.read = read_fake;

	machines[_i].put(fake, frame, CODE, 0x500000, 0x28);
	ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	/* sp is in the guard page below a stack. */
	machines[_i].put(fake, frame, CODE, STACK - 8, STACK - 8);
	ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
	/* A jump to unmapped memory. */
	machines[_i].put(fake, frame, 0x500000, STACK + 0x3000, 0x28);
	ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	machines[_i].put(fake, frame, 0, STACK + 0x3000, 0);
	ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
	/* A leftover frame, and no signal at all. */
	uint64_t signo = machine == EM_X86_64 ? frame + 312 : frame;
	machines[_i].put(fake, frame, CODE, STACK + 0x3000, 0x28);
	put(fake, signo, SIGVTALRM, 4);
	ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	put(fake, signo, 0, 4);
	ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	/* The fault that caused an abort, and an abort without one. */
	put(fake, signo, SIGABRT, 4);
	ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
	ck_assert_int_eq(info.signo, SIGABRT);
	machines[_i].put(fake, frame + 0x1800, CODE + 8, STACK + 0x3000, 0x30);
	ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
	ck_assert_int_eq(info.signo, SIGSEGV);
	ck_assert_uint_eq(info.address, 0x30);
	memset(fake->stack, 0, STACK_SIZE);
	if (machine == EM_X86_64) {
		put_x86(fake, frame, CODE, STACK + 0x3000, 0x28);
		ck_assert(find(fake, machine, STACK, &info, &pc, &sp));
		fake->code[0x43] = 1;
		ck_assert(!find(fake, machine, STACK, &info, &pc, &sp));
	}
	free(fake);
}

static enum rcore_fault read_self(struct rcore_memory *memory, uint64_t address, void *buffer,
				  size_t size)
{
	return self_read(address, buffer, size) ? RCORE_FAULT_NONE : RCORE_FAULT_UNMAPPED;
}

static struct {
	sigjmp_buf back;
	bool found;
	struct rcore_signal_frame frame;
	uint64_t true_pc, true_sp;
} real;

static void handler(int signo, siginfo_t *info, void *data)
{
	const ucontext_t *context = data;
	struct rcore_memory memory = {read_self};
	struct rcore_native_thread thread = {.has_registers = true};
	thread.registers[rcore_register_sp(self_machine())] =
		(uint64_t)(uintptr_t)__builtin_frame_address(0) - 64;
#ifdef __aarch64__
	real.true_pc = context->uc_mcontext.pc;
	real.true_sp = context->uc_mcontext.sp;
#else
	real.true_pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	real.true_sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
#endif
	real.found = rcore_signal_frame_find(&memory, self_machine(), &thread, &real.frame);
	siglongjmp(real.back, 1);
}

/* The kernel's own frame, on a signal stack. */
START_TEST(finds_a_real_frame)
{
	const char *preload = getenv("LD_PRELOAD");
	if (preload && strstr(preload, "vgpreload"))
		return; /* valgrind lays out frames of its own */
	static char stack[1 << 16];
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	struct sigaction action = {.sa_sigaction = handler,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};
	struct sigaction old;
	ck_assert_int_eq(sigaction(SIGSEGV, &action, &old), 0);
	volatile int *volatile nowhere = (volatile int *)(uintptr_t)0x28;
	if (!sigsetjmp(real.back, 1))
		*nowhere = 1;
	sigaction(SIGSEGV, &old, NULL);
	ck_assert(real.found);
	ck_assert_int_eq(real.frame.info.signo, SIGSEGV);
	ck_assert_uint_eq(real.frame.info.address, 0x28);
	ck_assert_uint_eq(real.frame.pc, real.true_pc);
	ck_assert_uint_eq(real.frame.sp, real.true_sp);
	ck_assert_uint_eq(real.frame.registers[rcore_register_pc(self_machine())],
			  real.true_pc);
	ck_assert_uint_eq(real.frame.registers[rcore_register_sp(self_machine())],
			  real.true_sp);
	ck_assert_int_eq(real.frame.access, RCORE_ACCESS_WRITE);
}

int main(void)
{
	const TTest *const tests[] = {finds_a_real_frame};
	const struct rcore_test_loop loops[] = {{finds_a_frame, 2},
						{knows_the_place, 2},
						{says_the_access, RCORE_COUNT(faults)},
						{proves_a_frame, 2}};
	const struct rcore_test_suite suite = {
		.name = "signal frame",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
	};
	return rcore_test_suite_run(&suite);
}
