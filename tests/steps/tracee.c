/* SPDX-License-Identifier: MIT */
#include "tracee.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"

/* Numbers of registers in user_regs_struct, which is as elf_gregset_t. */
enum { R11 = 6, RAX = 10, RCX = 11, RDI = 14, ORIG_RAX = 15, RIP = 16, EFLAGS = 18, R8 = 9 };
_Static_assert(sizeof(struct user_regs_struct) == 27 * sizeof(uint64_t), "as elf_gregset_t");

/* A system call that has not returned after this long blocks. Nothing depends on the figure: one that
 * was only slow is found stopped later. */
enum { BLOCKS_AFTER_NS = 300 * 1000 };

static void die(const char *what)
{
	fprintf(stderr, "steps: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct tracee_thread *thread_of(struct tracee *tracee, int tid)
{
	for (size_t i = 0; i < tracee->threads.count; i++)
		if (tracee->threads.items[i].tid == tid)
			return &tracee->threads.items[i];
	struct tracee_thread *thread = rcore_push(&tracee->threads);
	if (!thread)
		abort();
	thread->tid = tid;
	thread->state = TRACEE_BLOCKED;
	return thread;
}

static void read_registers(struct tracee_thread *thread)
{
	if (ptrace(PTRACE_GETREGS, thread->tid, NULL, thread->registers) && errno != ESRCH)
		die("PTRACE_GETREGS");
}

static void resume(struct tracee_thread *thread, enum __ptrace_request how)
{
	long signal = thread->signal;
	thread->signal = 0;
	thread->state = TRACEE_BLOCKED;
	if (ptrace(how, thread->tid, NULL, signal) && errno != ESRCH)
		die("ptrace");
}

void tracee_start(struct tracee *tracee, char **command)
{
	int ready[2];
	char byte = 0;
	*tracee = (struct tracee){0};
	if (pipe(ready))
		die("pipe");
	int pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ready[1]);
		personality(ADDR_NO_RANDOMIZE);
		if (read(ready[0], &byte, 1) != 1)
			_exit(126);
		close(ready[0]);
		execvp(command[0], command);
		fprintf(stderr, "steps: %s: %s\n", command[0], strerror(errno));
		_exit(127);
	}
	tracee->pid = pid;
	thread_of(tracee, pid);
	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			   PTRACE_O_EXITKILL))
		die("PTRACE_SEIZE");
	close(ready[0]);
	if (write(ready[1], &byte, 1) != 1)
		die("write");
	close(ready[1]);
}

static bool ended(struct tracee *tracee, int tid, int status)
{
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		return false;
	thread_of(tracee, tid)->state = TRACEE_ENDED;
	tracee->has_ended |= tid == tracee->pid;
	return true;
}

enum stop { STOP_STEP, STOP_SYSCALL, STOP_SIGNAL, STOP_CLONE, STOP_EVENT };

/* Notes that a thread has stopped, and why. */
static enum stop stopped(struct tracee *tracee, int tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	unsigned long other;
	if (event == PTRACE_EVENT_CLONE && !ptrace(PTRACE_GETEVENTMSG, tid, NULL, &other))
		thread_of(tracee, (int)other);
	struct tracee_thread *thread = thread_of(tracee, tid);
	thread->state = TRACEE_STOPPED;
	/* If the call took long, others were looked at before it had an effect. */
	tracee->maps_changed |= thread->remaps;
	thread->remaps = false;
	read_registers(thread);
	if (event)
		return event == PTRACE_EVENT_CLONE ? STOP_CLONE : STOP_EVENT;
	if (signal == (SIGTRAP | 0x80))
		return STOP_SYSCALL;
	if (signal == SIGTRAP)
		return STOP_STEP;
	thread->signal = signal;
	return STOP_SIGNAL;
}

static bool is_mark(const struct tracee_thread *thread)
{
	return thread->registers[ORIG_RAX] == SYS_getpgid && !thread->registers[RDI] &&
	       (int64_t)thread->registers[RAX] == -ENOSYS;
}

/* Waits for the next thing that happens to any thread. */
static int wait_any(struct tracee *tracee, int *status)
{
	int tid = waitpid(-1, status, __WALL);
	if (tid < 0)
		tracee->has_ended = true;
	return tid;
}

static void stop_all(struct tracee *tracee)
{
	for (size_t i = 0; i < tracee->threads.count; i++) {
		int tid = tracee->threads.items[i].tid, status;
		if (tracee->threads.items[i].state != TRACEE_BLOCKED)
			continue;
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
		if (waitpid(tid, &status, __WALL) == tid && !ended(tracee, tid, status))
			stopped(tracee, tid, status);
	}
}

bool tracee_run_to_mark(struct tracee *tracee, uint64_t count)
{
	int status;
	for (size_t i = 0; i < tracee->threads.count; i++)
		if (tracee->threads.items[i].state == TRACEE_STOPPED)
			resume(&tracee->threads.items[i], PTRACE_SYSCALL);
	while (!tracee->has_ended) {
		int tid = wait_any(tracee, &status);
		if (tid < 0 || ended(tracee, tid, status))
			continue;
		enum stop stop = stopped(tracee, tid, status);
		struct tracee_thread *thread = thread_of(tracee, tid);
		if (stop == STOP_SYSCALL && is_mark(thread) && ++tracee->rounds == count) {
			tracee->current = (size_t)(thread - tracee->threads.items);
			stop_all(tracee);
			return true;
		}
		resume(thread, PTRACE_SYSCALL);
	}
	return false;
}

/* Notes what happened to other threads; `block` waits for something. */
static void collect(struct tracee *tracee, bool block)
{
	int status, tid;
	while ((tid = waitpid(-1, &status, __WALL | (block ? 0 : WNOHANG))) > 0) {
		block = false;
		if (ended(tracee, tid, status))
			continue;
		if (stopped(tracee, tid, status) == STOP_CLONE)
			resume(thread_of(tracee, tid), PTRACE_SINGLESTEP);
	}
	if (tid < 0 && errno == ECHILD)
		tracee->has_ended = true;
}

void tracee_switch(struct tracee *tracee, uint64_t random)
{
	size_t count = tracee->threads.count;
	while (!tracee->has_ended) {
		collect(tracee, false);
		for (size_t i = 0; i < count; i++) {
			size_t index = (random + i) % count;
			if (tracee->threads.items[index].state != TRACEE_STOPPED)
				continue;
			tracee->current = index;
			return;
		}
		collect(tracee, true);
		count = tracee->threads.count;
	}
}

static bool at_syscall(struct tracee *tracee, const struct tracee_thread *thread)
{
	unsigned char code[2];
	struct iovec local = {code, 2}, remote = {(void *)(uintptr_t)thread->registers[RIP], 2};
	return process_vm_readv(tracee->pid, &local, 1, &remote, 1, 0) == 2 &&
	       code[0] == 0x0f && code[1] == 0x05;
}

/* A system call that a stop has cut short (ERESTARTSYS ... ERESTART_RESTARTBLOCK of the kernel) is made again. */
static bool restarts(const struct tracee_thread *thread)
{
	enum { FIRST = 512, LAST = 516 };
	int64_t result = (int64_t)thread->registers[RAX];
	return (int64_t)thread->registers[ORIG_RAX] >= 0 && -LAST <= result && result <= -FIRST;
}

static void note_syscall(struct tracee *tracee, struct tracee_thread *thread)
{
	switch (thread->registers[RAX]) {
	case SYS_mmap:
	case SYS_munmap:
	case SYS_mremap:
	case SYS_mprotect:
	case SYS_brk:
		tracee->maps_changed = thread->remaps = true;
		break;
	default:
		break;
	}
}

/* What a thread's registers are while it is in the system call that it is about to make. */
static void enter_kernel(struct tracee_thread *thread)
{
	uint64_t *registers = thread->registers;
	registers[ORIG_RAX] = registers[RAX];
	registers[RAX] = (uint64_t)-ENOSYS;
	registers[RIP] += 2;
	registers[RCX] = registers[RIP];
	registers[R11] = registers[EFLAGS];
}

/* Waits for a thread that makes a system call; 0: it blocks. */
static int wait_syscall(int tid, int *status)
{
	uint64_t until = rcore_clock_ns() + BLOCKS_AFTER_NS;
	for (;;) {
		int got = waitpid(tid, status, __WALL | WNOHANG);
		if (got || rcore_clock_ns() > until)
			return got;
		sched_yield();
	}
}

bool tracee_step(struct tracee *tracee)
{
	struct tracee_thread *thread = tracee_current(tracee);
	int tid = thread->tid, status;
	bool makes = at_syscall(tracee, thread), in_syscall = makes || restarts(thread);
	if (makes) {
		note_syscall(tracee, thread);
		enter_kernel(thread);
	}
	for (;;) {
		resume(thread_of(tracee, tid), PTRACE_SINGLESTEP);
		int got =
			in_syscall ? wait_syscall(tid, &status) : waitpid(tid, &status, __WALL);
		if (got != tid || ended(tracee, tid, status)) {
			tracee_switch(tracee, tracee->current + 1);
			return false;
		}
		if (stopped(tracee, tid, status) != STOP_CLONE)
			return true;
	}
}

void tracee_kill(struct tracee *tracee)
{
	int status;
	kill(tracee->pid, SIGKILL);
	while (waitpid(-1, &status, __WALL) > 0)
		continue;
	free(tracee->threads.items);
	*tracee = (struct tracee){0};
}
