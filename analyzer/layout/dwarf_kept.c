/* SPDX-License-Identifier: MIT */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/schema.h"
#include "layout/store.h"
#include "layout/store_private.h"
#include "target/output/output.h"

/*
 * A hash (FNV-1a) of fields.def, because a table for another list of fields is
 * of no use.
 */
static uint64_t fingerprint(void)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < rcore_item_count; i++) {
		const char *const texts[] = {rcore_items[i].group, rcore_items[i].id,
					     rcore_items[i].names};
		for (size_t j = 0; j < 3; j++)
			for (const char *at = texts[j];; at++) {
				hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
				if (!*at)
					break;
			}
	}
	return hash;
}

/*
 * The build-id in hex. Returns false if the file has none, or one of an unusual
 * length.
 */
static bool build_id(const char *path, char ret[65])
{
	const unsigned char *bytes = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, (const void **)&bytes) : 0;
	bool is_usual = size >= 8 && size <= 32;
	for (ssize_t i = 0; is_usual && i < size; i++)
		sprintf(ret + 2 * i, "%02x", bytes[i]);
	elf_end(elf);
	close(fd);
	return is_usual;
}

/*
 * Returns $XDG_CACHE_HOME/rcore/layouts/BUILD-ID-FINGERPRINT.layout, malloc'ed,
 * or NULL.
 */
static char *kept_path(const char *path, const char *folder)
{
	char id[65], *kept = NULL;
	if (!folder || !build_id(path, id) ||
	    asprintf(&kept, "%s/%s-%016" PRIx64 ".layout", folder, id, fingerprint()) < 0)
		return NULL;
	return kept;
}

static bool is_ours(int fd)
{
	struct stat status;
	return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & (S_IWGRP | S_IWOTH));
}

static bool load(const char *kept, const unsigned version[3], struct rcore_layout *ret)
{
	struct rcore_layout layout;
	int fd = open(kept, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	struct rcore_error *err =
		is_ours(fd) ? rcore_layout_read_fd(fd, kept, &layout)
			    : rcore_error_create(RCORE_ERROR_FORMAT, "not owned by the user");
	close(fd);
	bool is_good =
		!err && (!version || !memcmp(layout.version, version, sizeof(layout.version)));
	rcore_error_free(err);
	if (is_good)
		*ret = layout;
	return is_good;
}

/* Creates a folder and its parents. */
static void make_folder(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
}

static struct rcore_error *write_text(FILE *out, const void *text)
{
	fputs(text, out);
	return NULL;
}

/* If it cannot be stored, nothing is lost. */
static void keep(const char *kept, char *folder, const struct rcore_layout *layout)
{
	char *text = rcore_layout_print(layout, "a cache of rcore; may be deleted at any time");
	if (!text)
		return;
	make_folder(folder);
	rcore_error_free(
		rcore_output_write(kept, RCORE_OUTPUT_PRIVATE, NULL, write_text, text));
	free(text);
}

struct rcore_error *rcore_layout_from_dwarf_kept(const char *path, const unsigned version[3],
						 struct rcore_layout *ret)
{
	char *folder = rcore_layout_xdg_folder("XDG_CACHE_HOME", ".cache");
	char *kept = kept_path(path, folder);
	struct rcore_error *err = NULL;

	if (kept && load(kept, version, ret)) {
		ret->source = RCORE_LAYOUT_DWARF;
	} else {
		err = rcore_layout_from_dwarf(path, version, ret);
		if (!err && kept)
			keep(kept, folder, ret);
	}
	free(kept);
	free(folder);
	return err;
}
