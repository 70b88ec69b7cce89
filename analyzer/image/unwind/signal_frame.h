/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SIGNAL_FRAME_H
#define RCORE_IMAGE_SIGNAL_FRAME_H

#include <string.h>

#include "model/fault.h"
#include "target/memory.h"
#include "target/process.h"

/* A fault as the kernel reported it to the signal handler. */
struct rcore_signal_frame {
	struct rcore_siginfo info;
	uint64_t pc, sp; /* of the interrupted code */
	/* In the order of rcore_native_thread. The frame has no segments. */
	uint64_t registers[RCORE_MAX_REGISTERS];
	/*
	 * From the processor: the error code of a page fault on x86-64, ESR_EL1
	 * on aarch64. UNKNOWN if neither is there, or it was another kind of
	 * fault.
	 */
	enum rcore_access access;
};

/*
 * Finds the fault that made CRuby abort. CRuby handles SIGSEGV, prints its
 * [BUG] report and calls abort(), so the core says SIGABRT. The original fault
 * is still on the signal stack, because the kernel put siginfo_t and ucontext_t
 * there before it called the handler (struct rt_sigframe of
 * arch/x86/include/asm/sigframe.h; arch/arm64/kernel/signal.c).
 *
 * From the thread's sp upwards, this searches for a return address whose code
 * is the restorer (mov $15,%eax; syscall) or, on aarch64, for the kernel's
 * FPSIMD record. It then checks the frame: a fatal signal, with mapped saved pc
 * and sp. Of several frames, it prefers a fault to a SIGABRT, and then the
 * innermost one. Returns false if there is none.
 */
bool rcore_signal_frame_find(struct rcore_memory *memory, unsigned machine,
			     const struct rcore_native_thread *thread,
			     struct rcore_signal_frame *ret);

/*
 * Whether the 9 bytes at `code` are the restorer of glibc or musl for x86-64:
 * mov $15 (rt_sigreturn), %rax or %eax; syscall.
 */
static inline bool rcore_is_x86_restorer(const uint8_t *code)
{
	return !memcmp(code, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9) ||
	       !memcmp(code, "\xb8\x0f\0\0\0\x0f\x05", 7);
}

/*
 * Whether there is a signal frame of the kernel where sp is when the restorer
 * runs. For a restorer whose code cannot be read: on aarch64, it is in the
 * vdso, which QEMU does not save; or the C library's file is missing.
 */
bool rcore_signal_frame_at(struct rcore_memory *memory, unsigned machine, uint64_t sp);

#endif
