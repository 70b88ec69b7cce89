/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <dlfcn.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/count.h"
#include "image/elf/build_id.h"
#include "image/elf/elf_file.h"
#include "image/elf/locate.h"
#include "image/elf/modules.h"
#include "self_core.h"
#include "target/core/core.h"
#include "suite.h"

extern char **environ;

/* Found by .symtab, by DWARF, and in .data and .bss. */
static int marker_data = 1;
static int marker_bss;
static const int marker_constant = 3;

struct opened {
	struct rcore_core *core;
	struct rcore_modules *modules;
	struct rcore_memory *memory;
};

static struct rcore_error *try_open(const struct core_builder *builder,
				    const struct rcore_module_options *options,
				    struct opened *ret)
{
	size_t size;
	unsigned char *file = core_build(builder, &size);
	struct rcore_error *err = rcore_core_open(write_file("core", file, size), &ret->core);
	free(file);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	struct rcore_memory *below = rcore_core_memory(ret->core);
	err = rcore_modules_open(rcore_core_process(ret->core), below, options, &ret->modules);
	if (err) {
		rcore_core_close(ret->core);
		return err;
	}
	ret->memory = rcore_modules_overlay(ret->modules, below);
	return NULL;
}

static struct opened open_with(const struct core_builder *builder,
			       const struct rcore_module_options *options)
{
	struct opened opened;
	struct rcore_error *err = try_open(builder, options, &opened);
	ck_assert_msg(!err, "%s", err ? err->message : "");
	return opened;
}

static void close_all(struct opened *opened)
{
	rcore_modules_close(opened->modules);
	rcore_core_close(opened->core);
}

static struct rcore_module *module_at(const struct opened *opened, const void *address)
{
	struct rcore_module *module =
		rcore_modules_find(opened->modules, (uint64_t)(uintptr_t)address);
	ck_assert_ptr_nonnull(module);
	return module;
}

static const void *libc_code(void)
{
	const void *code = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
	ck_assert_ptr_nonnull(code);
	return code;
}

static uint64_t own(const void *address)
{
	return (uint64_t)(uintptr_t)address;
}

START_TEST(finds_modules)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){0});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *program = module_at(&opened, &marker_data);
	ck_assert(program->is_executable);
	ck_assert_int_eq(program->status, RCORE_MODULE_FOUND);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert(!libc->is_executable);
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_str_eq(libc->path, libc->file);
	ck_assert_uint_eq(libc->build_id_size, 20);
	ck_assert_ptr_null(rcore_modules_find(opened.modules, 0));
	ck_assert_ptr_null(rcore_modules_find(opened.modules, UINT64_MAX));
	uint64_t end = 0;
	for (size_t i = 0; i < rcore_modules_count(opened.modules); i++) {
		struct rcore_module *module = rcore_modules_get(opened.modules, i);
		ck_assert_uint_ge(module->start, end);
		ck_assert_uint_gt(module->end, module->start);
		end = module->end;
	}
	ck_assert_ptr_null(
		rcore_modules_get(opened.modules, rcore_modules_count(opened.modules)));
	close_all(&opened);
	core_deinit(&builder);
}

/*
 * What the core left out comes from the files, and equals this process's
 * memory.
 */
START_TEST(overlay_fills)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){0});
	struct opened opened = open_with(&builder, NULL);
	const struct rcore_process *process = rcore_core_process(opened.core);
	size_t compared = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct rcore_mapping *mapping = &process->mappings[i];
		size_t size = mapping->end - mapping->start;
		if (!rcore_modules_find(opened.modules, mapping->start) ||
		    !self_is_constant(mapping->start, mapping->end))
			continue;
		unsigned char *bytes = malloc(size);
		ck_assert_ptr_nonnull(bytes);
		ck_assert_int_eq(rcore_read(opened.memory, mapping->start, bytes, size), 0);
		unsigned char *truth = malloc(size);
		ck_assert_ptr_nonnull(truth);
		ck_assert(self_read(mapping->start, truth, size));
		ck_assert_msg(!memcmp(bytes, truth, size), "%s + %lx", mapping->path,
			      (unsigned long)mapping->file_offset);
		free(truth);
		free(bytes);
		compared += size;
		uint64_t word;
		ck_assert_int_eq(
			rcore_read_u64(rcore_core_memory(opened.core), mapping->end - 8, &word),
			size > 4096 || mapping->file_offset ? RCORE_FAULT_NOT_SAVED : 0);
	}
	ck_assert_uint_gt(compared, 1 << 20);
	close_all(&opened);
	core_deinit(&builder);
}

START_TEST(finds_symbols)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){0});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *program = module_at(&opened, &marker_data);
	struct rcore_module *libc = module_at(&opened, libc_code());
	struct rcore_symbol symbol;
	ck_assert(rcore_module_symbol(opened.modules, libc, "gnu_get_libc_version", &symbol));
	ck_assert_uint_eq(symbol.address, own(libc_code()));
	ck_assert(symbol.is_dynamic);
	ck_assert(!rcore_module_symbol(opened.modules, libc, "no such symbol", &symbol));
	ck_assert(!rcore_module_symbol(opened.modules, libc, "", &symbol));
	/* Thread-local: its value is not an address. */
	ck_assert(!rcore_module_symbol(opened.modules, libc, "__libc_single_thread", &symbol));
	ck_assert(rcore_module_symbol(opened.modules, program, "marker_bss", &symbol));
	ck_assert_uint_eq(symbol.address, own(&marker_bss));
	ck_assert_uint_eq(symbol.size, sizeof(marker_bss));
	ck_assert(!symbol.is_dynamic);

	uint64_t address;
	ck_assert(
		rcore_module_dwarf_variable(opened.modules, program, "marker_data", &address));
	ck_assert_uint_eq(address, own(&marker_data));
	ck_assert(!rcore_module_dwarf_variable(opened.modules, program, "main", &address));
	ck_assert_str_eq(rcore_module_debug_file(opened.modules, program), program->file);

	bool data = false, bss = false;
	uint64_t start, end;
	for (size_t i = 0; rcore_module_writable(opened.modules, program, i, &start, &end);
	     i++) {
		data |= own(&marker_data) >= start && own(&marker_data) < end;
		bss |= own(&marker_bss) >= start && own(&marker_bss) < end;
	}
	ck_assert(data && bss);
	bool constant = false;
	for (size_t i = 0; rcore_module_constant(opened.modules, program, i, &start, &end);
	     i++) {
		constant |= own(&marker_constant) >= start && own(&marker_constant) < end;
		ck_assert(own(&marker_data) < start || own(&marker_data) >= end);
	}
	ck_assert(constant);
	for (size_t i = 0; rcore_module_constant(opened.modules, libc, i, &start, &end); i++)
		ck_assert(own(libc_code()) < start || own(libc_code()) >= end);
	close_all(&opened);
	core_deinit(&builder);
}

/* libc's file under another name, as `change` leaves its build-id. */
static const char *copy_libc(const char *name, bool change)
{
	struct rcore_elf *elf;
	Dl_info info;
	ck_assert(dladdr(libc_code(), &info));
	ck_assert_ptr_null(rcore_elf_open(info.dli_fname, self_machine(), &elf));
	unsigned char *bytes = malloc(elf->map.size);
	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, elf->map.bytes, elf->map.size);
	unsigned char *id = memmem(bytes, elf->map.size, elf->headers.build_id, 20);
	if (change)
		id[3] ^= 0xff;
	const char *path = write_file(name, bytes, elf->map.size);
	free(bytes);
	rcore_elf_close(elf);
	return path;
}

static void make_folders(const char *path)
{
	char folder[PATH_MAX];
	for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
		mkdir(folder, 0700);
	}
}

/* Where in a sysroot a file with the path of libc is. */
static const char *in_sysroot(const char *sysroot, const char *path)
{
	static char result[PATH_MAX];
	snprintf(result, sizeof(result), "%s%s", sysroot, path);
	make_folders(result);
	return result;
}

START_TEST(sysroot)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){0});
	struct rcore_module_options options = {.sysroot = temporary_path("root")};

	/*
	 * It does not exist there. The path outside is used, because the
	 * build-id is equal.
	 */
	struct opened opened = open_with(&builder, &options);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_str_eq(libc->file, libc->path);
	const char *place = in_sysroot(options.sysroot, libc->path);
	close_all(&opened);

	/* The same file. */
	ck_assert_int_eq(rename(copy_libc("copy", false), place), 0);
	opened = open_with(&builder, &options);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_int_eq(strncmp(libc->file, options.sysroot, strlen(options.sysroot)), 0);
	close_all(&opened);

	/* Another build: skipped, and the right one is found. */
	ck_assert_int_eq(rename(copy_libc("copy", true), place), 0);
	opened = open_with(&builder, &options);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_str_eq(libc->file, libc->path);
	close_all(&opened);
	core_deinit(&builder);
}

/* Paths have one slash where they are joined, whether a folder ends with some. */
START_TEST(slashes)
{
	static const unsigned char id[] = {0xab, 0xcd, 0xef};
	static const char *const folders[] = {"b//", "c"};
	const struct rcore_module_options options = {
		.sysroot = "a/", .search_paths = folders, .search_path_count = 2};
	static const char *const wanted[] = {"a/lib/d.so",
					     "b/d.so",
					     "b/.build-id/ab/cdef",
					     "b/.build-id/ab/cdef.debug",
					     "c/d.so",
					     "c/.build-id/ab/cdef",
					     "c/.build-id/ab/cdef.debug"};
	const struct rcore_module_options root = {.sysroot = "/"};
	struct rcore_candidate found[RCORE_MAX_CANDIDATES];
	struct rcore_arena arena = {0};

	ck_assert_uint_ge(rcore_locate(&arena, &options, "/lib/d.so", id, sizeof(id), found),
			  RCORE_COUNT(wanted));
	for (size_t i = 0; i < RCORE_COUNT(wanted); i++)
		ck_assert_str_eq(found[i].path, wanted[i]);
	ck_assert_uint_ge(rcore_locate(&arena, &root, "/lib/d.so", NULL, 0, found), 1);
	ck_assert_str_eq(found[0].path, "/lib/d.so");
	rcore_arena_deinit(&arena);
}
END_TEST

/* If the first pages are missing from the core, there is no build-id. */
START_TEST(unverified)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.no_headers = true});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_UNVERIFIED);
	ck_assert_uint_eq(libc->build_id_size, 20);
	struct rcore_symbol symbol;
	ck_assert(rcore_module_symbol(opened.modules, libc, "gnu_get_libc_version", &symbol));
	ck_assert_uint_eq(symbol.address, own(libc_code()));
	close_all(&opened);

	/* If the sysroot lacks the file, this machine's is not used. */
	struct rcore_module_options options = {.sysroot = temporary_path("none")};
	opened = open_with(&builder, &options);
	ck_assert_ptr_null(module_at(&opened, libc_code())->elf);
	uint64_t word;
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()), &word),
			 RCORE_FAULT_FILE_MISSING);
	close_all(&opened);
	core_deinit(&builder);
}

START_TEST(missing_file)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.prefix = "/nonexistent"});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_MISSING);
	ck_assert_ptr_null(libc->file);
	ck_assert_uint_eq(libc->build_id_size, 20);
	uint64_t word, start, end;
	struct rcore_symbol symbol;
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()), &word),
			 RCORE_FAULT_FILE_MISSING);
	/* Only if this machine has a debug file of libc. */
	if (rcore_module_symbol(opened.modules, libc, "gnu_get_libc_version", &symbol)) {
		ck_assert(!symbol.is_dynamic);
		ck_assert_uint_eq(symbol.address, own(libc_code()));
	}
	ck_assert(rcore_module_writable(opened.modules, libc, 0, &start, &end));
	close_all(&opened);
	core_deinit(&builder);

	/* A core with all pages: the dynamic section in memory has it. */
	self_core(&builder,
		  &(struct self_core_options){.prefix = "/nonexistent", .everything = true});
	opened = open_with(&builder, NULL);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_MISSING);
	ck_assert(rcore_module_symbol(opened.modules, libc, "gnu_get_libc_version", &symbol));
	ck_assert(symbol.is_dynamic);
	ck_assert_uint_eq(symbol.address, own(libc_code()));
	close_all(&opened);
	core_deinit(&builder);
}

/*
 * Files are also found by their name, and by build-id, in folders that the user
 * gives.
 */
START_TEST(search_paths)
{
	struct core_builder builder = {0};
	Dl_info info;
	ck_assert(dladdr(libc_code(), &info));
	char folder[PATH_MAX], path[PATH_MAX + 256], hex[RCORE_BUILD_ID_TEXT];
	snprintf(folder, sizeof(folder), "%s", temporary_path("lib"));
	const char *folders[] = {"/nonexistent", folder};
	struct rcore_module_options options = {.search_paths = folders, .search_path_count = 2};
	self_core(&builder, &(struct self_core_options){.prefix = "/nonexistent"});
	mkdir(folder, 0700);

	struct opened opened = open_with(&builder, &options);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_MISSING);
	rcore_build_id_text(libc->build_id, libc->build_id_size, hex);
	snprintf(path, sizeof(path), "%s/%s", folder, strrchr(libc->path, '/') + 1);
	close_all(&opened);

	ck_assert_int_eq(rename(copy_libc("copy", true), path), 0);
	opened = open_with(&builder, &options);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_WRONG);
	ck_assert_str_eq(libc->file, path);
	ck_assert_ptr_null(libc->elf);
	ck_assert_uint_eq(libc->file_build_id_size, 20);
	ck_assert_int_ne(memcmp(libc->file_build_id, libc->build_id, 20), 0);
	uint64_t word;
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()), &word),
			 RCORE_FAULT_FILE_MISSING);
	close_all(&opened);

	ck_assert_int_eq(rename(copy_libc("copy", false), path), 0);
	opened = open_with(&builder, &options);
	ck_assert_int_eq(module_at(&opened, libc_code())->status, RCORE_MODULE_FOUND);
	close_all(&opened);

	ck_assert_int_eq(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s", folder, hex, hex + 2);
	make_folders(path);
	ck_assert_int_eq(rename(copy_libc("copy", false), path), 0);
	opened = open_with(&builder, &options);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_str_eq(libc->file, path);
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()), &word), 0);
	close_all(&opened);
	core_deinit(&builder);
}

START_TEST(deleted_file)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.suffix = " (deleted)"});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	ck_assert_ptr_nonnull(strstr(libc->path, " (deleted)"));
	ck_assert_ptr_null(strstr(libc->file, " (deleted)"));
	close_all(&opened);
	core_deinit(&builder);
}

static void refuses(const struct core_builder *builder, const char *executable,
		    enum rcore_error_code code, const char *words)
{
	struct rcore_module_options options = {.executable = executable};
	struct opened opened;
	struct rcore_error *err = try_open(builder, &options, &opened);
	ck_assert_ptr_nonnull(err);
	ck_assert_msg(err->code == code && strstr(err->message, words), "%d: %s", err->code,
		      err->message);
	ck_assert_msg(strstr(err->message, executable) != NULL, "%s", err->message);
	rcore_error_free(err);
}

START_TEST(executable)
{
	struct core_builder builder = {0};
	Dl_info info;
	ck_assert(dladdr(libc_code(), &info));
	for (int headers = 0; headers < 2; headers++) {
		self_core(&builder, &(struct self_core_options){.prefix = "/nonexistent",
								.no_headers = !headers});
		struct rcore_module_options options = {.executable = "/proc/self/exe"};
		struct opened opened = open_with(&builder, &options);
		struct rcore_module *program = module_at(&opened, &marker_data);
		ck_assert_int_eq(program->status,
				 headers ? RCORE_MODULE_FOUND : RCORE_MODULE_UNVERIFIED);
		ck_assert_str_eq(program->file, "/proc/self/exe");
		close_all(&opened);
		refuses(&builder, info.dli_fname, RCORE_ERROR_USAGE, "is not the program");
		refuses(&builder, "/nonexistent/exe", RCORE_ERROR_OS, "No such file");
		refuses(&builder, "/", RCORE_ERROR_FORMAT, "not an ELF file");
		refuses(&builder, write_file("script", "#!ruby", 6), RCORE_ERROR_FORMAT,
			"not an ELF file");
		core_deinit(&builder);
	}
}

START_TEST(link_map)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.no_file_note = true});
	struct opened opened = open_with(&builder, NULL);
	ck_assert(module_at(&opened, &marker_data)->is_executable);
	struct rcore_module *libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_FOUND);
	struct rcore_symbol symbol;
	ck_assert(rcore_module_symbol(opened.modules, libc, "gnu_get_libc_version", &symbol));
	ck_assert_uint_eq(symbol.address, own(libc_code()));
	uint64_t word, truth;
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()) & ~7ul, &word), 0);
	ck_assert(self_read(own(libc_code()) & ~7ul, &truth, 8));
	ck_assert_uint_eq(word, truth);
	close_all(&opened);
	core_deinit(&builder);

	/*
	 * Like a core of qemu: no ELF headers either. The program must be
	 * named.
	 */
	self_core(&builder,
		  &(struct self_core_options){.no_file_note = true, .no_headers = true});
	struct rcore_module_options options = {.executable = "/proc/self/exe"};
	opened = open_with(&builder, &options);
	ck_assert_int_eq(module_at(&opened, &marker_data)->status, RCORE_MODULE_UNVERIFIED);
	libc = module_at(&opened, libc_code());
	ck_assert_int_eq(libc->status, RCORE_MODULE_UNVERIFIED);
	ck_assert_int_eq(rcore_read_u64(opened.memory, own(libc_code()) & ~7ul, &word), 0);
	close_all(&opened);
	refuses(&builder, "/", RCORE_ERROR_FORMAT, "not an ELF file");
	core_deinit(&builder);
}

/* A file that is mapped whole, in order to read it, is not a module. */
START_TEST(mapped_to_look)
{
	struct core_builder builder = {0};
	Dl_info info;
	ck_assert(dladdr(libc_code(), &info));
	self_core(&builder, &(struct self_core_options){.look_at = info.dli_fbase});
	struct opened opened = open_with(&builder, NULL);
	size_t found = 0;
	for (size_t i = 0; i < rcore_modules_count(opened.modules); i++) {
		struct rcore_module *module = rcore_modules_get(opened.modules, i);
		found += strstr(module->path, "libc.so") != NULL;
	}
	ck_assert_uint_eq(found, 1);
	close_all(&opened);
	core_deinit(&builder);
}

static void run(char *const arguments[])
{
	pid_t pid;
	int status;
	ck_assert_int_eq(posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Only the debug file, found by build-id; the program's own file is gone. */
START_TEST(debug_file)
{
	struct core_builder builder = {0};
	char folder[PATH_MAX], path[PATH_MAX + 256], hex[RCORE_BUILD_ID_TEXT];
	struct rcore_elf *elf;
	snprintf(folder, sizeof(folder), "%s", temporary_path("debug"));
	ck_assert_ptr_null(rcore_elf_open("/proc/self/exe", self_machine(), &elf));
	rcore_build_id_text(elf->headers.build_id, elf->headers.build_id_size, hex);
	rcore_elf_close(elf);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", folder, hex, hex + 2);
	make_folders(path);
	char exe[] = "/proc/self/exe", target[PATH_MAX] = "";
	ck_assert_int_gt(readlink(exe, target, sizeof(target) - 1), 0);
	run((char *[]){"objcopy", "--only-keep-debug", target, path, NULL});

	self_core(&builder, &(struct self_core_options){.prefix = "/nonexistent"});
	const char *folders[] = {folder};
	struct rcore_module_options options = {.search_paths = folders, .search_path_count = 1};
	struct opened opened = open_with(&builder, &options);
	struct rcore_module *program = module_at(&opened, &marker_data);
	ck_assert_int_eq(program->status, RCORE_MODULE_MISSING);
	ck_assert_str_eq(rcore_module_debug_file(opened.modules, program), path);
	uint64_t address;
	ck_assert(rcore_module_dwarf_variable(opened.modules, program, "marker_bss", &address));
	ck_assert_uint_eq(address, own(&marker_bss));
	struct rcore_symbol symbol;
	ck_assert(rcore_module_symbol(opened.modules, program, "marker_data", &symbol));
	ck_assert_uint_eq(symbol.address, own(&marker_data));
	close_all(&opened);
	core_deinit(&builder);

	struct rcore_error *err = rcore_elf_open(path, self_machine(), &elf);
	ck_assert_ptr_nonnull(strstr(err->message, "contains only debug information"));
	rcore_error_free(err);
}

/* Names are those of the file that was opened, not of one that replaces it. */
START_TEST(replaced_file)
{
	struct core_builder builder = {0};
	char path[PATH_MAX], other[PATH_MAX];
	char exe[PATH_MAX] = "", rename_marker[] = "marker_bss=replaced";
	struct rcore_symbol symbol;
	uint64_t address;
	snprintf(path, sizeof(path), "%s", temporary_path("program"));
	snprintf(other, sizeof(other), "%s", temporary_path("other"));
	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof(exe) - 1), 0);
	run((char *[]){"objcopy", exe, path, NULL});
	run((char *[]){"objcopy", "--redefine-sym", rename_marker, exe, other, NULL});
	self_core(&builder, &(struct self_core_options){.prefix = "/nonexistent"});
	struct rcore_module_options options = {.executable = path};
	struct opened opened = open_with(&builder, &options);
	struct rcore_module *program = module_at(&opened, &marker_data);
	ck_assert_int_eq(rename(other, path), 0);
	ck_assert(!rcore_module_symbol(opened.modules, program, "replaced", &symbol));
	ck_assert(rcore_module_symbol(opened.modules, program, "marker_bss", &symbol));
	ck_assert_uint_eq(symbol.address, own(&marker_bss));
	ck_assert(
		rcore_module_dwarf_variable(opened.modules, program, "marker_data", &address));
	ck_assert_uint_eq(address, own(&marker_data));
	close_all(&opened);
	core_deinit(&builder);
}
END_TEST

/*
 * The headers, dynamic sections and link maps of a core may contain anything.
 */
START_TEST(words_flipped)
{
	static const uint64_t values[] = {0,          1,          64,     0x7fffffff,
					  0xffffffff, UINT64_MAX, 1 << 30};
	struct core_builder builder = {0};
	srand((unsigned)_i);
	for (int round = 0; round < 10; round++) {
		self_core(&builder, &(struct self_core_options){.no_file_note = round % 2});
		for (int flips = 0; flips < 100; flips++) {
			struct core_load *load =
				&builder.loads[(size_t)rand() % builder.load_count];
			if (load->header.p_filesz < 4096)
				continue;
			bool header = !memcmp(load->bytes, ELFMAG, SELFMAG);
			size_t size = header ? 1024 : load->header.p_filesz;
			memcpy(load->bytes + (size_t)rand() % (size - 8),
			       &values[(size_t)rand() % (sizeof(values) / 8)],
			       1u << rand() % 4);
		}
		struct opened opened;
		struct rcore_error *err = try_open(&builder, NULL, &opened);
		core_deinit(&builder);
		if (err) {
			rcore_error_free(err);
			continue;
		}
		for (size_t i = 0; i < rcore_modules_count(opened.modules); i++) {
			struct rcore_module *module = rcore_modules_get(opened.modules, i);
			struct rcore_symbol symbol;
			uint64_t start, end, word;
			rcore_module_symbol(opened.modules, module, "getenv", &symbol);
			for (size_t j = 0;
			     rcore_module_writable(opened.modules, module, j, &start, &end);
			     j++)
				rcore_read_u64(opened.memory, start, &word);
			rcore_read_u64(opened.memory, module->end - 8, &word);
		}
		close_all(&opened);
	}
}

/* What an earlier call left in errno says nothing about this file. */
START_TEST(text_file_after_failure)
{
	const char *path = temporary_path("text");
	struct rcore_elf *elf;
	FILE *file = fopen(path, "w");
	ck_assert(file && fputs("no ELF file", file) >= 0 && !fclose(file));
	errno = ENOMEM;
	rcore_auto_error err = rcore_elf_open(path, self_machine(), &elf);
	ck_assert(err && err->code == RCORE_ERROR_FORMAT);
	unlink(path);
}
END_TEST

/* ASan ends a process that has no memory left. */
#ifndef __SANITIZE_ADDRESS__
START_TEST(no_memory_for_file)
{
	const struct rlimit limit = {0, 0};
	struct rcore_elf *elf;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	struct rcore_error *err = rcore_elf_open("/proc/self/exe", self_machine(), &elf);
	ck_assert(err && err->code == RCORE_ERROR_NO_MEMORY);
}
END_TEST

static void *taken; /* blocks of memory, each of which points to the next one */

/* Between these two, malloc() fails for any size. */
static void take_all_memory(void)
{
	/* The kernel takes 0 for the other limit. */
	const struct rlimit limit = {1, RLIM_INFINITY};
	void **block;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	for (size_t size = 1 << 20; size >= sizeof(*block); size /= 2)
		while ((block = malloc(size))) {
			*block = taken;
			taken = (void *)block;
		}
}

static void allow_memory(void)
{
	const struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	setrlimit(RLIMIT_DATA, &limit);
}

/* What libelf does not find without memory may exist. */
START_TEST(no_memory_for_headers)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.prefix = ""});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *libc = module_at(&opened, libc_code());
	struct rcore_elf_headers headers;
	ck_assert_int_eq(rcore_elf_headers_read(libc->elf->elf, self_machine(), &headers),
			 RCORE_ELF_READ);
	take_all_memory();
	enum rcore_elf_outcome of_file =
		rcore_elf_headers_read(libc->elf->elf, self_machine(), &headers);
	enum rcore_elf_outcome in_memory = rcore_elf_headers_from_memory(
		opened.memory, libc->start, self_machine(), &headers);
	allow_memory();
	ck_assert_int_eq(of_file, RCORE_ELF_NO_MEMORY);
	ck_assert_int_eq(in_memory, RCORE_ELF_NO_MEMORY);
}
END_TEST

/* A later snapshot of the same session has what an earlier one lacks. */
START_TEST(memory_again)
{
	struct core_builder builder = {0};
	self_core(&builder, &(struct self_core_options){.prefix = ""});
	struct opened opened = open_with(&builder, NULL);
	struct rcore_module *program = module_at(&opened, &marker_data);
	take_all_memory();
	const char *file = rcore_module_debug_file(opened.modules, program);
	allow_memory();
	ck_assert_ptr_null(file);
	ck_assert(rcore_modules_lack_memory(opened.modules));
	rcore_modules_retry(opened.modules);
	ck_assert(!rcore_modules_lack_memory(opened.modules));
	ck_assert_str_eq(rcore_module_debug_file(opened.modules, program), program->file);
	ck_assert(!rcore_modules_lack_memory(opened.modules));
	close_all(&opened);
}
END_TEST
#endif

int main(void)
{
	const TTest *const tests[] = {finds_modules,
				      overlay_fills,
				      finds_symbols,
				      sysroot,
				      slashes,
				      unverified,
				      missing_file,
				      search_paths,
				      deleted_file,
				      executable,
				      link_map,
				      mapped_to_look,
				      debug_file,
				      text_file_after_failure,
#ifndef __SANITIZE_ADDRESS__
				      no_memory_for_file,
				      no_memory_for_headers,
				      memory_again,
#endif
				      replaced_file};
	const struct rcore_test_loop loops[] = {{words_flipped, 10}};
	const struct rcore_test_suite suite = {
		.name = "image",
		.tests = tests,
		.count = RCORE_COUNT(tests),
		.looped = loops,
		.looped_count = RCORE_COUNT(loops),
		.timeout = 120,
	};
	return rcore_test_suite_run(&suite);
}
