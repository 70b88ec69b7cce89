/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SIGNAL_FRAME_H
#define RCORE_IMAGE_SIGNAL_FRAME_H

#include "model/fault.h"
#include "target/memory.h"
#include "target/process.h"

/* A fault as the kernel told the handler of it. */
struct rcore_signal_frame {
	struct rcore_siginfo info;
	uint64_t pc, sp; /* of the interrupted code */
	/*
	 * In the order of rcore_native_thread, as far as the frame has them (no
	 * segments).
	 */
	uint64_t registers[RCORE_MAX_REGISTERS];
	/*
	 * As the processor said: the error code of a page fault on x86-64,
	 * ESR_EL1 on aarch64; UNKNOWN: neither is there, or another fault was
	 * it.
	 */
	enum rcore_access access;
};

/*
 * CRuby handles SIGSEGV, prints its [BUG] report and calls abort(): the core
 * then says SIGABRT. The fault that started it is still on the signal stack,
 * where the kernel laid siginfo_t and ucontext_t before it called the handler
 * (Linux: struct rt_sigframe of arch/x86/include/asm/sigframe.h,
 * arch/arm64/kernel/signal.c). From the thread's sp upwards this looks for a
 * return address whose code is the restorer (mov $15,%eax; syscall; on aarch64,
 * for the kernel's FPSIMD record) and proves the frame: a fatal signal, saved
 * pc and sp mapped. Of several a fault is taken before a SIGABRT, then the
 * innermost. Returns false when there is none.
 */
bool rcore_signal_frame_find(struct rcore_memory *memory, unsigned machine,
			     const struct rcore_native_thread *thread,
			     struct rcore_signal_frame *ret);

/*
 * Whether a signal frame of the kernel lies where sp is when the restorer runs.
 * For a restorer whose code cannot be read: it is in the vdso of aarch64, which
 * QEMU does not save, or the C library's file is not here.
 */
bool rcore_signal_frame_at(struct rcore_memory *memory, unsigned machine, uint64_t sp);

#endif
