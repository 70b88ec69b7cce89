/* SPDX-License-Identifier: MIT */
#include "cli/collect/collect_child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/count.h"

enum { ABOVE = 64 }; /* no number of a descriptor that is kept */

/* If the kernel lacks some of these namespaces, the others still apply. */
static void leave_namespaces(bool is_root)
{
	static const int kinds[] = {CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP};
	if (!is_root && unshare(CLONE_NEWUSER))
		return;
	for (size_t i = 0; i < RCORE_COUNT(kinds); i++)
		(void)!unshare(kinds[i]);
}

static bool place(int from, int to)
{
	return dup2(from, to) == to;
}

static bool keep_descriptors(const struct rcore_child *child, int null)
{
	int next = RCORE_CHILD_FILES, moved[ABOVE];
	size_t count = 0;
	moved[count++] = fcntl(child->core, F_DUPFD, ABOVE);
	moved[count++] = fcntl(null, F_DUPFD, ABOVE);
	moved[count++] = fcntl(child->message, F_DUPFD, ABOVE);
	moved[count++] = fcntl(child->looks_into_root && child->root >= 0 ? child->root : null,
			       F_DUPFD, ABOVE);
	for (size_t i = 0; i < child->file_count; i++)
		moved[count++] = fcntl(child->files[i], F_DUPFD, ABOVE);
	for (size_t i = 0; i < count; i++)
		if (moved[i] < 0)
			return false;
	bool done = place(moved[0], RCORE_CHILD_CORE) && place(moved[1], STDOUT_FILENO) &&
		    place(moved[1], STDERR_FILENO) && place(moved[2], RCORE_CHILD_MESSAGE) &&
		    place(moved[3], RCORE_CHILD_ROOT);
	for (size_t i = 4; i < count && done; i++)
		done = place(moved[i], next++);
	return done && !close_range((unsigned)next, ~0U, 0);
}

static bool change_root(int root)
{
	return root < 0 || (!fchdir(root) && !chroot(".") && !chdir("/"));
}

/* Changing the user clears PR_SET_PDEATHSIG, so this sets it again. */
static bool change_user(uid_t user, gid_t group)
{
	return !setgroups(0, NULL) && !setresgid(group, group, group) &&
	       !setresuid(user, user, user) && !prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* Limits each file to `room` bytes. The child can write only a few files. */
static bool limit_files(uint64_t room)
{
	const struct rlimit limit = {room, room};
	return signal(SIGXFSZ, SIG_IGN) != SIG_ERR && !setrlimit(RLIMIT_FSIZE, &limit);
}

static bool give_up(const struct rcore_child *child)
{
	bool is_root = geteuid() == 0;
	/* Before chroot(): the process that died controls that root folder. */
	int null = open("/dev/null", O_RDWR);
	leave_namespaces(is_root);
	if (is_root && !child->looks_into_root && !change_root(child->root))
		return false;
	/*
	 * Clears variables that make a library ask servers, or that name
	 * another program.
	 */
	return keep_descriptors(child, null) &&
	       (!is_root || change_user(child->user, child->group)) &&
	       limit_files(child->room) && !clearenv();
}

struct rcore_error *rcore_child_enter(const struct rcore_child *child)
{
	const struct rcore_confinement confinement = {.seconds = child->seconds,
						      .may_fork = true};
	if (!give_up(child))
		return rcore_error_os(errno, "cannot give up privileges to read the core");
	if (!rcore_confine(&confinement))
		return rcore_error_os(errno, "the kernel refuses a filter of system calls "
					     "(seccomp), so rcore does not read the core");
	return NULL;
}
