/* SPDX-License-Identifier: MIT */
#include "model/wait_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/snapshot.h"

static const char *const kind_names[] = {
	[RCORE_WAIT_MUTEX] = "mutex",
	[RCORE_WAIT_MONITOR] = "monitor",
	[RCORE_WAIT_POP] = "pop",
	[RCORE_WAIT_PUSH] = "push",
	[RCORE_WAIT_CONDITION] = "condition_variable",
	[RCORE_WAIT_JOIN] = "join",
	[RCORE_WAIT_SLEEP] = "sleep",
	[RCORE_WAIT_STOP] = "stop",
	[RCORE_WAIT_IO] = "io",
	[RCORE_WAIT_PROCESS] = "process",
	[RCORE_WAIT_RACTOR] = "ractor",
	[RCORE_WAIT_GVL] = "gvl",
	[RCORE_WAIT_SCHEDULER] = "scheduler",
	[RCORE_WAIT_SYSCALL] = "syscall",
	[RCORE_WAIT_RESOLVE] = "resolve",
	[RCORE_WAIT_CONNECTION] = "connection",
	[RCORE_WAIT_SEMAPHORE] = "semaphore",
	[RCORE_WAIT_TASK] = "task",
	[RCORE_WAIT_INTERLOCK] = "interlock",
	[RCORE_WAIT_AUTOLOAD] = "autoload",
};

const char *rcore_wait_kind_name(enum rcore_wait_kind kind)
{
	return kind < RCORE_WAIT_KINDS ? kind_names[kind] : "unknown";
}

static void write_owner(const struct rcore_snapshot *snapshot, const struct rcore_owner *owner,
			FILE *out)
{
	const char *thread = owner->thread < 0 ? NULL : snapshot->threads[owner->thread].id;
	if (owner->fiber >= 0) {
		fprintf(out, " held by %s", rcore_fiber_text(snapshot, owner->fiber));
		if (snapshot->fibers[owner->fiber].status == RCORE_FIBER_TERMINATED)
			fputs(", which has ended", out);
	} else if (owner->address) {
		fputs(" held by a fiber", out);
		if (thread)
			fprintf(out, " of %s", thread);
		fputs(" that no longer exists", out);
	} else if (thread) {
		fprintf(out, " held by %s", thread);
		if (snapshot->threads[owner->thread].is_ended)
			fputs(", which has ended", out);
	} else {
		fputs(", which nobody holds now", out);
	}
}

void rcore_lock_write(const struct rcore_snapshot *snapshot, enum rcore_lock_kind kind,
		      uint64_t object, uint64_t lock, const struct rcore_owner *owner,
		      FILE *out)
{
	static const char *const names[] = {
		[RCORE_LOCK_MUTEX] = "Mutex",
		[RCORE_LOCK_MONITOR] = "Monitor",
		[RCORE_LOCK_WRITE] = "write lock of IO",
	};
	if (object)
		fprintf(out, "%s 0x%" PRIx64, names[kind], object);
	else
		fprintf(out, "rb_mutex_t 0x%" PRIx64, lock);
	write_owner(snapshot, owner, out);
}

/* Returns the length of digits, and sets that of those after a point. */
static size_t digits_of(const char *number, size_t *ret_decimals)
{
	size_t whole = strspn(number, "0123456789");
	*ret_decimals = number[whole] == '.' ? strspn(number + whole + 1, "0123456789") : 0;
	return whole + (*ret_decimals ? *ret_decimals + 1 : 0);
}

/*
 * Writes a number of seconds. `number` is what Ruby's inspect prints. Computed
 * timeouts, such as 59.979695668000204, have more digits than anybody reads. If
 * it is at least one second, cuts it after the milliseconds. If it is less and
 * has digits beyond the microseconds, rounds it to three digits.
 */
static void write_number(const char *number, FILE *out)
{
	enum { MILLI = 3, MICRO = 6 };
	size_t decimals, length = digits_of(number, &decimals);
	const char *exponent = number + length;
	bool is_whole = length && !*exponent, is_small = number[0] == '0' && is_whole;
	if (length && !strncmp(exponent, "e-", 2) && exponent[2])
		is_small = !exponent[2 + strspn(exponent + 2, "0123456789")];
	if (is_small && decimals > MICRO)
		fprintf(out, "%.3g", strtod(number, NULL));
	else if (is_whole && number[0] > '0' && decimals > MILLI)
		fprintf(out, "%.*s", (int)(length - decimals + MILLI), number);
	else
		rcore_escape_write(out, number);
}

static void write_seconds(const char *number, FILE *out)
{
	write_number(number, out);
	fputs(" s", out);
}

static void write_limit(const struct rcore_wait *wait, FILE *out)
{
	if (wait->argument) {
		fputs(", at most ", out);
		write_seconds(wait->argument, out);
	} else if (wait->is_timed) {
		fputs(", with a timeout", out);
	}
}

void rcore_wait_object_write(const struct rcore_wait *wait, FILE *out)
{
	const char *type = wait->kind == RCORE_WAIT_CONDITION   ? "ConditionVariable"
			   : wait->kind == RCORE_WAIT_SEMAPHORE ? "semaphore"
			   : wait->kind == RCORE_WAIT_TASK      ? "task"
			   : wait->max                          ? "SizedQueue"
								: "Queue";
	rcore_escape_write(out, wait->type ? wait->type : type);
	fprintf(out, " 0x%" PRIx64, wait->object);
}

/* " (5 of 5 in use, 3 waiting)" */
static void write_counts(const struct rcore_wait *wait, const char *what, FILE *out)
{
	if (!wait->has_counts)
		return;
	fprintf(out, " (%" PRIu64, wait->length);
	if (wait->max)
		fprintf(out, " of %" PRIu64, wait->max);
	fprintf(out, " %s, %" PRIu64 " waiting)", what, wait->waiting);
}

static void write_queue(const struct rcore_wait *wait, FILE *out)
{
	fprintf(out, "waits for %s ", wait->kind == RCORE_WAIT_PUSH ? "room in" : "an item of");
	rcore_wait_object_write(wait, out);
	write_counts(wait, wait->length == 1 && !wait->max ? "item" : "items", out);
}

/* Who holds the flock() of a file. */
static void write_lock_holder(const struct rcore_snapshot *snapshot,
			      const struct rcore_wait *wait, FILE *out)
{
	if (!wait->has_pid)
		return;
	fprintf(out, " held by process %d", wait->pid);
	if (wait->pid == snapshot->pid)
		fputs(" itself", out);
}

/* "waits to read fd 5 (socket:[7]), to write fd 6" */
static void write_fds(const struct rcore_wait *wait, FILE *out)
{
	enum { SHOWN = 8 };
	fputs(wait->fd_count && wait->fds[0].mode ? "waits" : "waits for", out);
	if (!wait->fd_count)
		fputs(" IO", out);
	for (size_t i = 0; i < wait->fd_count && i < SHOWN; i++) {
		const struct rcore_wait_fd *fd = &wait->fds[i];
		const char *name = fd->link ? fd->link : fd->path;
		if (i)
			putc(',', out);
		/* The third list of IO.select: POLLPRI. */
		if (rcore_same_text(fd->mode, "except"))
			fputs(" for urgent data of", out);
		else if (fd->mode)
			fprintf(out, " to %s", fd->mode);
		fprintf(out, " fd %d", fd->fd);
		if (!name)
			continue;
		fputs(" (", out);
		rcore_escape_write(out, name);
		putc(')', out);
	}
	if (wait->fd_count > SHOWN)
		fprintf(out, " and %zu more", wait->fd_count - SHOWN);
}

static void write_sleep(const struct rcore_wait *wait, FILE *out)
{
	fputs("sleeps", out);
	if (wait->argument) {
		fputs(" for ", out);
		write_seconds(wait->argument, out);
	} else if (!wait->is_timed) {
		fputs(" until it is woken", out);
	}
}

static void write_process(const struct rcore_wait *wait, FILE *out)
{
	if (!wait->has_pid)
		fputs("waits for a child process", out);
	else if (wait->pid == -1)
		fputs("waits for any child process", out);
	else if (wait->pid > 0)
		fprintf(out, "waits for process %d", wait->pid);
	else
		fprintf(out, "waits for process group %d", -wait->pid);
}

static void write_ractor(const struct rcore_wait *wait, FILE *out)
{
	if (wait->ractor)
		fprintf(out, "waits for Ractor %" PRIu64, wait->ractor);
	else
		fputs("waits for a Ractor", out);
	if (wait->method) {
		fputs(" (", out);
		rcore_escape_write(out, wait->method);
		putc(')', out);
	}
}

/* "waits for a connection of pool 0x7f12 (5 of 5 in use, 3 waiting)" */
static void write_connection(const struct rcore_snapshot *snapshot,
			     const struct rcore_wait *wait, FILE *out)
{
	const struct rcore_pool *pool = rcore_wait_pool(snapshot, wait);
	fprintf(out, "waits for %s of pool 0x%" PRIx64, pool ? pool->resource : "a connection",
		wait->object);
	write_counts(wait, "in use", out);
}

/* "waits for Async::Semaphore 0x7f12 (3 of 3 acquired, 10 waiting)" */
static void write_semaphore(const struct rcore_wait *wait, FILE *out)
{
	fputs("waits for ", out);
	rcore_wait_object_write(wait, out);
	write_counts(wait, "acquired", out);
	write_limit(wait, out);
}

static void write_task(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
		       FILE *out)
{
	fputs("waits for the end of ", out);
	if (wait->owner.fiber >= 0)
		fputs(rcore_fiber_text(snapshot, wait->owner.fiber), out);
	else
		rcore_wait_object_write(wait, out);
	write_limit(wait, out);
}

static void write_object_text(const struct rcore_wait *wait, const char *before, FILE *out)
{
	if (!wait->argument)
		return;
	fputs(before, out);
	rcore_escape_write(out, wait->argument);
}

void rcore_wait_within_write(const struct rcore_wait *wait, FILE *out)
{
	if (!wait->within)
		return;
	fprintf(out, ", within %s", wait->within);
	if (!wait->within_seconds)
		return;
	putc('(', out);
	write_number(wait->within_seconds, out);
	putc(')', out);
}

void rcore_wait_write(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
		      FILE *out)
{
	rcore_wait_write_alone(snapshot, wait, out);
	rcore_wait_within_write(wait, out);
}

void rcore_interlock_write(const struct rcore_snapshot *snapshot, const struct rcore_wait *wait,
			   int holder, FILE *out)
{
	const struct rcore_pool *pool = rcore_wait_pool(snapshot, wait);
	int holders[RCORE_INTERLOCK_HOLDERS] = {holder};
	size_t count = holder >= 0 ? 1 : rcore_interlock_holders(snapshot, wait, holders);
	fprintf(out, "waits %s the Rails interlock 0x%" PRIx64,
		!wait->wants                    ? "for"
		: rcore_wait_is_exclusive(wait) ? "to lock"
						: "to share",
		wait->object);
	if (!pool || !count)
		return;
	fputs(pool->is_exclusive              ? " locked by "
	      : rcore_wait_is_exclusive(wait) ? " shared by "
					      : " wanted by ",
	      out);
	rcore_fibers_write(snapshot, holders, count, out);
}

void rcore_wait_write_alone(const struct rcore_snapshot *snapshot,
			    const struct rcore_wait *wait, FILE *out)
{
	switch (wait->kind) {
	case RCORE_WAIT_MUTEX:
	case RCORE_WAIT_MONITOR:
		fputs("waits", out);
		write_object_text(wait, " to require ", out);
		fputs(" for ", out);
		rcore_lock_write(snapshot,
				 wait->kind == RCORE_WAIT_MONITOR ? RCORE_LOCK_MONITOR
								  : RCORE_LOCK_MUTEX,
				 wait->object, wait->lock, &wait->owner, out);
		break;
	case RCORE_WAIT_POP:
	case RCORE_WAIT_PUSH:
		write_queue(wait, out);
		write_limit(wait, out);
		break;
	case RCORE_WAIT_CONDITION:
		fputs("waits for ", out);
		rcore_wait_object_write(wait, out);
		write_limit(wait, out);
		break;
	case RCORE_WAIT_JOIN:
		fprintf(out, "waits for the end of %s",
			wait->thread < 0 ? "a thread" : snapshot->threads[wait->thread].id);
		write_limit(wait, out);
		break;
	case RCORE_WAIT_SLEEP:
		write_sleep(wait, out);
		break;
	case RCORE_WAIT_STOP:
		fputs("stopped itself (Thread.stop)", out);
		break;
	case RCORE_WAIT_IO:
		write_fds(wait, out);
		write_lock_holder(snapshot, wait, out);
		write_limit(wait, out);
		break;
	case RCORE_WAIT_PROCESS:
		write_process(wait, out);
		break;
	case RCORE_WAIT_RACTOR:
		write_ractor(wait, out);
		break;
	case RCORE_WAIT_GVL:
		fputs("waits for the GVL", out);
		if (wait->owner.thread >= 0)
			fprintf(out, " held by %s", snapshot->threads[wait->owner.thread].id);
		break;
	case RCORE_WAIT_SCHEDULER:
		fprintf(out, "waits in the fiber scheduler's hook %s",
			wait->hook ? wait->hook : "");
		write_limit(wait, out);
		break;
	case RCORE_WAIT_SYSCALL:
		fprintf(out, "waits in the system call %s", wait->syscall ? wait->syscall : "");
		write_object_text(wait, " of ", out);
		break;
	case RCORE_WAIT_RESOLVE:
		fputs("resolves ", out);
		write_object_text(wait, "the name ", out);
		if (!wait->argument)
			fputs("a name", out);
		break;
	case RCORE_WAIT_CONNECTION:
		write_connection(snapshot, wait, out);
		write_limit(wait, out);
		break;
	case RCORE_WAIT_SEMAPHORE:
		write_semaphore(wait, out);
		break;
	case RCORE_WAIT_TASK:
		write_task(snapshot, wait, out);
		break;
	case RCORE_WAIT_INTERLOCK:
		rcore_interlock_write(snapshot, wait, -1, out);
		break;
	case RCORE_WAIT_AUTOLOAD:
		fputs("waits for an autoload", out);
		if (wait->owner.fiber >= 0)
			fprintf(out, " by %s", rcore_fiber_text(snapshot, wait->owner.fiber));
		break;
	case RCORE_WAIT_KINDS:
		break;
	}
}
