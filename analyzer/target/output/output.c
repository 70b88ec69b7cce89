/* SPDX-License-Identifier: MIT */
#include "target/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.h"

static struct rcore_error *cannot_write(const struct rcore_output *output, int errnum)
{
	char escaped[256];
	return rcore_error_os(errnum, "cannot write %s",
			      rcore_escape(escaped, sizeof(escaped), output->to.path));
}

static struct rcore_error *was_replaced(const struct rcore_output *output)
{
	char escaped[256];
	return rcore_error_create(RCORE_ERROR_OS,
				  "%s: another program replaced it while rcore was writing; "
				  "nothing was written, run the command again",
				  rcore_escape(escaped, sizeof(escaped), output->to.path));
}

/*
 * Calls `make` for names next to `path` until one is free. Returns 0 or errno.
 */
static int make_beside(const char *path, int (*make)(const char *name, void *context),
		       void *context, char ret[PATH_MAX])
{
	enum { ATTEMPTS = 100 };
	int errnum = EEXIST;
	for (int i = 0; i < ATTEMPTS && errnum == EEXIST; i++) {
		int length = snprintf(ret, PATH_MAX, "%s.%d-%d", path, (int)getpid(), i);
		errnum = length >= PATH_MAX ? ENAMETOOLONG : make(ret, context);
	}
	if (errnum)
		ret[0] = '\0';
	return errnum;
}

static int create(const char *name, void *context)
{
	struct rcore_output *output = context;
	mode_t mode = output->kind == RCORE_OUTPUT_REPORT ? 0666 : 0600;
	output->fd = openat(output->folder, name,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	return output->fd < 0 ? errno : 0;
}

/* linkat() replaces nothing, rename() does. */
static int link_to(const char *name, void *context)
{
	const struct rcore_output *output = context;
	char by_number[64];
	snprintf(by_number, sizeof(by_number), "/proc/self/fd/%d", output->fd);
	return linkat(AT_FDCWD, by_number, output->folder, name, AT_SYMLINK_FOLLOW) ? errno : 0;
}

const char *rcore_temporary_folder(void)
{
	const char *path = getenv("TMPDIR");
	return path && path[0] ? path : "/var/tmp";
}

int rcore_output_create_at(int folder, const char *name)
{
	return openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int rcore_temporary_create(const char *name, char ret[PATH_MAX])
{
	int length = snprintf(ret, PATH_MAX, "%s/%s.XXXXXX", rcore_temporary_folder(), name);
	if (length >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkostemp(ret, O_CLOEXEC);
}

int rcore_temporary_open(void)
{
	int fd = open(rcore_temporary_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	char path[PATH_MAX];
	fd = rcore_temporary_create("rcore", path);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_beside(struct rcore_output *output)
{
	char folder[PATH_MAX];
	mode_t mode = output->kind == RCORE_OUTPUT_REPORT ? 0666 : 0600;
	strcpy(folder, output->to.path);
	output->fd =
		openat(output->folder, dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	return output->fd < 0 ? make_beside(output->to.path, create, output, output->temporary)
			      : 0;
}

/* Does not write to a FIFO or device that was replaced since it was checked. */
static int open_stream(struct rcore_output *output)
{
	const struct rcore_destination *to = &output->to;
	struct stat now;
	if (to->kind == RCORE_DESTINATION_DESCRIPTOR)
		output->through = fcntl(to->descriptor, F_DUPFD_CLOEXEC, 0);
	else
		output->through = open(to->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (output->through < 0 || fstat(output->through, &now))
		return errno;
	if (now.st_dev != to->status.st_dev || now.st_ino != to->status.st_ino)
		return EAGAIN;
	output->fd = rcore_temporary_open();
	/* If no folder can be written, uses memory. */
	if (output->fd < 0)
		output->fd = memfd_create("rcore", MFD_CLOEXEC);
	return output->fd < 0 ? errno : 0;
}

static bool is_stream(const struct rcore_output *output)
{
	return output->to.kind == RCORE_DESTINATION_STREAM ||
	       output->to.kind == RCORE_DESTINATION_DESCRIPTOR;
}

struct rcore_error *rcore_output_open(const char *path, enum rcore_output_kind kind,
				      const struct rcore_inputs *inputs,
				      struct rcore_output *ret)
{
	*ret = (struct rcore_output){.fd = -1, .through = -1, .folder = AT_FDCWD, .kind = kind};
	struct rcore_error *err = rcore_destination_find(path, inputs, &ret->to);
	if (err)
		return err;
	int errnum = kind == RCORE_OUTPUT_NEW && ret->to.kind != RCORE_DESTINATION_NEW ? EEXIST
		     : is_stream(ret) ? open_stream(ret)
				      : open_beside(ret);
	if (errnum) {
		err = errnum == EAGAIN ? was_replaced(ret) : cannot_write(ret, errnum);
		rcore_output_close(ret);
	}
	return err;
}

struct rcore_error *rcore_output_open_at(int folder, const char *name, struct rcore_output *ret)
{
	struct stat status;
	*ret = (struct rcore_output){.fd = -1,
				     .through = -1,
				     .folder = folder,
				     .kind = RCORE_OUTPUT_NEW,
				     .to = {.kind = RCORE_DESTINATION_NEW, .descriptor = -1}};
	snprintf(ret->to.path, sizeof(ret->to.path), "%s", name);
	int errnum = !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) ? EEXIST
		     : errno != ENOENT                                    ? errno
									  : open_beside(ret);
	if (!errnum)
		return NULL;
	struct rcore_error *err = cannot_write(ret, errnum);
	rcore_output_close(ret);
	return err;
}

/*
 * Keeps the user's permissions. The group's are dropped if the group changes.
 */
static int keep_mode(const struct rcore_output *output)
{
	const struct stat *old = &output->to.status;
	mode_t mode = old->st_mode & 0777;
	if (fchown(output->fd, old->st_uid, old->st_gid))
		mode &= ~(mode_t)070;
	return fchmod(output->fd, mode) ? errno : 0;
}

/*
 * Without fsync(), a crash of the machine may leave an empty file instead of
 * the old one (rename(2) guarantees no order).
 */
static int replace(struct rcore_output *output)
{
	int errnum = output->kind == RCORE_OUTPUT_REPORT ? keep_mode(output) : 0;
	if (!errnum && fsync(output->fd))
		errnum = errno;
	if (!errnum && !output->temporary[0])
		errnum = make_beside(output->to.path, link_to, output, output->temporary);
	return errnum;
}

static int rename_to_place(struct rcore_output *output)
{
	/* A remote file system may report only now that the disk is full. */
	int closed = close(output->fd);
	output->fd = -1;
	if (closed ||
	    renameat(output->folder, output->temporary, output->folder, output->to.path))
		return errno;
	output->temporary[0] = '\0';
	return 0;
}

static int exchange(const struct rcore_output *output)
{
	return renameat2(AT_FDCWD, output->temporary, AT_FDCWD, output->to.path,
			 RENAME_EXCHANGE)
		       ? errno
		       : 0;
}

/*
 * Exchanges the names, checks what had the name until then, and removes it only
 * if it is the file that was checked. Anything else, such as a device that
 * somebody put there meanwhile, gets its name back.
 */
static int exchange_places(struct rcore_output *output)
{
	const struct stat *checked = &output->to.status;
	struct stat found;
	int errnum = exchange(output);
	/* For file systems without RENAME_EXCHANGE; the old file is gone. */
	if (errnum == EINVAL || errnum == ENOSYS || errnum == ENOENT)
		return rename_to_place(output);
	if (errnum)
		return errnum;
	/* The inode's number may be that of the removed file. */
	if (lstat(output->temporary, &found) || !S_ISREG(found.st_mode) ||
	    found.st_dev != checked->st_dev || found.st_ino != checked->st_ino) {
		errnum = exchange(output);
		return errnum ? errnum : EAGAIN;
	}
	errnum = close(output->fd) ? errno : 0;
	output->fd = -1;
	if (errnum)
		exchange(output);
	return errnum;
}

/* If somebody created a file with this name meanwhile, it is kept. */
static int place_new(struct rcore_output *output)
{
	struct stat status;
	int errnum = link_to(output->to.path, output);
	/* For file systems without hard links. */
	if (errnum == EPERM && output->temporary[0] &&
	    fstatat(output->folder, output->to.path, &status, AT_SYMLINK_NOFOLLOW))
		return rename_to_place(output);
	return errnum;
}

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};
			poll(&wait, 1, -1);
		} else if (written < 0 && errno != EINTR) {
			return errno;
		} else if (written > 0) {
			bytes += written;
			size -= (size_t)written;
		}
	}
	return 0;
}

static int copy(int from, int to)
{
	enum { BLOCK = 64 << 10 };
	char block[BLOCK];
	off_t at = 0;
	for (;;) {
		ssize_t got = pread(from, block, sizeof(block), at);
		if (got <= 0)
			return got ? errno : 0;
		int errnum = write_all(to, block, (size_t)got);
		if (errnum)
			return errnum;
		at += got;
	}
}

static int copy_through(const struct rcore_output *output)
{
	/* Flushes what was printed before. */
	if (output->to.descriptor == STDOUT_FILENO)
		fflush(stdout);
	return copy(output->fd, output->through);
}

struct rcore_error *rcore_output_keep(struct rcore_output *output)
{
	int errnum;
	if (is_stream(output)) {
		errnum = copy_through(output);
	} else if (output->to.kind == RCORE_DESTINATION_NEW) {
		errnum = place_new(output);
	} else {
		errnum = replace(output);
		if (!errnum)
			errnum = exchange_places(output);
	}
	return !errnum            ? NULL
	       : errnum == EAGAIN ? was_replaced(output)
				  : cannot_write(output, errnum);
}

void rcore_output_close(struct rcore_output *output)
{
	if (output->temporary[0])
		unlinkat(output->folder, output->temporary, 0);
	if (output->fd >= 0)
		close(output->fd);
	if (output->through >= 0)
		close(output->through);
	output->temporary[0] = '\0';
	output->fd = output->through = -1;
}

struct rcore_output rcore_output_of_file(int fd, const char *name)
{
	struct rcore_output output = {.fd = fd, .through = -1};
	snprintf(output.to.path, sizeof(output.to.path), "%s", name);
	return output;
}

void rcore_output_name(const struct rcore_output *output, char ret[RCORE_OUTPUT_NAME_SIZE])
{
	char path[256], folder[256];
	rcore_escape(path, sizeof(path), output->to.path);
	rcore_escape(folder, sizeof(folder), rcore_temporary_folder());
	if (is_stream(output))
		snprintf(ret, RCORE_OUTPUT_NAME_SIZE, "a temporary file in %s (TMPDIR), for %s",
			 folder, path);
	else
		snprintf(ret, RCORE_OUTPUT_NAME_SIZE, "%s", path);
}

struct rcore_error *rcore_output_fill(const struct rcore_output *output,
				      struct rcore_error *(*write)(FILE *out,
								   const void *context),
				      const void *context)
{
	char name[RCORE_OUTPUT_NAME_SIZE];
	rcore_output_name(output, name);
	int fd = fcntl(output->fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		return rcore_error_os(errnum, "cannot write %s", name);
	}
	struct rcore_error *err = write(out, context);
	bool has_failed = ferror(out);
	/* `write` does not know the name of the file. */
	if (has_failed)
		err = rcore_error_wrap(err, "%s", name);
	if (fclose(out) && !err)
		err = rcore_error_os(errno, "cannot write %s", name);
	else if (has_failed && !err)
		err = rcore_error_os(EIO, "cannot write %s", name);
	return err;
}

struct rcore_error *rcore_output_write(
	const char *path, enum rcore_output_kind kind, const struct rcore_inputs *inputs,
	struct rcore_error *(*write)(FILE *out, const void *context), const void *context)
{
	struct rcore_output output;
	struct rcore_error *err = rcore_output_open(path, kind, inputs, &output);
	if (err)
		return err;
	err = rcore_output_fill(&output, write, context);
	if (!err)
		err = rcore_output_keep(&output);
	rcore_output_close(&output);
	return err;
}

static struct rcore_error *copy_to_new(int fd, const char *path)
{
	struct rcore_output output;
	struct rcore_error *err = rcore_output_open(path, RCORE_OUTPUT_NEW, NULL, &output);
	if (err)
		return err;
	int errnum = copy(fd, output.fd);
	err = errnum ? cannot_write(&output, errnum) : rcore_output_keep(&output);
	rcore_output_close(&output);
	return err;
}

struct rcore_error *rcore_output_name_file(int fd, const char *path)
{
	const struct rcore_output output = {.fd = fd, .folder = AT_FDCWD};
	return link_to(path, (void *)&output) ? copy_to_new(fd, path) : NULL;
}

/* A log of our own that is full makes room. */
static void rotate(const char *path, size_t largest)
{
	char old[PATH_MAX];
	struct stat status;
	if (!lstat(path, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    status.st_nlink == 1 && (size_t)status.st_size > largest &&
	    snprintf(old, sizeof(old), "%s.1", path) < (int)sizeof(old))
		(void)!rename(path, old);
}

/*
 * If the disk is full, removes the part of the line that was written, or the
 * whole log if it was created for this line. The log is locked meanwhile.
 */
static void take_back(const char *path, int fd, off_t before)
{
	struct stat status, named;
	if (fstat(fd, &status) || ftruncate(fd, before))
		return;
	if (!before && !lstat(path, &named) && named.st_dev == status.st_dev &&
	    named.st_ino == status.st_ino)
		unlink(path);
}

struct rcore_error *rcore_output_append(const char *path, const char *line, size_t largest)
{
	struct stat status;
	char escaped[256];
	rcore_escape(escaped, sizeof(escaped), path);
	rotate(path, largest);
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		      0600);
	if (fd < 0 || fstat(fd, &status)) {
		int errnum = errno;
		if (fd >= 0)
			close(fd);
		return rcore_error_os(errnum, "cannot write %s", escaped);
	}
	struct rcore_error *err = NULL;
	if (!S_ISREG(status.st_mode)) {
		err = rcore_error_create(
			RCORE_ERROR_USAGE,
			"%s: is not a regular file; remove it, or name another file", escaped);
	} else if (status.st_uid != geteuid() || status.st_nlink != 1) {
		/*
		 * In a folder that everybody can write to, somebody else may
		 * have put it there.
		 */
		err = rcore_error_create(RCORE_ERROR_USAGE,
					 "%s: belongs to another user, or has another hard "
					 "link; remove it, or name another file",
					 escaped);
	} else {
		/* Others append to the same log. */
		bool is_locked = !flock(fd, LOCK_EX) && !fstat(fd, &status);
		int errnum = write_all(fd, line, strlen(line));
		if (errnum) {
			if (is_locked)
				take_back(path, fd, status.st_size);
			err = rcore_error_os(errnum, "cannot write %s", escaped);
		}
	}
	close(fd);
	return err;
}
