/* SPDX-License-Identifier: MIT */
#include "target/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name beside `path` that mkostemp() makes one of. */
static int template_beside(const char *path, char ret[PATH_MAX])
{
	int length = snprintf(ret, PATH_MAX, "%s.XXXXXX", path);
	return length < 0 || length >= PATH_MAX ? ENAMETOOLONG : 0;
}

int rcore_new_file_open(const char *path, struct rcore_new_file *ret)
{
	char folder[PATH_MAX];
	*ret = (struct rcore_new_file){.fd = -1};
	int errnum = template_beside(path, folder);
	if (errnum)
		return errnum;
	ret->fd = open(dirname(folder), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (ret->fd >= 0)
		return 0;
	template_beside(path, ret->temporary);
	ret->fd = mkostemp(ret->temporary, O_CLOEXEC);
	if (ret->fd >= 0)
		return 0;
	errnum = errno;
	ret->temporary[0] = '\0';
	return errnum;
}

/* linkat() replaces nothing, rename() does. */
static int name_it(struct rcore_new_file *file, const char *path)
{
	enum { ATTEMPTS = 100 };
	char by_number[64];
	snprintf(by_number, sizeof(by_number), "/proc/self/fd/%d", file->fd);
	for (int i = 0; i < ATTEMPTS; i++) {
		int length = snprintf(file->temporary, sizeof(file->temporary), "%s.%d-%d",
				      path, (int)getpid(), i);
		if (length >= (int)sizeof(file->temporary))
			break;
		if (!linkat(AT_FDCWD, by_number, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	int errnum = errno;
	file->temporary[0] = '\0';
	return errnum;
}

int rcore_new_file_keep(struct rcore_new_file *file, const char *path)
{
	int errnum = file->temporary[0] ? 0 : name_it(file, path);
	if (errnum)
		return errnum;
	/* A remote file system may tell only now that the disk is full. */
	int closed = close(file->fd);
	file->fd = -1;
	if (closed || rename(file->temporary, path))
		return errno;
	file->temporary[0] = '\0';
	return 0;
}

void rcore_new_file_close(struct rcore_new_file *file)
{
	if (file->temporary[0])
		unlink(file->temporary);
	if (file->fd >= 0)
		close(file->fd);
	*file = (struct rcore_new_file){.fd = -1};
}
