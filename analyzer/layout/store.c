/* SPDX-License-Identifier: MIT */
#include "layout/store.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "layout/schema.h"
#include "layout/store_private.h"

enum { SIZE_LIMIT = 1 << 20 };

/* Reads at most as much as a table may have, and adds a NUL. */
static struct rcore_error *read_text(int fd, const char *path, char **ret)
{
	size_t size = 0;
	char *text = malloc(SIZE_LIMIT + 1);
	if (!text)
		return rcore_error_no_memory();
	while (size < SIZE_LIMIT) {
		ssize_t count = read(fd, text + size, SIZE_LIMIT - size);
		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0) {
			int errnum = errno;
			free(text);
			return rcore_error_os(errnum, "%s", path);
		}
		if (!count)
			break;
		size += (size_t)count;
	}
	if (size == SIZE_LIMIT) {
		free(text);
		return rcore_error_create(
			RCORE_ERROR_LIMIT,
			"%s: is too large for a layout table (the limit is %d bytes)", path,
			SIZE_LIMIT);
	}
	text[size] = '\0';
	*ret = text;
	return NULL;
}

struct rcore_error *rcore_layout_read_fd(int fd, const char *path, struct rcore_layout *ret)
{
	char *text = NULL;
	struct rcore_error *err = read_text(fd, path, &text);
	if (!err)
		err = rcore_layout_parse(text, path, ret);
	free(text);
	return err;
}

static struct rcore_error *not_a_file(const char *path)
{
	return rcore_error_create(RCORE_ERROR_USAGE,
				  "%s: is not a regular file; name the file of a layout table",
				  path);
}

struct rcore_error *rcore_layout_read(const char *path, struct rcore_layout *ret)
{
	struct stat status;
	/*
	 * Opening a device can have effects, and opening a FIFO can wait
	 * forever.
	 */
	if (stat(path, &status))
		return rcore_error_os(errno, "%s", path);
	if (!S_ISREG(status.st_mode))
		return not_a_file(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return rcore_error_os(errno, "%s", path);
	struct rcore_error *err = fstat(fd, &status) ? rcore_error_os(errno, "%s", path)
				  : S_ISREG(status.st_mode)
					  ? rcore_layout_read_fd(fd, path, ret)
					  : not_a_file(path);
	close(fd);
	return err;
}

char *rcore_layout_xdg_folder(const char *variable, const char *below_home)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	char *path = NULL;
	int length = -1;
	if (base && *base == '/')
		length = asprintf(&path, "%s/rcore/layouts", base);
	else if (home && *home == '/')
		length = asprintf(&path, "%s/%s/rcore/layouts", home, below_home);
	return length < 0 ? NULL : path;
}

/*
 * Returns the user's folder, malloc'ed; NULL if the environment names no home
 * folder.
 */
static char *layout_folder(void)
{
	return rcore_layout_xdg_folder("XDG_DATA_HOME", ".local/share");
}

static int is_table(const struct dirent *entry)
{
	return rcore_ends_with(entry->d_name, ".layout");
}

struct rcore_error *rcore_layout_folder_each(rcore_layout_visit *visit, void *context)
{
	char *folder = layout_folder();
	struct dirent **entries = NULL;
	int count = folder ? scandir(folder, &entries, is_table, alphasort) : 0;
	struct rcore_error *err = NULL;
	bool go_on = true;

	for (int i = 0; i < count; i++) {
		struct rcore_layout layout;
		char *path = NULL;
		if (go_on && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
			path = NULL;
			go_on = false;
			err = rcore_error_no_memory();
		} else if (go_on) {
			struct rcore_error *bad = rcore_layout_read(path, &layout);
			go_on = visit(context, path, bad ? NULL : &layout, bad);
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	free(folder);
	return err;
}

/*
 * Whether `word` names this table: its release is in the table's range, and the
 * rest is equal.
 */
static bool means(const char *word, const char *name)
{
	char text[RCORE_RANGE_TEXT];
	unsigned release[3], first[3], last;
	size_t length = strcspn(word, "-"), name_length = strcspn(name, "-");
#ifdef __aarch64__
	static const char own[] = "-aarch64";
#else
	static const char own[] = "-x86_64";
#endif
	if (length >= sizeof(text) || name_length >= sizeof(text) ||
	    strcmp(word[length] ? word + length : own, name + name_length))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)length, word);
	if (!rcore_version_parse(text, release))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)name_length, name);
	return rcore_version_range_parse(text, first, &last) && first[0] == release[0] &&
	       first[1] == release[1] && first[2] <= release[2] && release[2] <= last;
}

struct rcore_error *rcore_layout_find(const char *word, struct rcore_layout *ret)
{
	const char *name;
	for (size_t i = 0; (name = rcore_layout_builtin_name(i)); i++)
		if (!strcmp(word, name) || means(word, name))
			return rcore_layout_builtin(i, ret);
	if (access(word, F_OK) == 0)
		return rcore_layout_read(word, ret);
	return rcore_error_create(RCORE_ERROR_NO_LAYOUT,
				  "%s: is neither a file nor a built-in table; `rcore layout "
				  "list` prints the built-in ones",
				  word);
}
