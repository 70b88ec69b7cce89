/* SPDX-License-Identifier: MIT */
#include "image/unwind/signal_frame.h"

#include <elf.h>
#include <signal.h>
#include <string.h>

#include "base/count.h"

enum {
	/* Bytes of the stack; CRuby's report uses some ten KiB of it. */
	MAX_SCAN = 1 << 20,
	CHUNK = 4096,
	FRAME_SIZE = 640, /* the part of either machine's frame that is read */
};

/*
 * Frames of other signals are left over from handlers that returned long ago.
 */
static bool is_fatal(int signo)
{
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE,
				      SIGTRAP, SIGSYS, SIGABRT};
	for (size_t i = 0; i < RCORE_COUNT(signals); i++)
		if (signals[i] == signo)
			return true;
	return false;
}

/*
 * What the kernel pushes, lowest address first:
 *
 *	x86-64				aarch64
 *	0    return to the restorer	0    siginfo_t
 *	8    ucontext			128  ucontext
 *	48     r8 ... sp ip flags cs	304    fault address, x0 ... sp pc
 *	200    error code, trap number	592    records: FPSIMD first, then ESR
 *	312  siginfo_t
 */
struct frame_layout {
	unsigned machine;
	/* sp when the restorer runs, relative to the frame */
	size_t restorer_sp;
	size_t siginfo, sp, pc;
	bool (*is_frame)(struct rcore_memory *memory, const uint8_t *frame);
	void (*take)(struct rcore_memory *memory, uint64_t address, const uint8_t *frame,
		     struct rcore_signal_frame *ret);
};

static uint64_t word(const uint8_t *frame, size_t offset)
{
	uint64_t value;
	memcpy(&value, frame + offset, sizeof(value));
	return value;
}

enum { X86_LINK = 16, X86_SEGMENTS = 192, X86_USER_CS = 0x33, X86_USER_SS = 0x2b };

static bool is_x86_frame(struct rcore_memory *memory, const uint8_t *frame)
{
	uint8_t code[9];
	uint64_t segments = word(frame, X86_SEGMENTS);
	if (word(frame, X86_LINK) || (segments & 0xffff) != X86_USER_CS)
		return false;
	/*
	 * If libc's file is missing, checks that the selectors of user code and
	 * data are in their places.
	 */
	if (rcore_read(memory, word(frame, 0), code, sizeof(code)))
		return segments >> 48 == X86_USER_SS;
	return rcore_is_x86_restorer(code);
}

enum {
	X86_REGISTERS = 48,
	X86_ERROR = 200,
	X86_TRAP = 208,
	PAGE_FAULT = 14,  /* vector 14 */
	ERROR_WRITE = 2,  /* X86_PF_WRITE of arch/x86/include/asm/trap_pf.h */
	ERROR_FETCH = 16, /* X86_PF_INSTR */
	X86_GENERAL = 17, /* r8 to rip */
};

/* struct sigcontext of arch/x86/include/uapi/asm/sigcontext.h. */
static void take_x86(struct rcore_memory *memory, uint64_t address, const uint8_t *frame,
		     struct rcore_signal_frame *ret)
{
	static const int order[X86_GENERAL] = {9,  8, 7, 6,  3,  2,  1,  0, 14,
					       13, 4, 5, 12, 10, 11, 19, 16};
	uint64_t error = word(frame, X86_ERROR);
	for (int i = 0; i < X86_GENERAL; i++)
		ret->registers[order[i]] = word(frame, X86_REGISTERS + 8 * (size_t)i);
	if (word(frame, X86_TRAP) != PAGE_FAULT)
		return;
	ret->access = error & ERROR_FETCH   ? RCORE_ACCESS_EXECUTE
		      : error & ERROR_WRITE ? RCORE_ACCESS_WRITE
					    : RCORE_ACCESS_READ;
}

/* Prefixed because <signal.h> of aarch64 defines macros without the prefix. */
enum {
	ARM_LINK = 136,
	ARM_RECORDS = 592,
	ARM_FPSIMD_MAGIC = 0x46508001,
	ARM_FPSIMD_SIZE = 528
};

static bool is_arm_frame(struct rcore_memory *memory, const uint8_t *frame)
{
	return !word(frame, ARM_LINK) &&
	       word(frame, ARM_RECORDS) == (ARM_FPSIMD_MAGIC | (uint64_t)ARM_FPSIMD_SIZE << 32);
}

enum {
	ARM_REGISTERS = 312,
	ARM_GENERAL = 34, /* x0 to x30, sp, pc, pstate */
	ARM_ESR_MAGIC = 0x45535201,
	ARM_ESR_SIZE = 16,
	ARM_ESR_CLASS = 26,     /* the shift of its exception class */
	ARM_CLASS_FETCH = 0x20, /* an instruction abort of user code */
	ARM_CLASS_DATA = 0x24,  /* a data abort */
	ARM_ESR_WRITE = 1 << 6, /* WnR */
};

/*
 * struct sigcontext and esr_context of
 * arch/arm64/include/uapi/asm/sigcontext.h. The kernel writes ESR if an address
 * faulted.
 */
static void take_arm(struct rcore_memory *memory, uint64_t address, const uint8_t *frame,
		     struct rcore_signal_frame *ret)
{
	uint64_t record = address + ARM_RECORDS + ARM_FPSIMD_SIZE, head, esr;
	for (int i = 0; i < ARM_GENERAL; i++)
		ret->registers[i] = word(frame, ARM_REGISTERS + 8 * (size_t)i);
	if (rcore_read_u64(memory, record, &head) || rcore_read_u64(memory, record + 8, &esr) ||
	    head != (ARM_ESR_MAGIC | (uint64_t)ARM_ESR_SIZE << 32))
		return;
	uint64_t class = esr >> ARM_ESR_CLASS & 0x3f;
	if (class == ARM_CLASS_FETCH)
		ret->access = RCORE_ACCESS_EXECUTE;
	else if (class == ARM_CLASS_DATA)
		ret->access = esr & ARM_ESR_WRITE ? RCORE_ACCESS_WRITE : RCORE_ACCESS_READ;
}

static const struct frame_layout layouts[] = {
	{EM_X86_64, 8, 312, 168, 176, is_x86_frame, take_x86},
	{EM_AARCH64, 0, 0, 560, 568, is_arm_frame, take_arm},
};

/*
 * After a stack overflow, sp is in the guard page, and the stack is above it.
 */
static bool is_stack(struct rcore_memory *memory, uint64_t sp)
{
	uint64_t value;
	return !rcore_read_u64(memory, sp, &value) ||
	       !rcore_read_u64(memory, sp + CHUNK, &value);
}

static bool check(struct rcore_memory *memory, const struct frame_layout *layout,
		  uint64_t address, const uint8_t *frame, struct rcore_signal_frame *ret)
{
	struct rcore_siginfo found;
	uint8_t code;
	rcore_siginfo_parse(frame + layout->siginfo, &found);
	if (!is_fatal(found.signo) || !layout->is_frame(memory, frame))
		return false;
	uint64_t at = word(frame, layout->pc), stack = word(frame, layout->sp);
	/* A jump to an unmapped address faults at its target. */
	bool has_code = rcore_read(memory, at, &code, 1) != RCORE_FAULT_UNMAPPED;
	if (!is_stack(memory, stack) || !(has_code || found.address == at))
		return false;
	*ret = (struct rcore_signal_frame){.info = found, .pc = at, .sp = stack};
	layout->take(memory, address, frame, ret);
	return true;
}

static const struct frame_layout *layout_of(unsigned machine)
{
	for (size_t i = 0; i < RCORE_COUNT(layouts); i++)
		if (layouts[i].machine == machine)
			return &layouts[i];
	return NULL;
}

bool rcore_signal_frame_at(struct rcore_memory *memory, unsigned machine, uint64_t sp)
{
	const struct frame_layout *layout = layout_of(machine);
	uint8_t frame[FRAME_SIZE];
	return layout && !rcore_read(memory, sp - layout->restorer_sp, frame, sizeof(frame)) &&
	       layout->is_frame(memory, frame);
}

bool rcore_signal_frame_find(struct rcore_memory *memory, unsigned machine,
			     const struct rcore_native_thread *thread,
			     struct rcore_signal_frame *ret)
{
	const struct frame_layout *layout = layout_of(machine);
	if (!layout || !thread->has_registers)
		return false;
	uint8_t window[CHUNK + FRAME_SIZE];
	uint64_t base = thread->registers[rcore_register_sp(machine)] & ~(uint64_t)7;
	bool aborted = false;
	/*
	 * A window ends with its page, so that nothing above the stack is read.
	 */
	for (size_t done = 0; done < MAX_SCAN;) {
		size_t step = CHUNK - (base + done) % CHUNK;
		size_t size = step + FRAME_SIZE;
		if (rcore_read(memory, base + done, window, size)) {
			size = step;
			if (rcore_read(memory, base + done, window, size))
				break;
		}
		for (size_t i = 0; i < step && i + FRAME_SIZE <= size; i += 8) {
			struct rcore_signal_frame found;
			if (!check(memory, layout, base + done + i, window + i, &found) ||
			    (aborted && found.info.signo == SIGABRT))
				continue;
			*ret = found;
			/*
			 * From 4.0 on, CRuby handles SIGABRT as well; an
			 * earlier fault may have caused it.
			 */
			if (found.info.signo != SIGABRT)
				return true;
			aborted = true;
		}
		done += step;
	}
	return aborted;
}
