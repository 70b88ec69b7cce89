/* SPDX-License-Identifier: MIT */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/count.h"

#ifdef __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE AUDIT_ARCH_X86_64
#endif

#define CALL(name) __NR_##name

/* Calls that are allowed with any arguments. */
static const int always[] = {
	CALL(read),
	CALL(pread64),
	CALL(readv),
	CALL(write),
	CALL(pwrite64),
	CALL(writev),
	CALL(lseek),
	CALL(close),
	CALL(close_range),
	CALL(dup),
	CALL(dup3),
	CALL(ftruncate),
	CALL(fallocate),
	CALL(fsync),
	CALL(fstat),
	CALL(newfstatat),
	CALL(statx),
	CALL(readlinkat),
	CALL(faccessat),
	CALL(faccessat2),
	CALL(getdents64),
	CALL(getcwd),
	CALL(fstatfs),
	CALL(statfs),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(mincore),
	CALL(brk),
	CALL(futex),
	CALL(sched_yield),
	CALL(sched_getaffinity),
	CALL(exit),
	CALL(exit_group),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(sigaltstack),
	CALL(clock_gettime),
	CALL(clock_getres),
	CALL(clock_nanosleep),
	CALL(gettimeofday),
	CALL(getpid),
	CALL(gettid),
	CALL(getuid),
	CALL(geteuid),
	CALL(getgid),
	CALL(getegid),
	CALL(getrandom),
	CALL(getrlimit),
	CALL(setrlimit),
	CALL(uname),
	CALL(sysinfo),
	CALL(umask),
	CALL(memfd_create),
	CALL(setitimer),
	CALL(ppoll),
	CALL(recvmsg),
	CALL(sendmsg),
	CALL(recvfrom),
	CALL(sendto),
	CALL(set_robust_list),
	CALL(set_tid_address),
	CALL(rseq),
	CALL(restart_syscall),
#ifdef __x86_64__
	/* aarch64 has only the newer calls that replace these. */
	CALL(stat),
	CALL(lstat),
	CALL(access),
	CALL(readlink),
	CALL(dup2),
	CALL(poll),
	CALL(alarm),
#endif
};

/*
 * These fail with ENOSYS. A filter cannot check their arguments, which are in
 * memory. After clone3(), the C library tries clone(), whose flags are in a
 * register.
 */
static const int unknown[] = {CALL(clone3), CALL(openat2)};

/*
 * The commands of fcntl() that are allowed. F_SETOWN and F_SETSIG, which make
 * the kernel send signals, are not.
 */
static const int commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL};

static const int for_fork[] = {CALL(socketpair), CALL(pipe2), CALL(wait4)};

enum {
	WRITING = O_ACCMODE | O_CREAT | O_TRUNC,
	/* These neither wait for anything nor affect a device. */
	HARMLESS = O_NONBLOCK | O_DIRECTORY | O_PATH,
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
		     CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	MAX_FILTER = 512,
	REFUSE = SECCOMP_RET_ERRNO | EPERM,
};

struct filter {
	struct sock_filter items[MAX_FILTER];
	unsigned short count;
};

static void add(struct filter *filter, unsigned code, uint32_t value, uint8_t if_true,
		uint8_t if_false)
{
	filter->items[filter->count++] =
		(struct sock_filter){(uint16_t)code, if_true, if_false, value};
}

static void end(struct filter *filter, uint32_t verdict)
{
	add(filter, BPF_RET | BPF_K, verdict, 0, 0);
}

/* Skips the next `size` instructions unless the call is `call`. */
static void if_call(struct filter *filter, int call, uint8_t size)
{
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, size);
}

/* The kernel, too, looks at the lower half of these arguments only. */
static void load(struct filter *filter, size_t argument)
{
	size_t offset = offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t);
	add(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void all(struct filter *filter, const int *calls, size_t count, uint32_t verdict)
{
	for (size_t i = 0; i < count; i++) {
		if_call(filter, calls[i], 1);
		end(filter, verdict);
	}
}

/* Allows a call if `test` holds for an argument and the value. */
static void if_argument(struct filter *filter, int call, size_t argument, unsigned test,
			uint32_t value, bool holds)
{
	if_call(filter, call, 4);
	load(filter, argument);
	add(filter, BPF_JMP | BPF_K | test, value, holds ? 0 : 1, holds ? 1 : 0);
	end(filter, SECCOMP_RET_ALLOW);
	end(filter, REFUSE);
}

static void without(struct filter *filter, int call, size_t argument, uint32_t bits)
{
	if_argument(filter, call, argument, BPF_JSET, bits, false);
}

static void equal(struct filter *filter, int call, size_t argument, uint32_t value)
{
	if_argument(filter, call, argument, BPF_JEQ, value, true);
}

static void one_of(struct filter *filter, int call, size_t argument, const int *values,
		   size_t count)
{
	if_call(filter, call, (uint8_t)(2 + 2 * count));
	load(filter, argument);
	for (size_t i = 0; i < count; i++) {
		add(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)values[i], 0, 1);
		end(filter, SECCOMP_RET_ALLOW);
	}
	end(filter, REFUSE);
}

/*
 * Allows to open a file for reading if a flag rules out that this waits.
 * Otherwise the kernel sends SIGSYS, and on_call() opens the file instead.
 */
static void opening(struct filter *filter)
{
	if_call(filter, CALL(openat), 6);
	load(filter, 2);
	add(filter, BPF_JMP | BPF_JSET | BPF_K, WRITING, 0, 1);
	end(filter, REFUSE);
	add(filter, BPF_JMP | BPF_JSET | BPF_K, HARMLESS, 0, 1);
	end(filter, SECCOMP_RET_ALLOW);
	end(filter, SECCOMP_RET_TRAP);
}

static void make(struct filter *filter, bool may_fork)
{
	add(filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	add(filter, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	end(filter, SECCOMP_RET_KILL_PROCESS);
	add(filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
	all(filter, always, RCORE_COUNT(always), SECCOMP_RET_ALLOW);
	all(filter, unknown, RCORE_COUNT(unknown), SECCOMP_RET_ERRNO | ENOSYS);
	if (may_fork) {
		all(filter, for_fork, RCORE_COUNT(for_fork), SECCOMP_RET_ALLOW);
		without(filter, CALL(clone), 0, NAMESPACES);
	}
	without(filter, CALL(mmap), 2, PROT_EXEC);
	without(filter, CALL(mprotect), 2, PROT_EXEC);
	one_of(filter, CALL(fcntl), 1, commands, RCORE_COUNT(commands));
	equal(filter, CALL(prlimit64), 0, 0);               /* this process */
	equal(filter, CALL(ioctl), 1, TCGETS);              /* isatty() */
	equal(filter, CALL(tgkill), 0, (uint32_t)getpid()); /* abort() */
	opening(filter);
	end(filter, REFUSE);
}

static bool is_plain(const struct stat *status)
{
	return S_ISREG(status->st_mode) || S_ISDIR(status->st_mode);
}

/*
 * Opens a regular file or a folder: a FIFO would wait for a writer. Returns a
 * descriptor or -errno.
 */
static long open_for(int folder, const char *path, int flags)
{
	struct stat status;
	if (fstatat(folder, path, &status, 0))
		return -errno;
	if (!is_plain(&status))
		return -EACCES;
	int fd = openat(folder, path, flags | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &status) && is_plain(&status))
		return fd;
	close(fd);
	return -EACCES;
}

static void on_call(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	ucontext_t *at = context;
#ifdef __aarch64__
	__u64 *registers = at->uc_mcontext.regs;
	registers[0] = (__u64)open_for((int)registers[0], (const char *)registers[1],
				       (int)registers[2]);
#else
	greg_t *registers = at->uc_mcontext.gregs;
	registers[REG_RAX] = open_for((int)registers[REG_RDI], (const char *)registers[REG_RSI],
				      (int)registers[REG_RDX]);
#endif
	errno = saved;
}

/*
 * Lowers a limit. For RLIMIT_CPU, the kernel sends SIGXCPU at `soft`, and
 * SIGKILL at `hard`.
 */
static void limit(int resource, uint64_t soft, uint64_t hard)
{
	struct rlimit now;
	if (getrlimit(resource, &now))
		return;
	if (now.rlim_max > hard)
		now.rlim_max = hard;
	now.rlim_cur = now.rlim_max < soft ? now.rlim_max : soft;
	setrlimit(resource, &now);
}

/*
 * Returns the bytes that RLIMIT_DATA counts, plus those of the stack: "data" in
 * /proc/PID/statm includes it.
 */
static uint64_t used_memory(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (file && fscanf(file, "%*u %*u %*u %*u %*u %lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

bool rcore_confine(const struct rcore_confinement *confinement)
{
	struct filter filter = {.count = 0};
	const struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	sigset_t mask;
	limit(RLIMIT_CORE, 0, 0);
	if (confinement->memory)
		limit(RLIMIT_DATA, used_memory() + confinement->memory,
		      used_memory() + confinement->memory);
	if (confinement->seconds)
		limit(RLIMIT_CPU, confinement->seconds, confinement->seconds + 1);
	if (confinement->no_filter)
		return true;
	make(&filter, confinement->may_fork);
	sigemptyset(&mask);
	sigaddset(&mask, SIGSYS);
	const struct sock_fprog program = {filter.count, filter.items};
	return !sigaction(SIGSYS, &action, NULL) && !sigprocmask(SIG_UNBLOCK, &mask, NULL) &&
	       !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
