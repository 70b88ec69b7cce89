/* SPDX-License-Identifier: MIT */
#include "cli/collect/collect_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"

static const char *const names[RCORE_SPOOL_FOLDERS] = {
	[RCORE_SPOOL_LINES] = "lines",
	[RCORE_SPOOL_PACKS] = "packs",
};

/*
 * Rejects a folder in which others can replace files. In the spool itself
 * (`is_spool`), others could make our folders, or links in their place, before
 * we do, so the sticky bit is not enough.
 */
static struct rcore_error *check_writers(const char *path, const struct stat *status,
					 bool is_spool)
{
	const char *what =
		status->st_uid != geteuid() && status->st_uid != 0
			? "it belongs to another user; name a folder of your own"
		: is_spool && status->st_mode & S_IWOTH
			? "everybody can write to it; name a folder of your own"
		: status->st_mode & (S_IWGRP | S_IWOTH) && !(status->st_mode & S_ISVTX)
			? "others can replace files in it; name a folder of your own, "
			  "or set its sticky bit"
			: NULL;
	return what ? rcore_error_create(RCORE_ERROR_USAGE, "%s: %s", path, what) : NULL;
}

/*
 * Opens a folder below another one. If it is missing, creates it and sets
 * *ret_new. Sets *ret_status to what fstat() returns.
 */
static struct rcore_error *open_folder(int above, const char *path, int flags,
				       struct stat *ret_status, bool *ret_new, int *ret)
{
	*ret_new = !mkdirat(above, path, 0700);
	if (!*ret_new && errno != EEXIST)
		return rcore_error_os(errno, "cannot create the folder %s", path);
	*ret = openat(above, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	if (*ret < 0 || fstat(*ret, ret_status))
		return rcore_error_os(errno, "cannot open the folder %s", path);
	return NULL;
}

struct rcore_error *rcore_collect_folder_open(const char *path, int *ret)
{
	struct stat status;
	bool is_new;
	struct rcore_error *err = open_folder(AT_FDCWD, path, 0, &status, &is_new, ret);
	return err ? err : check_writers(path, &status, false);
}

struct rcore_error *rcore_collect_sync(int fd)
{
	/* Some file systems have no fsync() of a folder. */
	return fsync(fd) && errno != EINVAL ? rcore_error_os(errno, "cannot write to the disk")
					    : NULL;
}

/* Lets the group read the file, if this is permitted. */
static void share(const struct rcore_spool_folder *spool, int fd, mode_t mode)
{
	if (spool->is_shared && !fchown(fd, (uid_t)-1, spool->group))
		(void)!fchmod(fd, mode);
}

static struct rcore_error *open_inner(struct rcore_spool_folder *spool, int top, size_t index)
{
	struct stat status;
	bool is_new = false;
	struct rcore_error *err = open_folder(top, names[index], O_NOFOLLOW, &status, &is_new,
					      &spool->folders[index]);
	if (!err)
		err = check_writers(names[index], &status, false);
	if (!err && is_new) {
		share(spool, spool->folders[index], 0750);
		err = rcore_collect_sync(top);
	}
	return rcore_error_wrap(err, "the spool %s", spool->path);
}

struct rcore_error *rcore_spool_open(const char *path, struct rcore_spool_folder *ret)
{
	struct stat status;
	bool is_new;
	int top = -1;
	*ret = (struct rcore_spool_folder){.path = path, .folders = {-1, -1}};
	struct rcore_error *err = open_folder(AT_FDCWD, path, 0, &status, &is_new, &top);
	if (!err)
		err = check_writers(path, &status, true);
	if (!err) {
		ret->is_shared = status.st_mode & S_IRGRP;
		ret->group = status.st_gid;
	}
	for (size_t i = 0; i < RCORE_SPOOL_FOLDERS && !err; i++)
		err = open_inner(ret, top, i);
	if (top >= 0)
		close(top);
	if (err)
		ret->path = NULL;
	return err;
}

void rcore_spool_make_room(const struct rcore_spool_folder *spool,
			   const struct rcore_room_limits *limits, const char *own,
			   uint64_t *left)
{
	/* Packs need the room; lines need almost none. */
	const struct rcore_room rooms[] = {
		{.folder = spool->folders[RCORE_SPOOL_PACKS], .limits = limits, .own = own},
		{.folder = spool->folders[RCORE_SPOOL_LINES],
		 .limits = limits,
		 .own = own,
		 .ignores_disk = true},
	};
	for (size_t i = 0; spool->path && i < RCORE_COUNT(rooms); i++) {
		uint64_t here = 0;
		rcore_error_free(rcore_room_make(&rooms[i], &here));
		*left = here < *left ? here : *left;
	}
}

void rcore_spool_share(const struct rcore_spool_folder *spool, int fd)
{
	share(spool, fd, 0640);
}

struct rcore_error *rcore_spool_write_line(const struct rcore_result *result, int fd)
{
	int copy =
		ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		int errnum = errno;
		if (copy >= 0)
			close(copy);
		return rcore_error_os(errnum, "cannot write the line of the spool");
	}
	struct rcore_error *err = rcore_result_write(result, out);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write the line of the spool");
	return err;
}
