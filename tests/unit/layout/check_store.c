/* SPDX-License-Identifier: MIT */
/* Tests tables in files: those in the user's folder, and the cache of DWARF. */
#include <dirent.h>
#include <elf.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/count.h"
#include "layout/store.h"
#include "tables.h"
#include "suite.h"

static char folder[] = "/tmp/rcore-store-XXXXXX";
static char path[512];

static const char *in_folder(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	setenv("XDG_DATA_HOME", folder, 1);
	setenv("XDG_CACHE_HOME", folder, 1);
}

static void end(void)
{
	char command[600];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(in_folder(name), "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void write_table(const char *name, struct rcore_layout layout)
{
	char *text = rcore_layout_print(&layout, NULL);
	write_file(name, text);
	free(text);
}

START_TEST(user_folder)
{
	static const unsigned unknown[3] = {4, 9, 1}, known[3] = {3, 3, 8};
	struct rcore_layout own = table_of("3.3.8-x86_64"), *list;
	size_t count;

	mkdir(in_folder("rcore"), 0700);
	mkdir(in_folder("rcore/layouts"), 0700);
	strcpy(own.name, "mine");
	write_table("rcore/layouts/b.layout", own);
	write_file("rcore/layouts/notes.txt", "not a table");
	ck_assert_ptr_null(rcore_layout_candidates(known, EM_X86_64, &list, &count));
	ck_assert_str_eq(list[0].name, "mine");
	ck_assert_int_eq(list[0].source, RCORE_LAYOUT_EXACT);
	ck_assert_str_ne(list[1].name, "mine");
	free(list);

	own.version[0] = 4;
	own.version[1] = 9;
	own.version[2] = own.last_patch = 0;
	write_table("rcore/layouts/a.layout", own);
	write_file("rcore/layouts/c.layout", "layout broken\n");
	ck_assert_ptr_null(rcore_layout_candidates(unknown, EM_X86_64, &list, &count));
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(list[0].source, RCORE_LAYOUT_APPROXIMATE);
	free(list);

	unlink(in_folder("rcore/layouts/a.layout"));
	struct rcore_error *err = rcore_layout_candidates(unknown, EM_X86_64, &list, &count);
	ck_assert_int_eq(err->code, RCORE_ERROR_NO_LAYOUT);
	ck_assert_ptr_nonnull(strstr(err->message, "c.layout:1: the table has no line"));
	rcore_error_free(err);
}
END_TEST

START_TEST(find)
{
	struct rcore_layout layout;
	ck_assert_ptr_null(rcore_layout_find("3.3.8-x86_64-cet", &layout));
	ck_assert_uint_eq(layout.fiber.jmpbuf.size, 200);
	ck_assert_ptr_null(rcore_layout_find(layout.name, &layout));
	ck_assert_ptr_null(rcore_layout_find("3.1.2", &layout));
	ck_assert_uint_eq(layout.version[1], 1);
	write_table("x", table_of("2.7.4-x86_64"));
	ck_assert_ptr_null(rcore_layout_find(in_folder("x"), &layout));
	ck_assert_uint_eq(layout.version[1], 7);
	static const char *const none[] = {"3.3", "3.3.999-x86_64", "3.3.8-vax", "", "-x86_64"};
	for (size_t i = 0; i < RCORE_COUNT(none); i++) {
		struct rcore_error *err = rcore_layout_find(none[i], &layout);
		ck_assert_int_eq(err->code, RCORE_ERROR_NO_LAYOUT);
		rcore_error_free(err);
	}
}
END_TEST

/* Returns the only table in the cache; "" if there is none. */
static const char *kept(void)
{
	static char name[600];
	char kept_folder[300];
	snprintf(kept_folder, sizeof(kept_folder), "%s/rcore/layouts", folder);
	DIR *directory = opendir(kept_folder);
	*name = '\0';
	for (struct dirent *entry; directory && (entry = readdir(directory));)
		if (entry->d_name[0] != '.') {
			ck_assert_str_eq(name, "");
			snprintf(name, sizeof(name), "%s/%s", kept_folder, entry->d_name);
		}
	if (directory)
		closedir(directory);
	return name;
}

static void compile(const char *flags)
{
	char command[1024], file[] = __FILE__;
	snprintf(command, sizeof(command),
		 "sources=$(realpath %s)/dwarf && cd %s && "
		 "${CC:-cc} %s -g -shared -fPIC -o lib $sources/types.c $sources/other.c",
		 dirname(file), folder, flags);
	ck_assert_int_eq(system(command), 0);
}

static struct rcore_layout read_kept(void)
{
	static const unsigned version[3] = {3, 3, 8};
	struct rcore_layout layout;
	struct rcore_error *err =
		rcore_layout_from_dwarf_kept(in_folder("lib"), version, &layout);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	ck_assert_int_eq(layout.source, RCORE_LAYOUT_DWARF);
	return layout;
}

/*
 * Changes the size of rb_vm_t in the cache, which shows whether the cache is
 * used.
 */
static void alter(mode_t mode)
{
	struct rcore_layout layout = read_kept();
	char name[600];
	strcpy(name, kept());
	layout.vm.size = 7777;
	char *text = rcore_layout_print(&layout, NULL);
	FILE *file = fopen(name, "w");
	fputs(text, file);
	fclose(file);
	free(text);
	ck_assert_int_eq(chmod(name, mode), 0);
}

START_TEST(dwarf_is_kept)
{
	compile("-Wl,--build-id");
	struct rcore_layout first = read_kept();
	ck_assert_str_ne(kept(), "");
	struct stat status;
	ck_assert_int_eq(stat(kept(), &status), 0);
	ck_assert_int_eq(status.st_mode & 077, 0);
	struct rcore_layout second = read_kept();
	ck_assert_mem_eq(&first.vm, &second.vm, sizeof(first.vm));
	ck_assert_mem_eq(&first.constant, &second.constant, sizeof(first.constant));
	ck_assert_str_eq(first.name, second.name);
	alter(0600);
	ck_assert_uint_eq(read_kept().vm.size, 7777);
}
END_TEST

/*
 * Corrupt, truncated, for another release, writable by others, a link, a
 * folder: read again.
 */
START_TEST(kept_is_checked)
{
	compile("-Wl,--build-id");
	uint32_t size = read_kept().vm.size;
	char name[600];
	strcpy(name, kept());
	alter(0666);
	ck_assert_uint_eq(read_kept().vm.size, size);

	static const char *const wrong[] = {"",
					    "\x7f"
					    "ELF",
					    "layout x\nruby 3.3.8\n"};
	for (size_t i = 0; i < RCORE_COUNT(wrong); i++) {
		FILE *file = fopen(name, "w");
		fputs(wrong[i], file);
		fclose(file);
		ck_assert_uint_eq(read_kept().vm.size, size);
		alter(0600);
		ck_assert_uint_eq(read_kept().vm.size, 7777);
	}
	struct rcore_layout layout;
	static const unsigned other[3] = {3, 3, 9};
	ck_assert_ptr_null(rcore_layout_from_dwarf_kept(in_folder("lib"), other, &layout));
	ck_assert_uint_eq(layout.vm.size, size);

	unlink(name);
	ck_assert_int_eq(symlink("/dev/zero", name), 0);
	ck_assert_uint_eq(read_kept().vm.size, size);
	unlink(name);
	ck_assert_int_eq(mkdir(name, 0700), 0);
	ck_assert_uint_eq(read_kept().vm.size, size);
	ck_assert_int_eq(rmdir(name), 0);
}
END_TEST

START_TEST(nothing_to_keep)
{
	compile("-Wl,--build-id=none");
	read_kept();
	ck_assert_str_eq(kept(), "");
	compile("-Wl,--build-id");
	setenv("XDG_CACHE_HOME", "/dev/null/nowhere", 1);
	read_kept();
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	read_kept();
	ck_assert_str_eq(kept(), "");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {user_folder, find, dwarf_is_kept, kept_is_checked,
				      nothing_to_keep};
	const struct rcore_test_suite suite = {
		.name = "store",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.timeout = 60,
		.begin = begin,
		.end = end,
	};
	return rcore_test_suite_run(&suite);
}
