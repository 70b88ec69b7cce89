/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/object/array.h"
#include "vm/wait/wait_private.h"

enum { FIXNUM_FLAG = 1, SELECT_LISTS = 3, ANY_CHILD = -1 /* as a Fixnum */ };

/* The meaning of the arguments of a blocking method. */
enum arguments {
	ARGUMENTS_NONE,
	ARGUMENTS_TIME,   /* (seconds = nil) */
	ARGUMENTS_SELECT, /* (read, write = nil, except = nil, seconds = nil) */
	ARGUMENTS_PID,    /* (pid = -1, flags = 0) */
};

static const struct blocking_method {
	const char *label;
	enum rcore_wait_kind kind;
	enum arguments arguments;
} blocking_methods[] = {
	{"Kernel#sleep", RCORE_WAIT_SLEEP, ARGUMENTS_TIME},
	{"Kernel.sleep", RCORE_WAIT_SLEEP, ARGUMENTS_TIME},
	{"Mutex#sleep", RCORE_WAIT_SLEEP, ARGUMENTS_TIME},
	{"Thread::Mutex#sleep", RCORE_WAIT_SLEEP, ARGUMENTS_TIME},
	{"Thread.stop", RCORE_WAIT_STOP, ARGUMENTS_NONE},
	{"IO.select", RCORE_WAIT_IO, ARGUMENTS_SELECT},
	{"Kernel#select", RCORE_WAIT_IO, ARGUMENTS_SELECT},
	{"Kernel.select", RCORE_WAIT_IO, ARGUMENTS_SELECT},
	{"Process.wait", RCORE_WAIT_PROCESS, ARGUMENTS_PID},
	{"Process.wait2", RCORE_WAIT_PROCESS, ARGUMENTS_PID},
	{"Process.waitpid", RCORE_WAIT_PROCESS, ARGUMENTS_PID},
	{"Process.waitpid2", RCORE_WAIT_PROCESS, ARGUMENTS_PID},
	{"Process::Status.wait", RCORE_WAIT_PROCESS, ARGUMENTS_PID},
	{"Process.waitall", RCORE_WAIT_PROCESS, ARGUMENTS_NONE},
	{"Kernel#system", RCORE_WAIT_PROCESS, ARGUMENTS_NONE},
	{"Kernel.system", RCORE_WAIT_PROCESS, ARGUMENTS_NONE},
	{"Kernel#`", RCORE_WAIT_PROCESS, ARGUMENTS_NONE},
	{"Ractor.receive", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor#receive", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor.receive_if", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor#receive_if", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor#take", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor#value", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor#join", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor.select", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor.yield", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
	{"Ractor::Port#receive", RCORE_WAIT_RACTOR, ARGUMENTS_NONE},
};

/*
 * Hooks that show what a fiber waits for even if the method above them does
 * not.
 */
static const struct {
	const char *hook;
	enum rcore_wait_kind kind;
} hook_kinds[] = {
	{"io_wait", RCORE_WAIT_IO},         {"io_read", RCORE_WAIT_IO},
	{"io_write", RCORE_WAIT_IO},        {"io_pread", RCORE_WAIT_IO},
	{"io_pwrite", RCORE_WAIT_IO},       {"io_select", RCORE_WAIT_IO},
	{"kernel_sleep", RCORE_WAIT_SLEEP}, {"process_wait", RCORE_WAIT_PROCESS},
};

static bool is_own(const struct rcore_frame *frame)
{
	if (frame->kind == RCORE_FRAME_RUBY)
		return frame->path && !strncmp(frame->path, "<internal:", strlen("<internal:"));
	return frame->kind != RCORE_FRAME_BROKEN;
}

static bool find_place(struct rcore_waits *waits, const struct rcore_fiber *fiber,
		       struct rcore_wait_place *ret)
{
	*ret = (struct rcore_wait_place){.fiber = fiber};
	int hook = rcore_wait_hook(waits, fiber, &ret->hook);
	if (hook < 0 && !fiber->is_current)
		return false;
	if (hook >= 0) {
		ret->hook_frame = (size_t)hook;
		ret->first = ret->hook_frame + 1;
	}
	while (ret->first < fiber->frame_count &&
	       fiber->frames[ret->first].kind == RCORE_FRAME_DUMMY)
		ret->first++;
	ret->end = ret->first;
	while (ret->end < fiber->frame_count && ret->end - ret->first < RCORE_WAIT_FRAMES &&
	       is_own(&fiber->frames[ret->end]))
		ret->end++;
	return true;
}

static const struct rcore_thread *thread_of(struct rcore_waits *waits,
					    const struct rcore_fiber *fiber)
{
	return &waits->loader->threads.items[fiber->thread];
}

static struct rcore_error *set_select(struct rcore_waits *waits, struct rcore_wait *wait,
				      const uint64_t *lists, size_t count)
{
	static const char *const modes[SELECT_LISTS] = {"read", "write", "except"};
	struct rcore_ruby *ruby = waits->loader->ruby;
	for (size_t i = 0; i < SELECT_LISTS && i < count; i++) {
		uint64_t elements, length, io;
		struct rcore_error *err =
			rcore_is_nil(ruby, lists[i])
				? NULL
				: rcore_array(ruby, lists[i], &elements, &length);
		if (err || rcore_is_nil(ruby, lists[i])) {
			rcore_error_free(err);
			continue;
		}
		for (uint64_t j = 0; j < length && wait->fd_count < RCORE_WAIT_FDS; j++) {
			if (rcore_read_u64(ruby->memory, elements + j * sizeof(io), &io))
				break;
			err = rcore_wait_add_io(waits, wait, io, modes[i]);
			if (err)
				return err;
		}
	}
	return count > SELECT_LISTS ? rcore_wait_set_time(waits, wait, lists[SELECT_LISTS])
				    : NULL;
}

void rcore_wait_set_pid(struct rcore_wait *wait, uint64_t value)
{
	if (!(value & FIXNUM_FLAG))
		return;
	wait->has_pid = true;
	wait->pid = (int)((int64_t)value >> 1);
}

static struct rcore_error *set_arguments(struct rcore_waits *waits, struct rcore_wait *wait,
					 const struct rcore_wait_place *place,
					 enum arguments arguments)
{
	uint64_t values[SELECT_LISTS + 1];
	int count = rcore_wait_arguments(waits, place->fiber, place->first, values,
					 RCORE_COUNT(values));
	const struct rcore_frame *frame = &place->fiber->frames[place->first];
	if (count < 0 && frame->kind == RCORE_FRAME_RUBY)
		count = rcore_wait_parameter(waits, frame, 0, &values[0]);
	if (count < 0)
		wait->is_timed = thread_of(waits, place->fiber)->status == RCORE_THREAD_STOPPED;
	if (arguments == ARGUMENTS_PID && count >= 0)
		rcore_wait_set_pid(wait, count ? values[0] : (uint64_t)ANY_CHILD);
	if (count <= 0)
		return NULL;
	if (arguments == ARGUMENTS_SELECT)
		return set_select(waits, wait, values, (size_t)count);
	if (arguments == ARGUMENTS_TIME)
		return rcore_wait_set_time(waits, wait, values[0]);
	return NULL;
}

static struct rcore_error *set_ractor(struct rcore_waits *waits, struct rcore_wait *wait,
				      const struct rcore_frame *frame)
{
	struct rcore_sync sync;
	struct rcore_error *err = rcore_wait_sync(waits, frame->self, &sync);
	if (!err && sync.kind == RCORE_SYNC_RACTOR &&
	    (rcore_same_text(frame->label, "Ractor#take") ||
	     rcore_same_text(frame->label, "Ractor#value") ||
	     rcore_same_text(frame->label, "Ractor#join"))) {
		wait->object = sync.object;
		wait->ractor = rcore_wait_field(waits, sync.data,
						&waits->loader->ruby->layout->ractor.id);
	}
	return err;
}

static const struct blocking_method *blocking_method_of(const struct rcore_frame *frame)
{
	for (size_t i = 0; i < RCORE_COUNT(blocking_methods); i++)
		if (rcore_same_text(frame->label, blocking_methods[i].label))
			return &blocking_methods[i];
	return NULL;
}

/*
 * Uses the innermost method that is known to block. Of methods such as
 * Ractor#value, which are written in Ruby and receive from a port, uses the
 * outermost.
 */
static struct rcore_error *by_method(struct rcore_waits *waits, int fiber,
				     const struct rcore_wait_place *place)
{
	const struct blocking_method *method = NULL;
	struct rcore_wait_place here = *place;
	for (size_t i = place->first; i < place->end; i++) {
		const struct blocking_method *found =
			blocking_method_of(&place->fiber->frames[i]);
		if (!found || (method && (method->kind != RCORE_WAIT_RACTOR ||
					  found->kind != RCORE_WAIT_RACTOR)))
			continue;
		method = found;
		here.first = i;
	}
	if (!method)
		return NULL;
	struct rcore_wait *wait =
		rcore_wait_new(waits, fiber, method->kind, RCORE_WAIT_BY_FRAME);
	if (!wait)
		return rcore_error_no_memory();
	const struct rcore_frame *frame = &place->fiber->frames[here.first];
	wait->method = frame->label;
	return method->kind == RCORE_WAIT_RACTOR
		       ? set_ractor(waits, wait, frame)
		       : set_arguments(waits, wait, &here, method->arguments);
}

/*
 * Returns what a fiber waits to do with a descriptor. The hook shows it; for
 * io_wait(io, events, timeout), its events do.
 */
static const char *mode_of(struct rcore_waits *waits, const struct rcore_wait_place *place)
{
	enum { READABLE = 1, WRITABLE = 4 }; /* IO::READABLE, IO::WRITABLE */
	uint64_t events;
	if (!place->hook)
		return NULL;
	if (!strcmp(place->hook, "io_read") || !strcmp(place->hook, "io_pread"))
		return "read";
	if (!strcmp(place->hook, "io_write") || !strcmp(place->hook, "io_pwrite"))
		return "write";
	if (strcmp(place->hook, "io_wait") ||
	    !rcore_wait_parameter(waits, &place->fiber->frames[place->hook_frame], 1,
				  &events) ||
	    !(events & FIXNUM_FLAG))
		return NULL;
	return events >> 1 & READABLE ? "read" : events >> 1 & WRITABLE ? "write" : NULL;
}

/*
 * Reads a hook's own parameters: io_wait(io, events, timeout),
 * kernel_sleep(duration), process_wait(pid, flags).
 */
static struct rcore_error *by_hook(struct rcore_waits *waits, int fiber,
				   const struct rcore_wait_place *place)
{
	const struct rcore_frame *frame = &place->fiber->frames[place->hook_frame];
	enum rcore_wait_kind kind = RCORE_WAIT_SCHEDULER;
	uint64_t value;
	for (size_t i = 0; i < RCORE_COUNT(hook_kinds); i++)
		if (!strcmp(hook_kinds[i].hook, place->hook))
			kind = hook_kinds[i].kind;
	struct rcore_wait *wait = rcore_wait_new(waits, fiber, kind, RCORE_WAIT_BY_FRAME);
	if (!wait)
		return rcore_error_no_memory();
	if (place->first < place->end)
		wait->method = place->fiber->frames[place->first].label;
	if (!rcore_wait_parameter(waits, frame, 0, &value))
		return NULL;
	if (kind == RCORE_WAIT_PROCESS)
		rcore_wait_set_pid(wait, value);
	if (kind == RCORE_WAIT_SLEEP || kind == RCORE_WAIT_SCHEDULER)
		return rcore_wait_times(waits, wait, place);
	if (kind != RCORE_WAIT_IO)
		return NULL;
	return rcore_wait_add_io(waits, wait, value, mode_of(waits, place));
}

/*
 * Visits the objects whose methods these are: the fiber may be in one of their
 * lists.
 */
static struct rcore_error *visit(struct rcore_waits *waits,
				 const struct rcore_wait_place *place)
{
	struct rcore_error *err = NULL;
	for (size_t i = place->first; !err && i < place->end; i++) {
		struct rcore_sync sync;
		err = rcore_wait_sync(waits, place->fiber->frames[i].self, &sync);
		if (!err && sync.kind != RCORE_SYNC_NONE)
			err = rcore_wait_visit(waits, &sync);
	}
	return err;
}

/*
 * Whether the wait ends by itself after some time. If this is not known, the
 * answer is yes.
 */
static bool join_is_timed(struct rcore_waits *waits, const struct rcore_wait_place *place,
			  size_t frame)
{
	uint64_t limit;
	if (rcore_same_text(place->fiber->frames[frame].label, "Thread#value"))
		return false;
	if (place->fiber->is_current)
		return thread_of(waits, place->fiber)->status != RCORE_THREAD_STOPPED_FOREVER;
	int count = rcore_wait_arguments(waits, place->fiber, frame, &limit, 1);
	return count < 0 || (count > 0 && !rcore_is_nil(waits->loader->ruby, limit));
}

/*
 * ConditionVariable#wait(mutex, timeout = nil): before 4.0 a C method, which
 * then sleeps in Mutex#sleep.
 */
static struct rcore_error *set_lock(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_wait_place *place, size_t frame)
{
	uint64_t mutex;
	struct rcore_sync sync;
	if (rcore_wait_arguments(waits, place->fiber, frame, &mutex, 1) <= 0 &&
	    !rcore_wait_parameter(waits, &place->fiber->frames[frame], 0, &mutex))
		return NULL;
	struct rcore_error *err = rcore_wait_sync(waits, mutex, &sync);
	if (!err && sync.kind == RCORE_SYNC_MUTEX)
		wait->lock = sync.data;
	return err;
}

/*
 * Methods that do not read or write. To connect, Ruby polls for both, and
 * TCPSocket#initialize has no IO yet.
 */
static const struct {
	const char *label, *mode;
} io_methods[] = {
	{"File#flock", "lock"},
	{"TCPSocket#initialize", "connect"},
	{"Socket#connect", "connect"},
	{"UNIXSocket#initialize", "connect"},
};

static void set_mode(struct rcore_wait *wait, const struct rcore_frame *frame)
{
	for (size_t i = 0; i < RCORE_COUNT(io_methods); i++)
		if (wait->fd_count == 1 && rcore_same_text(frame->label, io_methods[i].label))
			wait->fds[0].mode = io_methods[i].mode;
}

/* Adds to a wait what the methods say about it. */
static struct rcore_error *complete(struct rcore_waits *waits, struct rcore_wait *wait,
				    const struct rcore_wait_place *place)
{
	struct rcore_error *err = NULL;
	bool named = wait->method != NULL;
	wait->hook = place->hook;
	if (place->first < place->end && !named)
		wait->method = place->fiber->frames[place->first].label;
	if (place->first < place->end && !place->hook)
		set_mode(wait, &place->fiber->frames[place->first]);
	for (size_t i = place->first; !err && i < place->end; i++) {
		struct rcore_sync sync;
		const struct rcore_frame *frame = &place->fiber->frames[i];
		err = rcore_wait_sync(waits, frame->self, &sync);
		if (!err && wait->kind == RCORE_WAIT_IO && sync.kind == RCORE_SYNC_IO)
			err = rcore_wait_add_io(waits, wait, sync.object,
						mode_of(waits, place));
		if (wait->kind == RCORE_WAIT_IO && sync.kind == RCORE_SYNC_IO && !wait->object)
			wait->object = sync.object;
		bool is_its = rcore_wait_has_method(waits, wait, frame);
		if (wait->kind == RCORE_WAIT_CONDITION && sync.kind == RCORE_SYNC_MUTEX)
			wait->lock = sync.data;
		if (!err && wait->kind == RCORE_WAIT_CONDITION && is_its)
			err = set_lock(waits, wait, place, i);
		if (named || !frame->label || !is_its)
			continue;
		wait->method = frame->label;
		named = true;
		if (wait->kind == RCORE_WAIT_JOIN)
			wait->is_timed = join_is_timed(waits, place, i);
	}
	return err;
}

static struct rcore_error *resolves(struct rcore_waits *waits, int fiber,
				    const struct rcore_wait_place *place)
{
	struct rcore_wait *wait =
		rcore_wait_new(waits, fiber, RCORE_WAIT_RESOLVE, RCORE_WAIT_BY_FRAME);
	return wait ? rcore_wait_set_name(waits, wait, place) : rcore_error_no_memory();
}

struct rcore_error *rcore_wait_frames(struct rcore_waits *waits, int index)
{
	const struct rcore_fiber *fiber = &waits->loader->fibers.items[index];
	struct rcore_wait_place place;
	if (fiber->thread < 0 || !find_place(waits, fiber, &place))
		return NULL;
	struct rcore_error *err = NULL;
	if (!fiber->wait)
		err = visit(waits, &place);
	if (!err && !fiber->wait)
		err = by_method(waits, index, &place);
	if (!err && !fiber->wait && place.hook)
		err = by_hook(waits, index, &place);
	if (!err && !fiber->wait && rcore_wait_resolves(waits, &place))
		err = resolves(waits, index, &place);
	if (!err && fiber->wait && fiber->wait->kind != RCORE_WAIT_GVL)
		err = complete(waits, fiber->wait, &place);
	if (!err && fiber->wait && !fiber->wait->argument)
		err = rcore_wait_times(waits, fiber->wait, &place);
	return err;
}
