/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a Ruby that tests/stops/run stops at random: writes what Ruby itself says the stacks
 * are at that moment.
 *
 * The harness stops the process with SIGSTOP, lets rcore look, queues MOMENT for every kernel
 * thread, and continues the process. A thread enters the handler before it executes another
 * instruction of its own. When all have come, each that Ruby knows forks: the child asks Ruby for
 * backtraces, in a copy of the memory that nothing has changed, and may crash or hang in it without
 * harm. Then the program continues. Nothing here runs before the first stop.
 *
 * There are two truths: rb_make_backtrace() and Thread#backtrace, which allocate objects and so fail
 * during a garbage collection, and rb_backtrace(), which only reads and prints. They are written as
 * records, "TAG LENGTH\nBYTES\n".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOMENT     (SIGRTMIN + 7)
#define LATE_MS    5000  /* to wait for the other threads of the process */
#define TRUTH_MS   10000 /* for a child to say what it knows */
#define STRING_MAX 65536

typedef uintptr_t VALUE;
typedef uintptr_t ID;

/* Of the Ruby that this is loaded into; weak, because no release has all of them. */
#define RUBY(type, name, ...) extern type name(__VA_ARGS__) __attribute__((weak))
RUBY(int, ruby_native_thread_p, void);
RUBY(int, rb_during_gc, void);
RUBY(void, rb_backtrace, void);
RUBY(VALUE, rb_make_backtrace, void);
RUBY(VALUE, rb_thread_current, void);
RUBY(VALUE, rb_fiber_current, void);
RUBY(VALUE, rb_protect, VALUE (*)(VALUE), VALUE, int *);
RUBY(VALUE, rb_funcallv, VALUE, ID, int, const VALUE *);
RUBY(VALUE, rb_block_call, VALUE, ID, int, const VALUE *, VALUE (*)(VALUE, VALUE), VALUE);
RUBY(VALUE, rb_path2class, const char *);
RUBY(ID, rb_intern2, const char *, long);
RUBY(VALUE, rb_ary_new, void);
RUBY(VALUE, rb_ary_push, VALUE, VALUE);
RUBY(VALUE, rb_ary_entry, VALUE, long);
RUBY(int, rb_respond_to, VALUE, ID);
RUBY(unsigned long, rb_num2ulong, VALUE);
RUBY(char *, rb_string_value_ptr, volatile VALUE *);

/* Shared with the harness: the file CONTROL, in this order. */
struct control {
	_Atomic uint32_t ready;    /* by this library: 1 */
	_Atomic uint32_t number;   /* by the harness: which stop */
	_Atomic uint32_t expected; /* by the harness: how many threads it queued MOMENT for */
	_Atomic uint32_t leader; /* by the harness: who asks for the other threads and fibers */
	_Atomic uint32_t arrived, forked, finished;
	_Atomic uint32_t late; /* threads that gave up waiting for the others */
};

static struct control *control;
static char folder[4096];

static void pause_ms(long ms)
{
	struct timespec time = {ms / 1000, ms % 1000 * 1000000};

	syscall(SYS_nanosleep, &time, NULL);
}

static bool wait_for(const _Atomic uint32_t *counter, uint32_t expected)
{
	for (int ms = 0; ms < LATE_MS; ms++) {
		if (atomic_load(counter) >= expected)
			return true;
		pause_ms(1);
	}
	return false;
}

static void record(int fd, const char *tag, const char *bytes, size_t length)
{
	char head[128];
	int size = snprintf(head, sizeof(head), "%s %zu\n", tag, length);

	if (write(fd, head, size) != size || write(fd, bytes, length) != (ssize_t)length ||
	    write(fd, "\n", 1) != 1)
		return; /* cut off: the harness sees that it has no end */
}

static ID intern(const char *name)
{
	return rb_intern2(name, strlen(name));
}

static VALUE call(VALUE object, const char *method)
{
	return rb_funcallv(object, intern(method), 0, NULL);
}

static unsigned long length_of(VALUE object)
{
	return rb_num2ulong(call(object, "size"));
}

/* Neither nil nor false, in every release: Qnil is 8 or 4, Qfalse 0. */
static bool true_value(VALUE value)
{
	return value & ~(VALUE)0xc;
}

struct subject {
	int fd;
	const char *kind;
	VALUE object;
};

/* Writes the array of strings of a backtrace, or nil. */
static void tell(int fd, const char *kind, VALUE object, VALUE backtrace)
{
	char what[64];
	int size = snprintf(what, sizeof(what), "%#lx", (unsigned long)object);

	record(fd, kind, what, size);
	for (unsigned long i = 0; true_value(backtrace) && i < length_of(backtrace); i++) {
		VALUE line = rb_ary_entry(backtrace, i);
		unsigned long length = rb_num2ulong(call(line, "bytesize"));

		record(fd, "at", rb_string_value_ptr(&line),
		       length < STRING_MAX ? length : STRING_MAX);
	}
	record(fd, true_value(backtrace) ? "whole" : "none", "", 0);
}

static VALUE tell_own(VALUE argument)
{
	const struct subject *subject = (const struct subject *)argument;

	tell(subject->fd, "thread", rb_thread_current(), rb_make_backtrace());
	return 0;
}

static VALUE tell_backtrace(VALUE argument)
{
	const struct subject *subject = (const struct subject *)argument;

	if (!rb_respond_to(subject->object, intern("backtrace")))
		return 0;
	tell(subject->fd, subject->kind, subject->object, call(subject->object, "backtrace"));
	VALUE text = call(subject->object, "to_s");
	record(subject->fd, "is", rb_string_value_ptr(&text),
	       rb_num2ulong(call(text, "bytesize")));
	return 0;
}

/* Not for `current`, which has written its own before it called anything. */
static void tell_each(int fd, const char *kind, VALUE objects, VALUE current)
{
	unsigned long count = length_of(objects);
	int state;

	for (unsigned long i = 0; i < count; i++) {
		struct subject subject = {fd, kind, rb_ary_entry(objects, i)};

		if (subject.object != current)
			rb_protect(tell_backtrace, (VALUE)&subject, &state);
	}
}

static VALUE tell_threads(VALUE argument)
{
	const struct subject *subject = (const struct subject *)argument;
	VALUE current = rb_thread_current();

	tell_each(subject->fd, "thread", call(rb_path2class("Thread"), "list"), current);
	return 0;
}

static VALUE keep(VALUE object, VALUE all)
{
	return rb_ary_push(all, object);
}

static VALUE tell_fibers(VALUE argument)
{
	const struct subject *subject = (const struct subject *)argument;
	VALUE current = rb_fiber_current();
	VALUE fibers = rb_ary_new();
	VALUE of = rb_path2class("Fiber");

	rb_block_call(rb_path2class("ObjectSpace"), intern("each_object"), 1, &of, keep,
		      fibers);
	tell_each(subject->fd, "fiber", fibers, current);
	return 0;
}

static int open_in(const char *kind, uint32_t number, int tid, int flags)
{
	char path[sizeof(folder) + 64];

	snprintf(path, sizeof(path), "%s/%s.%u.%d", folder, kind, number, tid);
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | flags, 0644);
}

static void tell_all(uint32_t number, int tid)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP};
	int plain = open_in("plain", number, tid, O_TRUNC);
	int fd = open_in("truth", number, tid, O_TRUNC);
	int state;
	char text[32];
	struct subject subject = {fd, NULL, 0};

	if (plain < 0 || fd < 0)
		_exit(3);
	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], SIG_DFL);
	setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
	dup2(plain, 2);
	record(fd, "current", text,
	       snprintf(text, sizeof(text), "%#lx", (unsigned long)rb_thread_current()));
	rb_backtrace();
	if (write(2, "end\n", 4) != 4)
		_exit(3);
	if (rb_during_gc()) {
		record(fd, "collecting", "", 0);
		_exit(0);
	}
	rb_protect(tell_own, (VALUE)&subject, &state);
	if (tid == (int)control->leader) {
		rb_protect(tell_threads, (VALUE)&subject, &state);
		rb_protect(tell_fibers, (VALUE)&subject, &state);
	}
	record(fd, "end", "", 0);
	_exit(0);
}

/*
 * Ends a child that hangs: a lock that the moment's thread holds is never
 * released in the copy.
 */
static int reap(pid_t child)
{
	int status = 0;

	for (int ms = 0; ms < TRUTH_MS; ms++) {
		if (syscall(SYS_wait4, child, &status, WNOHANG | __WALL, NULL) != 0)
			return status;
		pause_ms(1);
	}
	syscall(SYS_kill, child, SIGKILL);
	syscall(SYS_wait4, child, &status, __WALL, NULL);
	return status;
}

static void tell_end(uint32_t number, int tid, int status)
{
	char text[16];
	int fd = open_in("truth", number, tid, 0);

	if (fd >= 0 && WIFSIGNALED(status))
		record(fd, "died", text, snprintf(text, sizeof(text), "%d", WTERMSIG(status)));
	if (fd >= 0)
		close(fd);
}

static void on_moment(int signo, siginfo_t *info, void *context)
{
	int error = errno;
	uint32_t number = control->number, expected = control->expected;
	int tid = syscall(SYS_gettid);
	long child = -1;

	atomic_fetch_add(&control->arrived, 1);
	if (!wait_for(&control->arrived, expected)) {
		atomic_fetch_add(&control->late, 1);
	} else if (ruby_native_thread_p()) {
		/* Not fork(), which waits for locks. The child's end sends no signal, because the program may handle that of its children. */
		child = syscall(SYS_clone, 0, 0, 0, 0, 0);
		if (child == 0)
			tell_all(number, tid);
	}
	atomic_fetch_add(&control->forked, 1);
	wait_for(&control->forked, expected);
	if (child > 0)
		tell_end(number, tid, reap(child));
	atomic_fetch_add(&control->finished, 1);
	errno = error;
}

/* Programs that the program starts are not watched. */
__attribute__((constructor)) static void prepare(void)
{
	struct sigaction action = {.sa_sigaction = on_moment,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	const char *named = getenv("STOPS_FOLDER");
	char path[sizeof(folder) + 64];
	int fd;

	if (!named || strlen(named) >= sizeof(folder))
		return;
	strcpy(folder, named);
	unsetenv("STOPS_FOLDER");
	unsetenv("LD_PRELOAD");
	snprintf(path, sizeof(path), "%s/control", folder);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (control == MAP_FAILED)
		return;
	sigfillset(&action.sa_mask);
	sigaction(MOMENT, &action, NULL);
	atomic_store(&control->ready, 1);
}
