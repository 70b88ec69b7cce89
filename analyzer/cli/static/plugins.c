/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <iconv.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Linked into the static command alone (mk/static.mk), in place of functions of
 * glibc that load libraries while the program runs. A static program that loads
 * a library also loads the C library of the machine, a second one of another
 * release, and may crash. Each __wrap_NAME replaces NAME (ld's --wrap).
 */

void *__wrap_dlopen(const char *file, int mode);
int __wrap_getpwuid_r(uid_t user, struct passwd *entry, char *buffer, size_t size,
		      struct passwd **ret);
iconv_t __wrap_iconv_open(const char *to, const char *from);

/*
 * libdwfl is the only caller: it loads the client of debuginfod before it first
 * asks a server.
 */
void *__wrap_dlopen(const char *file, int mode)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	if (servers && *servers)
		fputs("rcore: this static build cannot load libdebuginfod, so it asks no "
		      "server of DEBUGINFOD_URLS; install the debug packages, name a folder "
		      "with --lib-search-path, or use a build that is not static\n",
		      stderr);
	return NULL;
}

/* nsswitch.conf may name modules that are libraries; /etc/passwd needs none. */
int __wrap_getpwuid_r(uid_t user, struct passwd *entry, char *buffer, size_t size,
		      struct passwd **ret)
{
	FILE *file = fopen("/etc/passwd", "re");
	*ret = NULL;
	if (!file)
		return errno;
	while (!fgetpwent_r(file, entry, buffer, size, ret) && (*ret)->pw_uid != user)
		*ret = NULL;
	fclose(file);
	return 0;
}

/*
 * libarchive converts the names of an archive's entries. rcore reads no names,
 * so nothing calls this.
 */
iconv_t __wrap_iconv_open(const char *to, const char *from)
{
	errno = EINVAL;
	return (iconv_t)-1;
}
