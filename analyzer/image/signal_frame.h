/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_SIGNAL_FRAME_H
#define RCORE_IMAGE_SIGNAL_FRAME_H

#include "target/memory.h"
#include "target/process.h"

/*
 * CRuby handles SIGSEGV, prints its [BUG] report and calls abort(): the core then
 * says SIGABRT. The fault that started it is still on the signal stack, where
 * the kernel laid siginfo_t and ucontext_t before it called the handler (Linux:
 * struct rt_sigframe of arch/x86/include/asm/sigframe.h, arch/arm64/kernel/signal.c).
 * From the thread's sp upwards this looks for a return address whose code is the
 * restorer (mov $15,%eax; syscall; on aarch64, for the kernel's FPSIMD record) and
 * proves the frame: a fatal signal, saved pc and sp mapped. Of several a fault is
 * taken before a SIGABRT, then the innermost. Returns false when there is none. `pc` and `sp` are those
 * of the interrupted code.
 */
bool rcore_signal_frame_find(struct rcore_memory *memory, unsigned machine,
			     const struct rcore_native_thread *thread,
			     struct rcore_siginfo *ret, uint64_t *pc, uint64_t *sp);

#endif
