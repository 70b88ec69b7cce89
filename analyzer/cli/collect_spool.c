/* SPDX-License-Identifier: MIT */
#include "cli/collect_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const names[RCORE_SPOOL_FOLDERS] = {
	[RCORE_SPOOL_LINES] = "lines",
	[RCORE_SPOOL_PACKS] = "packs",
};

struct rcore_error *rcore_collect_folder_open(const char *path, int *ret)
{
	struct stat status;
	if (mkdir(path, 0700) && errno != EEXIST)
		return rcore_error_os(errno, "cannot create the folder %s", path);
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*ret < 0 || fstat(*ret, &status))
		return rcore_error_os(errno, "cannot open the folder %s", path);
	if ((status.st_uid != geteuid() && status.st_uid != 0) ||
	    (status.st_mode & (S_IWGRP | S_IWOTH) && !(status.st_mode & S_ISVTX)))
		return rcore_error_create(
			RCORE_ERROR_USAGE,
			"%s: others may replace files in it; name a folder of your own, or set "
			"its sticky bit",
			path);
	return NULL;
}

/* If this is not permitted, the group cannot read the file; not an error. */
static void share(const struct rcore_spool_folder *spool, int fd, mode_t mode)
{
	if (spool->is_shared && !fchown(fd, (uid_t)-1, spool->group))
		(void)!fchmod(fd, mode);
}

static struct rcore_error *open_inner(struct rcore_spool_folder *spool, size_t index)
{
	char path[PATH_MAX];
	struct stat before;
	int length = snprintf(path, sizeof(path), "%s/%s", spool->path, names[index]);
	if (length >= (int)sizeof(path))
		return rcore_error_os(ENAMETOOLONG, "the spool %s", spool->path);
	bool is_new = lstat(path, &before) != 0;
	struct rcore_error *err = rcore_collect_folder_open(path, &spool->folders[index]);
	if (!err && is_new)
		share(spool, spool->folders[index], 0750);
	return err;
}

struct rcore_error *rcore_spool_open(const char *path, struct rcore_spool_folder *ret)
{
	struct stat status;
	int folder = -1;
	struct rcore_error *err = rcore_collect_folder_open(path, &folder);
	*ret = (struct rcore_spool_folder){.path = path, .folders = {-1, -1}};
	if (!err && !fstat(folder, &status)) {
		ret->is_shared = status.st_mode & S_IRGRP;
		ret->group = status.st_gid;
	}
	if (folder >= 0)
		close(folder);
	for (size_t i = 0; i < RCORE_SPOOL_FOLDERS && !err; i++)
		err = open_inner(ret, i);
	return err;
}

void rcore_spool_make_room(const struct rcore_spool_folder *spool,
			   const struct rcore_room_limits *limits, const char *own,
			   uint64_t *left)
{
	for (size_t i = 0; spool->path && i < RCORE_SPOOL_FOLDERS; i++) {
		const struct rcore_room room = {
			.folder = spool->folders[i], .limits = limits, .own = own};
		uint64_t here = 0;
		rcore_error_free(rcore_room_make(&room, &here));
		*left = here < *left ? here : *left;
	}
}

struct rcore_error *rcore_spool_settle(const struct rcore_spool_folder *spool, int fd)
{
	share(spool, fd, 0640);
	return fsync(fd) ? rcore_error_os(errno, "cannot write to the spool %s", spool->path)
			 : NULL;
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
