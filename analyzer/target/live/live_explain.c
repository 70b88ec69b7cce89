/* SPDX-License-Identifier: MIT */
#include "target/live/live_explain.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "target/live/live_tracer.h"

enum { NAME_SIZE = 96 };

/* Returns " (NAME)" of a process, escaped; "" if it is unknown. */
static const char *name_of(int pid, char name[NAME_SIZE])
{
	struct rcore_live_status status;
	char escaped[NAME_SIZE - 4];
	name[0] = '\0';
	if (rcore_live_status_of(pid, &status))
		snprintf(name, NAME_SIZE, " (%s)",
			 rcore_escape(escaped, sizeof(escaped), status.name));
	return name;
}

static struct rcore_error *no_such_process(int pid)
{
	return rcore_error_create(
		RCORE_ERROR_OS, "there is no process %d; `rcore ps` lists Ruby processes", pid);
}

struct rcore_error *rcore_live_refuse(int pid, int folder,
				      const struct rcore_live_status *status)
{
	char name[NAME_SIZE];
	if (status->tgid && status->tgid != pid)
		return rcore_error_create(
			RCORE_ERROR_USAGE, "%d is a thread of process %d%s; use -p %d", pid,
			status->tgid, name_of(status->tgid, name), status->tgid);
	if (pid == getpid())
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "process %d is rcore itself; name another process",
					  pid);
	if (status->state == 'Z' && status->thread_count > 1)
		return rcore_error_create(
			RCORE_ERROR_OS,
			"process %d is ending: it has no memory any more, but %d thread%s not "
			"ended yet",
			pid, status->thread_count - 1,
			status->thread_count == 2 ? " has" : "s have");
	if (status->state == 'Z' && status->parent == getpid())
		return rcore_error_create(RCORE_ERROR_OS,
					  "process %d ended before rcore could read it", pid);
	if (status->state == 'Z' || status->state == 'X')
		return rcore_error_create(
			RCORE_ERROR_OS,
			"process %d is a zombie: it has ended and has no memory, and its "
			"parent, process %d%s, has not waited for it yet",
			pid, status->parent, name_of(status->parent, name));
	if (rcore_live_is_kernel_thread(folder))
		return rcore_error_create(
			RCORE_ERROR_NOT_RUBY,
			"process %d%s is a kernel thread; `rcore ps` lists Ruby processes", pid,
			name_of(pid, name));
	return NULL;
}

static int ptrace_scope(void)
{
	int scope = 0;
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "r");
	if (file && fscanf(file, "%d", &scope) != 1)
		scope = 0;
	if (file)
		fclose(file);
	return scope;
}

/* Returns a user's name, or the number if it has no name here. */
static const char *user_name(uid_t user, char *buffer, size_t size)
{
	char text[1024];
	struct passwd entry, *found = NULL;
	if (getpwuid_r(user, &entry, text, sizeof(text), &found) || !found)
		snprintf(buffer, size, "%u", (unsigned)user);
	else
		snprintf(buffer, size, "%s", entry.pw_name);
	return buffer;
}

static struct rcore_error *denied(int pid, int folder, const struct rcore_live_status *status)
{
	char owner[64], own[64], name[NAME_SIZE];
	struct stat found;
	int tracer = rcore_live_tracer(folder);
	if (tracer)
		return rcore_error_create(
			RCORE_ERROR_TRACED,
			"process %d is already traced by process %d%s; detach that tracer", pid,
			tracer, name_of(tracer, name));
	if (geteuid() && status->user != geteuid())
		return rcore_error_create(
			RCORE_ERROR_OS,
			"not allowed to read process %d: it belongs to user %s, you are %s; "
			"run rcore as %s, or with sudo (the capability CAP_SYS_PTRACE)",
			pid, user_name(status->user, owner, sizeof(owner)),
			user_name(geteuid(), own, sizeof(own)), owner);
	int scope = ptrace_scope();
	if (scope == 3)
		return rcore_error_create(
			RCORE_ERROR_OS,
			"not allowed to read process %d: kernel.yama.ptrace_scope is 3, which "
			"nobody can change until the machine restarts; `kill -ABRT %d` ends it "
			"with a core",
			pid, pid);
	if (scope && geteuid())
		return rcore_error_create(
			RCORE_ERROR_OS,
			"not allowed to read process %d: kernel.yama.ptrace_scope is %d, so "
			"only %s may; use sudo (the capability CAP_SYS_PTRACE)%s",
			pid, scope, scope == 1 ? "its parents" : "administrators",
			scope == 1 ? ", or `sudo sysctl kernel.yama.ptrace_scope=0`" : "");
	if (geteuid() && folder >= 0 && !fstatat(folder, "auxv", &found, 0) &&
	    found.st_uid != status->user)
		return rcore_error_create(RCORE_ERROR_OS,
					  "not allowed to read process %d: it changed its user "
					  "or forbids core dumps (it is not \"dumpable\"); use "
					  "sudo (the capability CAP_SYS_PTRACE)",
					  pid);
	return rcore_error_create(
		RCORE_ERROR_OS,
		"not allowed to read process %d without the capability CAP_SYS_PTRACE; start "
		"the container with `--cap-add SYS_PTRACE`, or run rcore on the host",
		pid);
}

struct rcore_error *rcore_live_executed(int pid)
{
	return rcore_error_create(
		RCORE_ERROR_OS,
		"process %d started another program while it was being read; try again", pid);
}

struct rcore_error *rcore_live_explain(int pid, int folder, int errnum)
{
	struct rcore_live_status status;
	if (errnum == ENOMEM)
		return rcore_error_no_memory();
	if (folder < 0 && errnum == ENOENT)
		return no_such_process(pid);
	if (errnum == EAGAIN)
		return rcore_error_create(
			RCORE_ERROR_OS,
			"process %d could not be stopped in time: it is just starting "
			"another program, or this machine is busy; try again",
			pid);
	/* The kernel frees the memory before the state becomes 'Z'. */
	bool is_there = folder >= 0 && rcore_live_status_read(folder, "status", &status) &&
			status.has_memory;
	if (is_there && (errnum == EPERM || errnum == EACCES))
		return denied(pid, folder, &status);
	if (folder >= 0 && !is_there)
		return rcore_error_create(RCORE_ERROR_OS,
					  "process %d ended while it was being read", pid);
	/* Its memory was gone, or empty, for an instant: execve(2). */
	if (is_there && errnum == ESRCH)
		return rcore_live_executed(pid);
	return rcore_error_os(errnum, "process %d", pid);
}
