/* SPDX-License-Identifier: MIT */
#include "cli/core_paths.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/text.h"
#include "target/core/spool.h"

/* core, core.1234, ruby.core, app.1234.full-core.zst; not rcore.log. */
static bool is_named_like_core(const char *path)
{
	const char *name = rcore_base_name(path);
	bool begins = strncmp(name, "core", 4) == 0 && !isalnum((unsigned char)name[4]);
	return begins || rcore_ends_with(name, ".core") || strstr(name, ".core.") ||
	       strstr(name, "-core.");
}

/*
 * Whether the first bytes are those of a core file, or the file is compressed
 * and named like one. If it cannot be read, its analysis reports why.
 */
static bool may_be_core(const char *path)
{
	unsigned char head[sizeof(Elf64_Ehdr)];
	struct stat status;
	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return is_named_like_core(path);
	ssize_t got = read(fd, head, sizeof(head));
	close(fd);
	if (got <= 0)
		return false;
	return (rcore_compression_of(head, (size_t)got) &&
		strstr(rcore_base_name(path), "core")) ||
	       ((size_t)got == sizeof(head) && !memcmp(head, ELFMAG, SELFMAG) &&
		head[offsetof(Elf64_Ehdr, e_type)] == ET_CORE);
}

/*
 * Whether this is a stored core, NAME.full-core.zst, next to its pack,
 * NAME.core. `rcore collect` may leave both for one crash.
 */
static bool has_pack(const char *path)
{
	const char *name = rcore_base_name(path), *at = strstr(name, ".full-core.");
	char *pack = NULL;
	if (!at || asprintf(&pack, "%.*s.core", (int)(at - path), path) < 0)
		return false;
	bool found = may_be_core(pack);
	free(pack);
	return found;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static struct rcore_error *add_folder(const char *folder, struct rcore_core_paths *cores)
{
	struct dirent **entries;
	char escaped[128];
	rcore_escape(escaped, sizeof(escaped), folder);
	int count = scandir(folder, &entries, is_visible, alphasort);
	if (count < 0)
		return rcore_error_os(errno, "%s", escaped);
	struct rcore_error *err = NULL;
	size_t before = cores->count, length = strlen(folder);
	while (length > 1 && folder[length - 1] == '/')
		length--;
	for (int i = 0; i < count; i++) {
		char *path = NULL, **slot;
		if (!err &&
		    asprintf(&path, "%.*s/%s", (int)length, folder, entries[i]->d_name) < 0)
			err = rcore_error_no_memory();
		if (!err && may_be_core(path) && !has_pack(path)) {
			slot = rcore_push(cores);
			if (slot) {
				*slot = path;
				path = NULL;
			} else {
				err = rcore_error_no_memory();
			}
		}
		free(path);
		free(entries[i]);
	}
	free(entries);
	if (!err && cores->count == before)
		err = rcore_error_create(
			RCORE_ERROR_FORMAT,
			"%s: contains no core files; name the folder that contains them",
			escaped);
	return err;
}

struct rcore_error *rcore_core_paths_expand(const struct rcore_strings *words,
					    struct rcore_core_paths *cores)
{
	struct rcore_error *err = NULL;
	for (size_t i = 0; i < words->count && !err; i++) {
		struct stat status;
		char **slot;
		if (!stat(words->items[i], &status) && S_ISDIR(status.st_mode))
			err = add_folder(words->items[i], cores);
		else if (!(slot = rcore_push(cores)) || !(*slot = strdup(words->items[i])))
			err = rcore_error_no_memory();
	}
	return err;
}
