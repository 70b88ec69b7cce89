/* SPDX-License-Identifier: MIT */
#include "target/live/syscall.h"

#include <elf.h>
#include <signal.h>

#include "base/count.h"

/*
 * arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h
 * of Linux.
 */
static const struct {
	int x86_64, aarch64; /* -1: not on this machine */
	const char *name;
	enum rcore_syscall_role role;
} syscalls[] = {
	{0, 63, "read", RCORE_SYSCALL_READ},
	{1, 64, "write", RCORE_SYSCALL_WRITE},
	{2, -1, "open", RCORE_SYSCALL_OPEN},
	{7, -1, "poll", RCORE_SYSCALL_POLL},
	{17, 67, "pread64", RCORE_SYSCALL_READ},
	{18, 68, "pwrite64", RCORE_SYSCALL_WRITE},
	{19, 65, "readv", RCORE_SYSCALL_READ},
	{20, 66, "writev", RCORE_SYSCALL_WRITE},
	{23, -1, "select", RCORE_SYSCALL_SELECT},
	{34, -1, "pause", RCORE_SYSCALL_OTHER},
	{35, 101, "nanosleep", RCORE_SYSCALL_OTHER},
	{40, 71, "sendfile", RCORE_SYSCALL_WRITE},
	{42, 203, "connect", RCORE_SYSCALL_WRITE},
	{43, 202, "accept", RCORE_SYSCALL_READ},
	{44, 206, "sendto", RCORE_SYSCALL_WRITE},
	{45, 207, "recvfrom", RCORE_SYSCALL_READ},
	{46, 211, "sendmsg", RCORE_SYSCALL_WRITE},
	{47, 212, "recvmsg", RCORE_SYSCALL_READ},
	{61, 260, "wait4", RCORE_SYSCALL_WAIT},
	{72, 25, "fcntl", RCORE_SYSCALL_OTHER},
	{73, 32, "flock", RCORE_SYSCALL_OTHER},
	{74, 82, "fsync", RCORE_SYSCALL_WRITE},
	{75, 83, "fdatasync", RCORE_SYSCALL_WRITE},
	{202, 98, "futex", RCORE_SYSCALL_OTHER},
	{219, 128, "restart_syscall", RCORE_SYSCALL_OTHER},
	{230, 115, "clock_nanosleep", RCORE_SYSCALL_OTHER},
	{232, -1, "epoll_wait", RCORE_SYSCALL_EPOLL},
	{247, 95, "waitid", RCORE_SYSCALL_OTHER},
	{257, 56, "openat", RCORE_SYSCALL_OPEN_AT},
	{270, 72, "pselect6", RCORE_SYSCALL_SELECT},
	{271, 73, "ppoll", RCORE_SYSCALL_POLL},
	{275, 76, "splice", RCORE_SYSCALL_READ},
	{281, 22, "epoll_pwait", RCORE_SYSCALL_EPOLL},
	{288, 242, "accept4", RCORE_SYSCALL_READ},
	{299, 243, "recvmmsg", RCORE_SYSCALL_READ},
	{307, 269, "sendmmsg", RCORE_SYSCALL_WRITE},
	{426, 426, "io_uring_enter", RCORE_SYSCALL_OTHER},
	{441, 441, "epoll_pwait2", RCORE_SYSCALL_EPOLL},
	{449, 449, "futex_waitv", RCORE_SYSCALL_OTHER},
};

/* In user_regs_struct: orig_rax, rax, and rdi, rsi, rdx, r10, r8, r9. */
enum { ORIG_RAX = 15, RAX = 10, X86_64_REGISTERS = 16 };
static const int x86_64_arguments[] = {14, 13, 12, 7, 9, 8};

/*
 * The result of a call that a signal, a debugger or the end of the process
 * interrupted: include/linux/errno.h.
 */
enum { ERESTARTSYS = 512, ERESTART_RESTARTBLOCK = 516, INTERRUPTED = 4 };

/*
 * After a stop, poll() and calls with a relative timeout go on as
 * restart_syscall: the kernel changes the number and keeps the arguments
 * (arch_do_signal_or_restart() of arch/x86/kernel/signal.c). Returns the number
 * with which the program entered the kernel, or -1.
 *
 * Most C libraries load it just before the call: mov $number,%eax; syscall. If
 * they do not (glibc 2.41 has one place for all calls), the arguments of poll()
 * are recognized: struct pollfd *fds, nfds_t nfds. revents is zero until the
 * kernel fills it, before poll() returns.
 */
enum { RIP = 16, POLL = 7, RESTART = 219, MAX_POLLED = 1024 };
static int restarted(const struct rcore_native_thread *thread, struct rcore_memory *memory,
		     const uint64_t *arguments)
{
	enum { LENGTH = 7, MOV_EAX = 0xb8, MAX_FD = 1 << 20, FUTEX_PRIVATE = 0x80 };
	unsigned char code[LENGTH];
	struct {
		int32_t fd;
		uint16_t events, revents;
	} polled;
	if (thread->register_count > RIP &&
	    !rcore_read(memory, thread->registers[RIP] - LENGTH, code, LENGTH) &&
	    code[0] == MOV_EAX && code[5] == 0x0f && code[6] == 0x05)
		return (int)(code[1] | code[2] << 8 | (code[3] & 0x7f) << 16);
	if (!arguments[1] || arguments[1] > MAX_POLLED || arguments[1] & FUTEX_PRIVATE)
		return -1;
	for (uint64_t i = 0; i < arguments[1]; i++)
		if (rcore_read(memory, arguments[0] + i * sizeof(polled), &polled,
			       sizeof(polled)) ||
		    polled.fd < -1 || polled.fd > MAX_FD || polled.revents || !polled.events)
			return -1;
	return POLL;
}

static bool is_interrupted(const struct rcore_native_thread *thread)
{
	int64_t result = -(int64_t)thread->registers[RAX];
	return (result >= ERESTARTSYS && result <= ERESTART_RESTARTBLOCK) ||
	       result == INTERRUPTED;
}

bool rcore_syscall_is_interrupted(unsigned machine, const struct rcore_native_thread *thread)
{
	return machine == EM_X86_64 && thread->has_registers &&
	       thread->register_count >= X86_64_REGISTERS &&
	       (int64_t)thread->registers[ORIG_RAX] >= 0 && is_interrupted(thread);
}

static bool x86_64(const struct rcore_native_thread *thread, struct rcore_memory *memory,
		   struct rcore_syscall *ret)
{
	if (thread->register_count < X86_64_REGISTERS)
		return false;
	int64_t number = (int64_t)thread->registers[ORIG_RAX];
	bool is_unknown = number == RCORE_SYSCALL_UNKNOWN;
	ret->unfinished = is_interrupted(thread);
	if (is_unknown ? !ret->unfinished : number < 0 || number > INT32_MAX)
		return false;
	ret->number = is_unknown ? RESTART : (int)number;
	for (size_t i = 0; i < 6; i++)
		ret->arguments[i] = thread->registers[x86_64_arguments[i]];
	int entered = ret->number == RESTART ? restarted(thread, memory, ret->arguments) : -1;
	if (entered >= 0)
		ret->number = entered;
	return entered >= 0 || !is_unknown;
}

enum { X8 = 8, AARCH64_PC = 32, AARCH64_REGISTERS = 33, AARCH64_INSTRUCTION = 4 };
#define AARCH64_SVC 0xd4000001u

static bool aarch64(const struct rcore_native_thread *thread, struct rcore_memory *memory,
		    struct rcore_syscall *ret)
{
	uint32_t code[2] = {0};
	if (thread->register_count < AARCH64_REGISTERS)
		return false;
	uint64_t pc = thread->registers[AARCH64_PC], number = thread->registers[X8];
	if (rcore_read(memory, pc - AARCH64_INSTRUCTION, code, sizeof(code)) ||
	    (code[0] != AARCH64_SVC && code[1] != AARCH64_SVC) || number > INT32_MAX)
		return false;
	ret->number = (int)number;
	ret->unfinished = true;
	for (size_t i = 0; i < 6; i++)
		ret->arguments[i] = thread->registers[i];
	return true;
}

bool rcore_syscall_of(unsigned machine, const struct rcore_native_thread *thread,
		      struct rcore_memory *memory, struct rcore_syscall *ret)
{
	struct rcore_syscall found = {0};
	if (!thread->has_registers || !(machine == EM_AARCH64 ? aarch64(thread, memory, &found)
							      : x86_64(thread, memory, &found)))
		return false;
	for (size_t i = 0; i < RCORE_COUNT(syscalls); i++)
		if ((machine == EM_AARCH64 ? syscalls[i].aarch64 : syscalls[i].x86_64) ==
		    found.number) {
			found.name = syscalls[i].name;
			found.role = syscalls[i].role;
		}
	*ret = found;
	return true;
}

/*
 * The second argument is the signal. A result replaces the first on aarch64,
 * where a core may not have the code that shows the call.
 */
static bool is_killer(const struct rcore_process *process,
		      const struct rcore_native_thread *thread, struct rcore_memory *memory)
{
	struct rcore_syscall call;
	int kill_number = process->machine == EM_AARCH64 ? 129 : 62;
	return rcore_syscall_of(process->machine, thread, memory, &call) &&
	       call.number == kill_number && call.arguments[1] == (uint64_t)process->signo;
}

void rcore_syscall_find_killer(struct rcore_process *process, struct rcore_memory *memory)
{
	const struct rcore_siginfo *info = &process->siginfo;
	int killer = 0;
	if (!process->signo || !info->present || info->signo != process->signo ||
	    info->code != SI_USER || info->sender_pid != process->pid)
		return;
	for (size_t i = 0; i < process->thread_count; i++) {
		const struct rcore_native_thread *thread = &process->threads[i];
		if (!is_killer(process, thread, memory))
			continue;
		if (!killer || thread->tid == process->crashed_tid)
			killer = thread->tid;
	}
	if (killer || process->machine == EM_X86_64)
		process->crashed_tid = killer;
}
