/* SPDX-License-Identifier: MIT */
#include "image/symbolize/symbolize_gem.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static size_t component(const char *path)
{
	return strcspn(path, "/");
}

/* Bundler truncates the commit to 12 digits. */
static bool is_commit(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return size == 12;
}

/* NAME-VERSION; a name may contain dashes, and digits after them. */
static bool is_full_name(const char *text, size_t size)
{
	for (size_t i = 1; i + 1 < size; i++)
		if (text[i] == '-' && (isdigit((unsigned char)text[i + 1]) ||
				       is_commit(text + i + 1, size - i - 1)))
			return true;
	return false;
}

static const char *skip_folder(const char *path)
{
	path += component(path);
	return *path ? path + 1 : path;
}

size_t rcore_gem_of_path(const char *path, const char **start)
{
	size_t length = 0;
	/* The innermost one counts, because a gem may contain others. */
	for (const char *next = path; (next = strchr(next, '/')) && *++next;) {
		const char *folder = NULL;
		if (!strncmp(next, "gems/", 5))
			folder = next + 5;
		else if (!strncmp(next, "extensions/", 11))
			folder = skip_folder(skip_folder(next + 11));
		if (!folder)
			continue;
		size_t size = component(folder);
		if (folder[size] == '/' && is_full_name(folder, size)) {
			*start = folder;
			length = size;
		}
	}
	return length;
}
