/* SPDX-License-Identifier: MIT */
/*
 * Tests what the reader of running processes refuses, and how it finds mapped
 * files.
 */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "live_child.h"
#include "target/live/live_files.h"
#include "target/live/live_tree.h"
#include "suite.h"

static void refuses(int pid, enum rcore_error_code code, const char *words)
{
	struct rcore_live *live = NULL;
	says(rcore_live_open(pid, &live), code, words);
	ck_assert_ptr_null(live);
}

START_TEST(notices_the_end)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_error *err = rcore_live_check(live);
	uint8_t byte;
	ck_assert_ptr_null(err);
	live_begun(live, true);
	kill(child.pid, SIGKILL);
	ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
	ck_assert_int_ne(rcore_read(rcore_live_memory(live), address_of(child.shared->pattern),
				    &byte, 1),
			 RCORE_FAULT_NONE);
	live_ended(live);
	says(rcore_live_check(live), RCORE_ERROR_OS, "ended while it was being read");
	says(rcore_live_begin(live, true), RCORE_ERROR_OS, "ended while it was being read");
	says(rcore_live_begin(live, false), RCORE_ERROR_OS, "ended while it was being read");
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_execs(struct child_shared *shared, const void *argument)
{
	shared->is_ready = 1;
	while (!shared->release)
		usleep(100);
	execlp("sleep", "sleep", "1000", (char *)NULL);
}

START_TEST(notices_another_program)
{
	struct child child = child_start(child_execs, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_error *err = NULL;
	child.shared->release = 1;
	while (!err)
		err = rcore_live_check(live);
	says(err, RCORE_ERROR_OS, "started another program");
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(refuses_what_is_no_process)
{
	struct child child = child_start(child_threads, NULL);
	char words[64];
	refuses(INT32_MAX, RCORE_ERROR_OS, "no process 2147483647");
	snprintf(words, sizeof(words), "use -p %d", child.pid);
	refuses(child.shared->tids[0], RCORE_ERROR_USAGE, words);
	refuses(getpid(), RCORE_ERROR_USAGE, "rcore itself");
	kill(child.pid, SIGKILL);
	siginfo_t info;
	ck_assert_int_eq(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	refuses(child.pid, RCORE_ERROR_OS, "ended before rcore could read it");
	child_stop(&child);
}
END_TEST

static void child_has_a_zombie(struct child_shared *shared, const void *argument)
{
	pid_t pid = fork();
	if (!pid)
		_exit(0);
	shared->tids[0] = pid;
	wait_for_state(pid, 'Z');
	shared->is_ready = 1;
	for (;;)
		pause();
}

START_TEST(refuses_a_zombie)
{
	struct child child = child_start(child_has_a_zombie, NULL);
	char words[64];
	refuses(child.shared->tids[0], RCORE_ERROR_OS, "is a zombie: it has ended");
	snprintf(words, sizeof(words), "process %d (", child.pid);
	refuses(child.shared->tids[0], RCORE_ERROR_OS, words);
	child_stop(&child);
}
END_TEST

static void is_read(struct rcore_live *live, const struct child *child, bool stop)
{
	const struct rcore_process *process = rcore_live_process(live);
	struct rcore_error *err = rcore_live_check(live);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	ck_assert_int_eq(process->pid, child->pid);
	ck_assert_uint_gt(process->mapping_count, 0);
	live_begun(live, stop);
	child_check_memory(rcore_live_memory(live), child);
	live_ended(live);
	ck_assert_ptr_nonnull(live_thread(process, child->shared->tids[0]));
}

/* The memory of such a process is read through another thread. */
START_TEST(reads_without_the_main_thread)
{
	struct child child = child_start(child_loses_its_main_thread, NULL);
	wait_for_state(child.pid, 'Z');
	struct rcore_live *live = live_opened(child.pid);
	is_read(live, &child, _i);
	kill(child.pid, SIGKILL);
	ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
	says(rcore_live_check(live), RCORE_ERROR_OS, "ended while it was being read");
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

START_TEST(follows_threads_that_end)
{
	struct child child = child_start(child_loses_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	is_read(live, &child, _i);
	child.shared->release = 1;
	wait_for_state(child.pid, 'Z');
	is_read(live, &child, _i);
	child.shared->release = 2;
	char path[32];
	snprintf(path, sizeof(path), "/proc/%d", child.pid);
	int folder = open(path, O_RDONLY | O_DIRECTORY);
	while (rcore_live_task_count(folder) != 2)
		usleep(100);
	close(folder);
	is_read(live, &child, _i);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_unmaps(struct child_shared *shared, const void *argument)
{
	uintptr_t header = getauxval(AT_PHDR) & ~(uintptr_t)4095;
	/* The dynamic linker needs that page to find usleep(), used below. */
	usleep(1000);
	shared->failures += munmap((void *)header, 4096) != 0;
	shared->is_ready = 1;
	for (;;)
		usleep(1000);
}

/* A page that is not mapped does not mean that the program was replaced. */
START_TEST(reads_a_program_without_its_header)
{
	struct child child = child_start(child_unmaps, NULL);
	ck_assert_int_eq(child.shared->failures, 0);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_error *err = rcore_live_check(live);
	ck_assert_ptr_null(err);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_is_large(struct child_shared *shared, const void *argument)
{
	enum { SIZE = 128 << 20 };
	char *memory =
		mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(0);
	for (size_t i = 0; i < SIZE; i += 4096)
		memory[i] = 1;
	shared->is_ready = 1;
	for (;;)
		pause();
}

/* The kernel frees the memory before the process becomes a zombie. */
START_TEST(notices_an_end_that_takes_long)
{
	struct child child = child_start(child_is_large, NULL);
	struct rcore_live *live = live_opened(child.pid);
	struct rcore_error *err = NULL;
	kill(child.pid, SIGKILL);
	while (!err)
		err = rcore_live_check(live);
	says(err, RCORE_ERROR_OS, "ended while it was being read");
	ck_assert(!rcore_live_has_executed(live));
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_executes_itself(struct child_shared *shared, const void *argument)
{
	char *const arguments[] = {"sh", (char *)argument, NULL}, *const environment[] = {NULL};
	personality(ADDR_NO_RANDOMIZE);
	shared->is_ready = 1;
	execve("/bin/sh", arguments, environment);
}

/* Only the bytes at AT_RANDOM differ. */
START_TEST(notices_the_same_program_again)
{
	char path[] = "/tmp/rcore-live-XXXXXX";
	int file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	dprintf(file, "sleep 0.1; exec /bin/sh %s\n", path);
	close(file);
	struct child child = child_start(child_executes_itself, path);
	usleep(500000);
	struct rcore_live *live = NULL;
	rcore_error_free(rcore_live_open(child.pid, &live));
	ck_assert_ptr_nonnull(live);
	usleep(1000000);
	says(rcore_live_check(live), RCORE_ERROR_OS, "started another program");
	ck_assert(rcore_live_has_executed(live));
	rcore_live_close(live);
	child_stop(&child);
	unlink(path);
}
END_TEST

/* Process 2 belongs to the kernel if this runs outside of any container. */
START_TEST(refuses_the_kernel)
{
	struct rcore_live_status status;
	int folder = open("/proc/2", O_RDONLY | O_DIRECTORY);
	if (folder < 0 || !rcore_live_status_read(folder, "status", &status) ||
	    strcmp(status.name, "kthreadd") != 0) {
		fprintf(stderr, "check_live: no kernel thread to be seen: not tested\n");
		return;
	}
	close(folder);
	refuses(2, RCORE_ERROR_NOT_RUBY, "is a kernel thread");
}
END_TEST

START_TEST(names_the_tracer)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	pid_t tracer = child_start_tracer(&child);
	char words[96];
	snprintf(words, sizeof(words), "is already traced by process %d (", tracer);
	struct rcore_live *other = live_opened(child.pid);
	says(rcore_live_begin(other, true), RCORE_ERROR_TRACED, words);
	live_begun(other, false);
	child_check_memory(rcore_live_memory(other), &child);
	live_ended(other);
	rcore_live_close(other);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	live_begun(live, true);
	live_ended(live);
	rcore_live_close(live);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

/* Traces `pid` as another rcore does, for so many milliseconds; 0: for ever. */
static pid_t start_other_rcore(int pid, unsigned ms)
{
	int ready[2];
	char byte;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "rcore");
		ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		if (ms)
			usleep(ms * 1000);
		else
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return tracer;
}

START_TEST(waits_for_another_rcore)
{
	struct child child = child_start(child_counts, NULL);
	struct rcore_live *live = live_opened(child.pid);
	pid_t tracer = start_other_rcore(child.pid, 300);
	struct rcore_live *hurried = live_opened(child.pid);
	rcore_live_never_wait(hurried);
	says(rcore_live_begin(hurried, true), RCORE_ERROR_TRACED,
	     "is already traced by process");
	rcore_live_close(hurried);
	live_begun(live, true);
	child_check_memory(rcore_live_memory(live), &child);
	live_ended(live);
	ck_assert_int_eq(waitpid(tracer, NULL, 0), tracer);
	/* One that does not let go is named. */
	tracer = start_other_rcore(child.pid, 0);
	says(rcore_live_begin(live, true), RCORE_ERROR_TRACED, "is already traced by process");
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	rcore_live_close(live);
	child_runs(&child);
	child_stop(&child);
}
END_TEST

static void *pause_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void child_has_threads(struct child_shared *shared, const void *argument)
{
	pthread_t thread;
	shared->is_ready = !pthread_create(&thread, NULL, pause_for_ever, NULL);
	for (;;)
		pause();
}

static bool is_traced(void *context, int tid)
{
	const int *of = context;
	if (tid == *of)
		return true;
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, tid, NULL, NULL), 0);
	return false;
}

/* strace -p TID traces one thread, and not the main one. */
START_TEST(names_the_tracer_of_a_thread)
{
	struct child child = child_start(child_has_threads, NULL);
	struct rcore_live *live = live_opened(child.pid);
	int ready[2];
	char words[96], byte;
	ck_assert_int_eq(pipe(ready), 0);
	pid_t tracer = fork();
	if (!tracer) {
		rcore_live_tasks(rcore_live_folder(live), is_traced, &child.pid);
		ck_assert_int_eq(write(ready[1], "", 1), 1);
		for (;;)
			pause();
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	snprintf(words, sizeof(words), "is already traced by process %d (", tracer);
	says(rcore_live_begin(live, true), RCORE_ERROR_TRACED, words);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

enum { NOBODY = 65534 };

/*
 * Runs in a process of its own, as another user; its exit status is the test's.
 */
static void as_nobody(int pid, const char *words)
{
	pid_t tester = fork();
	if (!tester) {
		struct rcore_live *live;
		if (setgid(NOBODY) || setuid(NOBODY))
			_exit(1);
		struct rcore_error *err = rcore_live_open(pid, &live);
		bool told = err && strstr(err->message, words);
		if (!told)
			fprintf(stderr, "%s\n", err ? err->message : "it was opened");
		_exit(!told);
	}
	int status;
	waitpid(tester, &status, 0);
	ck_assert_int_eq(status, 0);
}

static void child_hides(struct child_shared *shared, const void *argument)
{
	if (!setgid(NOBODY) && !setuid(NOBODY) && !prctl(PR_SET_DUMPABLE, 0))
		shared->is_ready = 1;
	for (;;)
		pause();
}

START_TEST(names_the_permission)
{
	if (geteuid()) {
		refuses(1, RCORE_ERROR_OS, "it belongs to user root");
		return;
	}
	struct child child = child_start(child_sleeps, NULL);
	as_nobody(child.pid, "it belongs to user root, you are nobody; run rcore as root, or "
			     "with sudo (the capability CAP_SYS_PTRACE)");
	child_stop(&child);
	child = child_start(child_hides, NULL);
	as_nobody(child.pid, "(the capability CAP_SYS_PTRACE)");
	child_stop(&child);
}
END_TEST

/* Writes an i386 program that waits for a signal forever. */
static bool write_32_bit(const char *path)
{
	static const uint8_t code[] = {0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7};
	struct {
		Elf32_Ehdr header;
		Elf32_Phdr load;
		uint8_t code[sizeof(code)];
	} file = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB,
				       EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = EM_386,
			   .e_version = EV_CURRENT,
			   .e_entry = 0x08048000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			   .e_phoff = sizeof(Elf32_Ehdr),
			   .e_ehsize = sizeof(Elf32_Ehdr),
			   .e_phentsize = sizeof(Elf32_Phdr),
			   .e_phnum = 1},
		.load = {.p_type = PT_LOAD,
			 .p_vaddr = 0x08048000,
			 .p_filesz = sizeof(file),
			 .p_memsz = sizeof(file),
			 .p_flags = PF_R | PF_X,
			 .p_align = 4096},
	};
	memcpy(file.code, code, sizeof(code));
	int descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	bool written = write(descriptor, &file, sizeof(file)) == sizeof(file);
	return !close(descriptor) && written;
}

START_TEST(refuses_32_bit)
{
	char folder[] = "/tmp/rcore-live-XXXXXX", path[64];
	int status;
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/program", folder);
	ck_assert(write_32_bit(path));
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, (char *)NULL);
		_exit(0);
	}
	/*
	 * The state is 'S' for a moment before exec, too, and /proc/PID/exe
	 * names the program before it is mapped.
	 */
	char name[64], maps[4096];
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	for (;;) {
		int file = open(name, O_RDONLY | O_CLOEXEC);
		ssize_t length = read(file, maps, sizeof(maps) - 1);
		close(file);
		maps[length < 0 ? 0 : length] = '\0';
		if (strstr(maps, path) || waitpid(pid, &status, WNOHANG))
			break;
		usleep(100);
	}
	if (strstr(maps, path)) {
		refuses(pid, RCORE_ERROR_UNSUPPORTED, "is 32-bit");
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	} else {
		fprintf(stderr, "check_live: this kernel runs no i386 programs: not tested\n");
	}
	unlink(path);
	rmdir(folder);
}
END_TEST

/*
 * Opens the mapped file, even if it was removed and another one has its name.
 */
START_TEST(opens_removed_files)
{
	char folder[] = "/tmp/rcore-live-XXXXXX", path[64];
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/file", folder);
	FILE *file = fopen(path, "w");
	fprintf(file, "%4096s", "the first");
	fclose(file);
	struct child child = child_start(child_maps, path);
	file = fopen(path, "w");
	fprintf(file, "%4096s", "another");
	fclose(file);

	struct rcore_live *live = live_opened(child.pid);
	const struct rcore_mapping *mapping = rcore_process_mapping(
		rcore_live_process(live), address_of(child.shared->mapped));
	ck_assert_ptr_nonnull(mapping);
	ck_assert_str_eq(mapping->path + strlen(mapping->path) - strlen(" (deleted)"),
			 " (deleted)");
	if (geteuid() == 0) {
		char text[4097] = "";
		ck_assert_ptr_nonnull(mapping->file);
		file = fopen(mapping->file, "r");
		ck_assert_ptr_nonnull(file);
		ck_assert_uint_eq(fread(text, 1, 4096, file), 4096);
		ck_assert_ptr_nonnull(strstr(text, "the first"));
		fclose(file);
	}
	rcore_live_close(live);
	child_stop(&child);
	unlink(path);
	rmdir(folder);
}
END_TEST

static void child_mounts(struct child_shared *shared, const void *argument)
{
	const char *folder = argument;
	char path[128];
	snprintf(path, sizeof(path), "%s/inside", folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", folder, "tmpfs", 0, NULL))
		_exit(0);
	int file = open(path, O_RDWR | O_CREAT, 0600);
	if (write(file, "inside", 6) != 6)
		_exit(0);
	shared->mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, file, 0);
	shared->is_ready = 1;
	for (;;)
		pause();
}

START_TEST(opens_files_of_other_mounts)
{
	char folder[] = "/tmp/rcore-live-XXXXXX", wanted[128];
	if (geteuid()) {
		fprintf(stderr, "check_live: mount namespaces take root: not tested\n");
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(folder));
	struct child child = child_start(child_mounts, folder);
	struct rcore_live *live = live_opened(child.pid);
	const struct rcore_mapping *mapping = rcore_process_mapping(
		rcore_live_process(live), address_of(child.shared->mapped));
	ck_assert_ptr_nonnull(mapping);
	snprintf(wanted, sizeof(wanted), "/proc/%d/root%s/inside", child.pid, folder);
	ck_assert_str_eq(mapping->file, wanted);
	ck_assert_int_eq(access(wanted, R_OK), 0);
	rcore_live_close(live);
	child_stop(&child);
	rmdir(folder);
}
END_TEST

static void child_in_namespace(struct child_shared *shared, const void *argument)
{
	if (unshare(CLONE_NEWPID))
		_exit(0);
	pid_t pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_threads(shared, NULL);
	}
	shared->release = pid;
	waitpid(pid, NULL, 0);
}

START_TEST(knows_threads_by_their_own_numbers)
{
	if (geteuid()) {
		fprintf(stderr, "check_live: pid namespaces take root: not tested\n");
		return;
	}
	struct child child = child_start(child_in_namespace, NULL);
	while (!child.shared->release)
		usleep(100);
	struct rcore_live *live = live_opened(child.shared->release);
	const struct rcore_process *process = rcore_live_process(live);
	ck_assert_int_eq(rcore_live_inner_pid(live), 1);
	ck_assert_int_eq(child.shared->inner_pid, 1);
	for (int stop = 0; stop < 2; stop++) {
		live_begun(live, stop);
		ck_assert_uint_eq(process->thread_count, CHILD_THREADS + 1);
		ck_assert_int_eq(process->threads[0].tid, 1);
		for (int i = 0; i < CHILD_THREADS; i++)
			ck_assert_ptr_nonnull(live_thread(process, child.shared->tids[i]));
		live_ended(live);
	}
	rcore_live_close(live);
	child_stop(&child);
}
END_TEST

static void child_forks(struct child_shared *shared, const void *argument)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		shared->tids[i] = pid;
	}
	shared->is_ready = 1;
	for (;;)
		pause();
}

START_TEST(lists_a_tree)
{
	struct child child = child_start(child_forks, NULL);
	int *pids;
	size_t count;
	ck_assert_ptr_null(rcore_process_tree(child.pid, &pids, &count));
	ck_assert_uint_eq(count, 3);
	ck_assert_int_eq(pids[0], child.pid);
	ck_assert_int_eq(pids[1], child.shared->tids[0]);
	ck_assert_int_eq(pids[2], child.shared->tids[1]);
	free(pids);
	child_stop(&child);
	says(rcore_process_tree(INT32_MAX, &pids, &count), RCORE_ERROR_OS, "no process");
}
END_TEST

int main(void)
{
	const TTest *const errors[] = {notices_the_end,
				       notices_another_program,
				       notices_an_end_that_takes_long,
				       notices_the_same_program_again,
				       reads_a_program_without_its_header,
				       refuses_what_is_no_process,
				       refuses_a_zombie,
				       refuses_the_kernel,
				       names_the_tracer,
				       waits_for_another_rcore,
				       names_the_tracer_of_a_thread,
				       names_the_permission,
				       refuses_32_bit};
	const TTest *const ends[] = {reads_without_the_main_thread, follows_threads_that_end};
	const TTest *const elsewhere[] = {opens_removed_files, opens_files_of_other_mounts,
					  knows_threads_by_their_own_numbers, lists_a_tree};
	const struct rcore_test_suite suites[] = {
		{
			.name = "live errors, errors",
			.tests = errors,
			.count = RCORE_COUNT(errors),
		},
		{
			.name = "live errors, threads",
			.tests = ends,
			.count = RCORE_COUNT(ends),
			.loops = 2, /* without and with a stop */
		},
		{
			.name = "live errors, elsewhere",
			.tests = elsewhere,
			.count = RCORE_COUNT(elsewhere),
		},
	};
	int status = EXIT_SUCCESS;
	for (size_t i = 0; i < RCORE_COUNT(suites); i++)
		status |= rcore_test_suite_run(&suites[i]);
	return status;
}
