/* SPDX-License-Identifier: MIT */
#include "triage/cause.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/count.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "triage/fault.h"
#include "triage/messages.h"
#include "triage/overflow.h"

/*
 * si_code of the signals that a fault raises (sigaction(2)), and what each says
 * about the address.
 */
static const struct {
	int signo, code;
	const char *name, *text;
} codes[] = {
	{SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR", "no memory at address 0x%" PRIx64},
	{SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR", "access not allowed at address 0x%" PRIx64},
	{SIGSEGV, SI_KERNEL, "SI_KERNEL", "general protection fault"},
	{SIGBUS, BUS_ADRALN, "BUS_ADRALN", "misaligned address 0x%" PRIx64},
	{SIGBUS, BUS_ADRERR, "BUS_ADRERR",
	 "no page for address 0x%" PRIx64 " (was a mapped file truncated?)"},
	{SIGBUS, BUS_OBJERR, "BUS_OBJERR", "hardware error at address 0x%" PRIx64},
	{SIGILL, ILL_ILLOPC, "ILL_ILLOPC", "illegal instruction at 0x%" PRIx64},
	{SIGILL, ILL_ILLOPN, "ILL_ILLOPN", "illegal operand at 0x%" PRIx64},
	{SIGFPE, FPE_INTDIV, "FPE_INTDIV", "integer division by zero at 0x%" PRIx64},
	{SIGFPE, FPE_INTOVF, "FPE_INTOVF", "integer overflow at 0x%" PRIx64},
	{SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT", "breakpoint at 0x%" PRIx64},
};

static bool has_address(int signo, int code)
{
	return code > 0 && code != SI_KERNEL &&
	       (signo == SIGSEGV || signo == SIGBUS || signo == SIGILL || signo == SIGFPE ||
		signo == SIGTRAP);
}

/* "SIGSEGV: no memory at address 0x28 (SEGV_MAPERR)" */
static void describe(int signo, int code, uint64_t address, char *buffer, size_t size)
{
	char name[RCORE_SIGNAL_SIZE], what[128];
	rcore_signal_name(signo, name);
	for (size_t i = 0; i < RCORE_COUNT(codes); i++) {
		if (codes[i].signo != signo || codes[i].code != code)
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
		snprintf(what, sizeof(what), codes[i].text, address);
#pragma GCC diagnostic pop
		snprintf(buffer, size, "%s: %s (%s)", name, what, codes[i].name);
		return;
	}
	snprintf(buffer, size, "%s", name);
}

static void find_place(struct rcore_snapshot *snapshot)
{
	struct rcore_cause *cause = &snapshot->cause;
	cause->thread = cause->fiber = -1;
	for (size_t i = 0; cause->tid && i < snapshot->thread_count; i++) {
		if (snapshot->threads[i].tid != cause->tid || snapshot->threads[i].is_ended)
			continue;
		cause->thread = (int)i;
		cause->fiber = snapshot->threads[i].current_fiber;
	}
}

static void place_text(const struct rcore_snapshot *snapshot, char *buffer, size_t size)
{
	const struct rcore_cause *cause = &snapshot->cause;
	buffer[0] = 0;
	if (cause->overflow.present)
		return;
	if (cause->thread < 0) {
		if (cause->tid && snapshot->thread_count)
			snprintf(buffer, size,
				 ", in kernel thread %d, which runs no Ruby thread",
				 cause->tid);
		return;
	}
	int used =
		snprintf(buffer, size, ", in thread %s", snapshot->threads[cause->thread].id);
	if (cause->fiber >= 0 && used > 0)
		snprintf(buffer + used, size - (size_t)used, ", fiber %s",
			 snapshot->fibers[cause->fiber].id);
}

static void sender_text(int sender, const struct rcore_process *process, char *buffer,
			size_t size)
{
	buffer[0] = 0;
	if (sender && sender == process->pid)
		snprintf(buffer, size, ", raised by the process itself");
	else if (sender)
		snprintf(buffer, size, ", sent by process %d", sender);
}

/*
 * Describes the fault; if Ruby turned a fault into an abort, the original one.
 */
static void fault_text(struct rcore_snapshot *snapshot, char *buffer, size_t size)
{
	const struct rcore_cause *cause = &snapshot->cause;
	bool handled = cause->original_signo;
	char name[RCORE_SIGNAL_SIZE], what[256];
	int signo = handled ? cause->original_signo : cause->signo;
	uint64_t address = handled ? cause->original_address : cause->address;
	if (!cause->overflow.present) {
		describe(signo, handled ? cause->original_code : cause->code, address, buffer,
			 size);
		rcore_fault_describe(&cause->fault, what, sizeof(what));
		size_t used = strlen(buffer);
		if (what[0])
			rcore_format(buffer + used, size - used, ": %s", what);
		return;
	}
	rcore_overflow_text(snapshot, what, sizeof(what));
	snprintf(buffer, size, "%s: %s", rcore_signal_name(signo, name), what);
}

static const char *text_of(struct rcore_snapshot *snapshot, const struct rcore_process *process)
{
	const struct rcore_cause *cause = &snapshot->cause;
	char what[512], place[128], sender[64], end[64] = "";
	bool handled = cause->original_signo;
	fault_text(snapshot, what, sizeof(what));
	place_text(snapshot, place, sizeof(place));
	sender_text(handled ? cause->original_sender_pid : cause->sender_pid, process, sender,
		    sizeof(sender));
	if (handled && cause->signo != cause->original_signo) {
		char name[RCORE_SIGNAL_SIZE];
		snprintf(end, sizeof(end), "; Ruby then ended with %s",
			 rcore_signal_name(cause->signo, name));
	}
	return rcore_arena_printf(&snapshot->arena, "Killed by %s%s%s%s", what, sender, place,
				  end);
}

/* The stack pointer of the faulting code, or 0 if unknown. */
static uint64_t fault_sp(const struct rcore_process *process,
			 const struct rcore_signal_frame *original)
{
	if (original)
		return original->sp;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (thread->tid == process->crashed_tid && thread->has_registers)
			return thread->registers[rcore_register_sp(process->machine)];
	}
	return 0;
}

static void find_overflow(const struct rcore_process *process,
			  const struct rcore_signal_frame *original,
			  struct rcore_snapshot *snapshot)
{
	struct rcore_cause *cause = &snapshot->cause;
	int signo = original ? cause->original_signo : cause->signo;
	bool known = original ? cause->has_original_address : cause->has_address;
	uint64_t sp = fault_sp(process, original);
	bool nothing_saved = !original && !process->siginfo.present;
	uint64_t address = original ? cause->original_address : cause->address;
	/*
	 * If the stack of a thread without an alternate signal stack overflows,
	 * the thread cannot run Ruby's handler. So the kernel ends the process,
	 * with SI_KERNEL.
	 */
	if (!original && cause->code == SI_KERNEL && cause->fault.has_address) {
		known = true;
		address = cause->fault.address;
	}
	if (signo == SIGSEGV && sp && (known ? address != 0 : nothing_saved))
		rcore_overflow_find(process, snapshot, address, sp, &cause->overflow);
}

struct rcore_error *rcore_cause_find(const struct rcore_process *process,
				     const struct rcore_signal_frame *original,
				     struct rcore_snapshot *snapshot)
{
	struct rcore_cause *cause = &snapshot->cause;
	const struct rcore_siginfo *info = &process->siginfo;
	cause->tid = process->crashed_tid;
	find_place(snapshot);
	cause->signo = info->present && info->signo ? info->signo : process->signo;
	cause->present = cause->signo > 0;
	if (!cause->present)
		return NULL;
	if (info->present) {
		cause->code = info->code;
		cause->sender_pid = info->sender_pid;
		cause->from_outside = rcore_process_was_killed(process);
		cause->address = info->address;
		cause->has_address = has_address(cause->signo, cause->code);
	}
	if (original) {
		const struct rcore_siginfo *fault = &original->info;
		cause->original_signo = fault->signo;
		cause->original_code = fault->code;
		cause->original_address = fault->address;
		cause->original_sender_pid = fault->sender_pid;
		/* Ruby's handler aborts: in the core, Ruby is the sender. */
		cause->from_outside = rcore_siginfo_is_of_other(fault, process->pid);
		cause->has_original_address = has_address(fault->signo, fault->code);
	}
	find_overflow(process, original, snapshot);
	rcore_messages_find(snapshot);
	struct rcore_error *err = rcore_fault_find(process, snapshot);
	if (err)
		return err;
	cause->text = text_of(snapshot, process);
	return cause->text ? NULL : rcore_error_no_memory();
}
