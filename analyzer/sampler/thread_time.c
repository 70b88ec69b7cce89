/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/hot.h"
#include "sampler/sampler_private.h"
#include "target/live/live_files.h"

struct translation {
	int folder, inner, outer;
};

static bool translate(void *context, int tid)
{
	struct translation *translation = context;
	struct rcore_live_status status;
	char name[64];
	snprintf(name, sizeof(name), "task/%d/status", tid);
	if (rcore_live_status_read(translation->folder, name, &status) &&
	    status.inner_id == translation->inner)
		translation->outer = tid;
	return !translation->outer;
}

/*
 * Returns the id, as we see it, of the thread that has the id `inner` in its
 * own namespace. 0: there is none.
 */
static int outer_tid(const struct rcore_sampler *sampler, int inner)
{
	struct translation translation = {.folder = rcore_live_folder(sampler->live),
					  .inner = inner};
	if (inner > 0)
		rcore_live_tasks(translation.folder, translate, &translation);
	return translation.outer;
}

/*
 * Up to 3.0, a rb_thread_t has no kernel thread id, only a pthread_t, which is
 * the address of the C library's struct pthread. That struct has the id, at the
 * same offset for all threads: the main thread's is the process's id, and
 * another thread's is that of another thread of the process. The main thread
 * alone does not show the offset: in a container its id is 1, and so are many
 * other words.
 */
static int offset_in_pthread(struct rcore_sampler *sampler, uint64_t main_pthread,
			     uint64_t pthread, int pid)
{
	enum { SEARCHED = 1024 };
	int32_t mains[SEARCHED / sizeof(int32_t)], words[RCORE_COUNT(mains)];
	struct rcore_memory *memory = rcore_live_bare_memory(sampler->live);
	if (rcore_read(memory, main_pthread, mains, sizeof(mains)) ||
	    rcore_read(memory, pthread, words, sizeof(words)))
		return 0;
	for (size_t i = 1; i < RCORE_COUNT(words); i++)
		if (mains[i] == pid && words[i] != pid && outer_tid(sampler, words[i]))
			return (int)(i * sizeof(*words));
	return 0;
}

static int inner_tid(struct rcore_sampler *sampler, uint64_t thread)
{
	const struct rcore_layout *layout = sampler->layout;
	struct rcore_memory *memory = rcore_live_bare_memory(sampler->live);
	uint64_t base = thread, value = 0, main_thread = 0;
	const struct rcore_field *tid = &layout->thread.tid;
	if (rcore_has(&layout->thread.nt)) {
		if (rcore_read_field(memory, thread, &layout->thread.nt, &base) || !base)
			return 0;
		tid = &layout->native_thread.tid;
	}
	int pid = rcore_live_inner_pid(sampler->live);
	if (!pid)
		pid = rcore_sampler_pid(sampler);
	rcore_read_field(memory, sampler->vm, &layout->vm.main_thread, &main_thread);
	/* After a fork, that of 3.1 and 3.2 is the parent's. */
	if (thread == main_thread)
		return pid;
	const struct rcore_field *pthread = rcore_has(&layout->thread.nt)
						    ? &layout->native_thread.thread_id
						    : &layout->thread.thread_id;
	uint64_t main_pthread, own = 0;
	if (rcore_has(tid) && !rcore_read_field(memory, base, tid, &value) && value)
		return (int)value;
	if (rcore_read_field(memory, base, pthread, &own) || !own)
		return 0;
	if (!sampler->pthread_tid && !rcore_has(&layout->thread.nt) &&
	    !rcore_read_field(memory, main_thread, pthread, &main_pthread))
		sampler->pthread_tid = offset_in_pthread(sampler, main_pthread, own, pid);
	int32_t found = 0;
	if (sampler->pthread_tid)
		rcore_read(memory, own + (uint64_t)sampler->pthread_tid, &found, sizeof(found));
	return found > 0 ? found : 0;
}

int rcore_thread_tid(struct rcore_sampler *sampler, uint64_t thread, int *ret_inner)
{
	int inner = *ret_inner = inner_tid(sampler, thread);
	if (!inner || !rcore_live_inner_pid(sampler->live))
		return inner;
	return outer_tid(sampler, inner);
}

static int open_file(const struct rcore_sampler *sampler, int tid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "task/%d/%s", tid, name);
	return openat(rcore_live_folder(sampler->live), path, O_RDONLY | O_CLOEXEC);
}

static void close_file(int *file)
{
	if (*file >= 0)
		close(*file);
	*file = -1;
}

void rcore_thread_time_close(struct rcore_sampled_thread *thread)
{
	close_file(&thread->schedstat);
	close_file(&thread->syscall);
	thread->cpu = thread->slices = 0;
	thread->sleep = RCORE_SLEEP_UNKNOWN;
}

struct schedstat {
	uint64_t ran, queued; /* nanoseconds */
	uint64_t slices;
};

/* All zeroes: it cannot be read. */
static RCORE_HOT struct schedstat read_schedstat(const struct rcore_sampled_thread *thread)
{
	struct schedstat ret = {0};
	char text[64], *end;
	ssize_t size = thread->schedstat < 0
			       ? -1
			       : pread(thread->schedstat, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return ret;
	text[size] = '\0';
	ret.ran = strtoull(text, &end, 10);
	ret.queued = strtoull(end, &end, 10);
	ret.slices = strtoull(end, NULL, 10);
	return ret;
}

uint64_t rcore_thread_time_total(const struct rcore_sampled_thread *thread)
{
	return read_schedstat(thread).ran;
}

RCORE_HOT void rcore_thread_note_sleep(struct rcore_sampled_thread *thread)
{
	thread->sleep = thread->slices ? RCORE_SLEEP_NOTED : RCORE_SLEEP_UNKNOWN;
}

RCORE_HOT bool rcore_thread_sleeps_on(struct rcore_sampled_thread *thread)
{
	if (thread->sleep == RCORE_SLEEP_UNKNOWN)
		return false;
	if (read_schedstat(thread).slices == thread->slices)
		return true;
	thread->sleep = RCORE_SLEEP_UNKNOWN;
	return false;
}

RCORE_HOT bool rcore_thread_time(const struct rcore_sampler *sampler,
				 struct rcore_sampled_thread *thread, uint64_t *ret,
				 uint64_t *ret_queued)
{
	bool is_first = thread->schedstat < 0 && thread->tid;
	if (is_first)
		thread->schedstat = open_file(sampler, thread->tid, "schedstat");
	const struct schedstat now = read_schedstat(thread);
	if (now.slices != thread->slices)
		thread->sleep = RCORE_SLEEP_UNKNOWN;
	thread->slices = now.slices;
	/* Earlier time counts only if the kernel thread's clock is known. */
	if (is_first && (!thread->cpu || thread->cpu > now.ran))
		thread->cpu = now.ran;
	if (is_first || now.queued < thread->queued)
		thread->queued = now.queued;
	*ret = now.ran > thread->cpu ? now.ran - thread->cpu : 0;
	*ret_queued = now.queued - thread->queued;
	thread->queued = now.queued;
	if (now.ran)
		thread->cpu = now.ran;
	return now.ran;
}

uint64_t rcore_thread_ran(const struct rcore_sampler *sampler, uint32_t tid)
{
	const struct rcore_sampled_thread thread = {
		.schedstat = open_file(sampler, (int)tid, "schedstat")};
	uint64_t ran = rcore_thread_time_total(&thread);
	if (thread.schedstat >= 0)
		close(thread.schedstat);
	return ran;
}

bool rcore_thread_exists(const struct rcore_sampler *sampler, uint32_t tid)
{
	char path[64];
	snprintf(path, sizeof(path), "task/%" PRIu32, tid);
	return !faccessat(rcore_live_folder(sampler->live), path, F_OK, 0) ||
	       (errno != ENOENT && errno != ESRCH);
}

static struct rcore_thread_clock *clock_of(struct rcore_sampler *sampler, int tid)
{
	for (size_t i = 0; i < sampler->clocks.count; i++)
		if (sampler->clocks.items[i].tid == tid)
			return &sampler->clocks.items[i];
	return NULL;
}

/* Nobody asks for what a kernel thread does until a Ruby thread is on it. */
static void leave_clock(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread)
{
	struct rcore_thread_clock *clock = clock_of(sampler, thread->tid);
	if (!thread->tid)
		return;
	if (!clock && (clock = rcore_push(&sampler->clocks)))
		clock->tid = thread->tid;
	if (clock)
		clock->cpu = thread->cpu;
	thread->tid = thread->inner_tid = 0;
}

RCORE_HOT void rcore_thread_follow(struct rcore_sampler *sampler,
				   struct rcore_sampled_thread *thread)
{
	const struct rcore_field *field = &sampler->layout->thread.nt;
	uint64_t now =
		rcore_piece_field(&thread->track.stack.pieces[RCORE_PIECE_THREAD], field);
	if (!rcore_has_place(field) || now == thread->native_thread)
		return;
	bool is_first = !thread->native_thread && thread->tid;
	thread->native_thread = now;
	if (is_first)
		return;
	leave_clock(sampler, thread);
	if (now)
		thread->tid = rcore_thread_tid(sampler, thread->address, &thread->inner_tid);
	for (size_t i = 0; thread->tid && i < sampler->threads.count; i++)
		if (sampler->threads.items[i] != thread &&
		    sampler->threads.items[i]->tid == thread->tid)
			leave_clock(sampler, sampler->threads.items[i]);
	rcore_thread_time_close(thread);
	const struct rcore_thread_clock *clock = clock_of(sampler, thread->tid);
	if (thread->tid && clock)
		thread->cpu = clock->cpu;
}

void rcore_thread_move(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
		       int tid)
{
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct rcore_sampled_thread *other = sampler->threads.items[i];
		if (other != thread && other->tid != tid)
			continue;
		rcore_thread_time_close(other);
		other->tid = other->inner_tid = 0;
	}
	thread->tid = tid;
}

#ifdef __aarch64__
enum { MACHINE_REGISTERS = 34, NUMBER = 8, RESULT = -1, SP = 31, PC = 32 };
static const int arguments[] = {0, 1, 2, 3, 4, 5};
#else
enum { MACHINE_REGISTERS = 27, NUMBER = 15, RESULT = 10, SP = 19, PC = 16 };
static const int arguments[] = {14, 13, 12, 7, 9, 8};
#endif

/*
 * "NUMBER ARGUMENT ... SP PC", "-1 SP PC" or "running" (proc_pid_syscall(5)).
 * false: it cannot be read.
 */
static bool read_syscall(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			 char *text, size_t size)
{
	if (thread->syscall < 0 && thread->tid)
		thread->syscall = open_file(sampler, thread->tid, "syscall");
	ssize_t count = thread->syscall < 0 ? -1 : pread(thread->syscall, text, size - 1, 0);
	/* Few threads are read more than once, and there may be many. */
	if (sampler->options.off_cpu)
		close_file(&thread->syscall);
	if (count <= 0)
		return false;
	text[count] = '\0';
	return true;
}

int rcore_thread_runs(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread)
{
	char text[256];
	return read_syscall(sampler, thread, text, sizeof(text)) ? text[0] == 'r' : -1;
}

/* In the order of the kernel's elf_gregset_t. */
bool rcore_thread_registers(struct rcore_sampler *sampler, struct rcore_sampled_thread *thread,
			    struct rcore_native_thread *ret)
{
	enum { ERESTARTSYS = 512, WORDS = 8 };
	char text[256], *at = text, *end;
	uint64_t words[WORDS];
	if (!read_syscall(sampler, thread, text, sizeof(text)))
		return false;
	long number = strtol(text, &at, 10);
	if (at == text || number < 0)
		return false;
	for (int i = 0; i < WORDS; i++, at = end) {
		words[i] = strtoull(at, &end, 16);
		if (end == at)
			return false;
	}
	*ret = (struct rcore_native_thread){
		.tid = thread->tid, .has_registers = true, .register_count = MACHINE_REGISTERS};
	for (int i = 0; i < 6; i++)
		ret->registers[arguments[i]] = words[i];
	ret->registers[NUMBER] = (uint64_t)number;
	ret->registers[SP] = words[6];
	ret->registers[PC] = words[7];
	if (RESULT >= 0) /* it has not ended */
		ret->registers[RESULT] = (uint64_t) - (int64_t)ERESTARTSYS;
	return true;
}

int rcore_sampler_pid(const struct rcore_sampler *sampler)
{
	return rcore_live_process(sampler->live)->pid;
}
