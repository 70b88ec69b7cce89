/* SPDX-License-Identifier: MIT */
#include "target/output/destination.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/text.h"
#include "target/core/foreign_core.h"

enum { MAX_LINKS = 40 }; /* the kernel's MAXSYMLINKS */

static struct rcore_error *refuse(const char *path, const char *why)
{
	char escaped[256];
	return rcore_error_create(RCORE_ERROR_USAGE, "%s: %s",
				  rcore_escape(escaped, sizeof(escaped), path), why);
}

static struct rcore_error *cannot_write(const char *path, int errnum)
{
	char escaped[256];
	return rcore_error_os(errnum, "cannot write %s",
			      rcore_escape(escaped, sizeof(escaped), path));
}

static const char *folder_of(const char *path, char ret[PATH_MAX])
{
	strcpy(ret, path);
	return dirname(ret);
}

/*
 * In a folder where everybody can create files, somebody else may have created
 * this one for rcore to write to.
 */
static bool is_trap(const char *path, const struct stat *status)
{
	char room[PATH_MAX];
	struct stat folder;
	if (status->st_uid == geteuid() || stat(folder_of(path, room), &folder))
		return false;
	return folder.st_mode & S_ISVTX && folder.st_mode & S_IWOTH &&
	       status->st_uid != folder.st_uid;
}

static struct rcore_error *refuse_trap(const char *path)
{
	return refuse(path, "belongs to another user, in a folder that everybody can write to; "
			    "name a file in a folder of your own");
}

static struct rcore_error *refuse_input(const char *path, const char *what)
{
	char escaped[256];
	return rcore_error_create(
		RCORE_ERROR_USAGE,
		"%s: is %s, which rcore does not overwrite; name another file",
		rcore_escape(escaped, sizeof(escaped), path), what);
}

/* Fails for the kinds of files that are never written. */
static struct rcore_error *check_kind(const char *path, mode_t mode)
{
	if (S_ISDIR(mode))
		return refuse(path, "is a directory; name a file in it");
	if (S_ISBLK(mode))
		return refuse(path,
			      "is a block device, which rcore does not overwrite; name a file");
	if (S_ISSOCK(mode))
		return refuse(path, "is a socket; name a file, or a FIFO");
	return NULL;
}

/*
 * Replacing a file only needs permission for the folder. A file that may not be
 * written is not replaced, either.
 */
static struct rcore_error *check_permission(const char *path, bool is_there, bool is_replaced)
{
	char room[PATH_MAX];
	if (is_there && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS))
		return cannot_write(path, errno);
	if (is_replaced && faccessat(AT_FDCWD, folder_of(path, room), W_OK | X_OK, AT_EACCESS))
		return cannot_write(path, errno);
	return NULL;
}

static struct rcore_error *check_descriptor(const char *path, const struct rcore_inputs *inputs,
					    struct rcore_destination *ret)
{
	const char *what;
	int flags = fcntl(ret->descriptor, F_GETFL);
	if (flags < 0 || fstat(ret->descriptor, &ret->status))
		return cannot_write(path, errno);
	what = rcore_inputs_find(inputs, &ret->status);
	if (what)
		return refuse_input(path, what);
	if ((flags & O_ACCMODE) == O_RDONLY)
		return refuse(path, "is open for reading; name a descriptor that is open for "
				    "writing, or a file");
	if (S_ISBLK(ret->status.st_mode))
		return check_kind(path, ret->status.st_mode);
	ret->kind = RCORE_DESTINATION_DESCRIPTOR;
	return NULL;
}

/*
 * Returns the number of /proc/PID/fd/N or /proc/PID/task/TID/fd/N of this
 * process, or -1.
 */
static int own_descriptor(const char *path)
{
	char room[PATH_MAX], folder[PATH_MAX], own[64], *end;
	const char *name = strrchr(path, '/');
	if (!name || !realpath(folder_of(path, room), folder))
		return -1;
	int length = snprintf(own, sizeof(own), "/proc/%d/", (int)getpid());
	long number = strtol(name + 1, &end, 10);
	bool is_own =
		strncmp(folder, own, (size_t)length) == 0 && rcore_ends_with(folder, "/fd");
	return is_own && end != name + 1 && !*end && number <= INT_MAX ? (int)number : -1;
}

/*
 * A link of /proc is not a path: what it leads to may have no name, and is open
 * somewhere.
 */
static struct rcore_error *find_in_proc(const char *path, const struct rcore_inputs *inputs,
					struct rcore_destination *ret)
{
	ret->descriptor = own_descriptor(ret->path);
	if (ret->descriptor >= 0)
		return check_descriptor(path, inputs, ret);
	if (stat(ret->path, &ret->status))
		return cannot_write(path, errno);
	struct rcore_error *err = check_kind(path, ret->status.st_mode);
	if (!err && S_ISREG(ret->status.st_mode))
		err = refuse(path, "is a file that another process has open; name that file");
	ret->kind = RCORE_DESTINATION_STREAM;
	return err ? err : check_permission(ret->path, true, false);
}

/* Replaces the link in `path` with its target. Returns 0 or errno. */
static int follow(char path[PATH_MAX])
{
	char target[PATH_MAX], room[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	if (size < 0)
		return errno;
	target[size] = '\0';
	int length = target[0] == '/' ? snprintf(joined, sizeof(joined), "%s", target)
				      : snprintf(joined, sizeof(joined), "%s/%s",
						 folder_of(path, room), target);
	if (length >= PATH_MAX)
		return ENAMETOOLONG;
	strcpy(path, joined);
	return 0;
}

static bool is_in_proc(const char *path)
{
	char room[PATH_MAX];
	struct statfs system;
	return !statfs(folder_of(path, room), &system) && system.f_type == PROC_SUPER_MAGIC;
}

static bool is_open_as(const struct stat *file, int fd)
{
	struct stat opened;
	return !fstat(fd, &opened) && opened.st_dev == file->st_dev &&
	       opened.st_ino == file->st_ino;
}

bool rcore_destination_is_stdout(const char *path)
{
	enum { MEM_MAJOR = 1, NULL_MINOR = 3 }; /* the kernel's devices.txt */
	struct stat file;
	if (stat(path, &file) || !is_open_as(&file, STDOUT_FILENO))
		return false;
	/* Nothing can spoil output that is thrown away. */
	return !S_ISCHR(file.st_mode) || file.st_rdev != makedev(MEM_MAJOR, NULL_MINOR);
}

/*
 * Returns the descriptor of standard output or error that writes to this file;
 * such a file is not replaced.
 */
static int standard_descriptor(const struct stat *file)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
		if (is_open_as(file, fd))
			return fd;
	return -1;
}

static struct rcore_error *find_file(const char *path, const struct rcore_inputs *inputs,
				     struct rcore_destination *ret)
{
	const char *what = rcore_inputs_find(inputs, &ret->status);
	if (what)
		return refuse_input(path, what);
	if (is_trap(ret->path, &ret->status))
		return refuse_trap(path);
	struct rcore_error *err = check_kind(path, ret->status.st_mode);
	if (err)
		return err;
	if (!S_ISREG(ret->status.st_mode)) {
		ret->kind = RCORE_DESTINATION_STREAM;
		return check_permission(ret->path, true, false);
	}
	ret->descriptor = standard_descriptor(&ret->status);
	if (ret->descriptor >= 0)
		return check_descriptor(path, inputs, ret);
	/* It may be all that is left of a crash. */
	if (rcore_is_foreign_core(ret->path))
		return refuse_input(path, "a core that rcore did not write");
	ret->kind = RCORE_DESTINATION_FILE;
	return check_permission(ret->path, true, true);
}

/* Checks a file that does not exist yet. */
static struct rcore_error *check_new(const char *path)
{
	size_t size = strlen(path);
	if (!size)
		return rcore_error_create(RCORE_ERROR_USAGE,
					  "the name of the output is empty; name a file");
	if (path[size - 1] == '/')
		return refuse(path, "does not exist; to write a file, omit the final '/'");
	return check_permission(path, false, true);
}

struct rcore_error *rcore_destination_find(const char *path, const struct rcore_inputs *inputs,
					   struct rcore_destination *ret)
{
	*ret = (struct rcore_destination){.kind = RCORE_DESTINATION_NEW, .descriptor = -1};
	if (strlen(path) >= sizeof(ret->path))
		return cannot_write(path, ENAMETOOLONG);
	strcpy(ret->path, path);
	for (int links = 0; links <= MAX_LINKS; links++) {
		int errnum;
		if (lstat(ret->path, &ret->status)) {
			if (errno != ENOENT)
				return cannot_write(path, errno);
			if (links)
				return refuse(path, "is a symbolic link to a file that does "
						    "not exist; name that file");
			return check_new(path);
		}
		if (!S_ISLNK(ret->status.st_mode))
			return find_file(path, inputs, ret);
		if (is_in_proc(ret->path))
			return find_in_proc(path, inputs, ret);
		if (is_trap(ret->path, &ret->status))
			return refuse_trap(path);
		errnum = follow(ret->path);
		if (errnum)
			return cannot_write(path, errnum);
	}
	return cannot_write(path, ELOOP);
}

static bool is_same_name(const char *a, const char *b)
{
	char room_a[PATH_MAX], room_b[PATH_MAX];
	struct stat one, other;
	if (stat(folder_of(a, room_a), &one) || stat(folder_of(b, room_b), &other) ||
	    one.st_dev != other.st_dev || one.st_ino != other.st_ino)
		return false;
	strcpy(room_a, a);
	strcpy(room_b, b);
	return strcmp(basename(room_a), basename(room_b)) == 0;
}

bool rcore_destination_is_same(const struct rcore_destination *a,
			       const struct rcore_destination *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == RCORE_DESTINATION_NEW)
		return is_same_name(a->path, b->path);
	return a->kind == RCORE_DESTINATION_FILE && a->status.st_dev == b->status.st_dev &&
	       a->status.st_ino == b->status.st_ino;
}
