/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULES_H
#define RCORE_IMAGE_MODULES_H

/*
 * image/elf/ knows the ELF files of a target: which are mapped where, their
 * build-ids, headers, symbols and debug files, and what they fill in where a
 * core lacks pages. Only image/ and target/core/ see elfutils. Start here.
 */

#include "base/error.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * The ELF files that the target had mapped, and which file on this machine
 * stands for each. A file stands for a module only when their build-ids agree
 * (the module's is read from the target's own memory: with the default
 * coredump_filter the first page of each ELF file is in the core). Where the
 * target's build-id cannot be read, a file is taken by its path and said to be
 * unverified. No file is ever taken by path alone against a build-id.
 */
enum rcore_module_status {
	RCORE_MODULE_FOUND, /* build-ids agree */
	/*
	 * A file is there; the target's build-id cannot be read, or there is
	 * none.
	 */
	RCORE_MODULE_UNVERIFIED,
	RCORE_MODULE_WRONG,   /* a file is there, with another build-id */
	RCORE_MODULE_MISSING, /* no file */
};

struct rcore_module {
	const char *path;    /* as the target saw it */
	uint64_t start, end; /* lowest and highest mapped address */
	enum rcore_module_status status;
	/* The file used, or the wrong one found; NULL when missing. */
	const char *file;
	unsigned char build_id[64];      /* the target's, else the file's */
	size_t build_id_size;            /* 0: none */
	unsigned char file_build_id[64]; /* of a wrong file */
	size_t file_build_id_size;
	/*
	 * run-time address = address in the file + bias; valid if `file` is
	 * used.
	 */
	uint64_t bias;
	/*
	 * Bytes of a file that is shorter than its headers say, and what they
	 * say; 0: it is whole.
	 */
	uint64_t file_size, whole_size;
	/* Private to image/; NULL unless FOUND or UNVERIFIED. */
	struct rcore_elf *elf;
	bool is_executable; /* the main program */
};

struct rcore_module_options {
	/* Prefix for every path of the target; NULL: none. */
	const char *sysroot;
	/* Folders searched by build-id and file name. */
	const char *const *search_paths;
	size_t search_path_count;
	/* The user's EXE; NULL: take it from the core. */
	const char *executable;
	/* Look symbols up in the target's memory, though a file is here. */
	bool from_memory;
};

struct rcore_modules;

/* Lists the modules of `process`, sorted by start. Without NT_FILE they come
 * from link_map (r_debug through AT_PHDR and PT_DYNAMIC in the executable).
 * `memory` is the target without any overlay. Missing files are no error; a
 * user's EXE that is no ELF file, or of another build, is. */
struct rcore_error *rcore_modules_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_module_options *options,
				       struct rcore_modules **ret);
void rcore_modules_close(struct rcore_modules *modules); /* NULL-safe */

size_t rcore_modules_count(const struct rcore_modules *modules);
struct rcore_module *rcore_modules_get(struct rcore_modules *modules, size_t index);
struct rcore_module *rcore_modules_find(struct rcore_modules *modules, uint64_t address);

/*
 * Memory of the target with absent file-backed pages filled from the modules'
 * files, as the process mapped them: read-only pages as they are, writable
 * pages too only where the core did not save them (then they were never
 * written). Belongs to `modules`; `below` must outlive it.
 */
struct rcore_memory *rcore_modules_overlay(struct rcore_modules *modules,
					   struct rcore_memory *below);

/*
 * The run-time address and size of a defined symbol that is no thread-local: of
 * .dynsym, by its hash table (of the file, else of the dynamic section in
 * memory), else of .symtab (of the file, its separate debug file, or
 * .gnu_debugdata). .dynsym comes first because a look-up there is nearly free
 * and .symtab says the same of its names. False: no such symbol; a first no may
 * cost a search for the debug file.
 */
struct rcore_symbol {
	uint64_t address, size;
	bool is_dynamic; /* from .dynsym */
};
bool rcore_module_symbol(struct rcore_modules *modules, struct rcore_module *module,
			 const char *name, struct rcore_symbol *ret);

/* The file (the module's own, a debug file by build-id or .gnu_debuglink, or of
 * debuginfod when the user has set it) that carries the DWARF of the module;
 * NULL: none found. The string belongs to `modules`. */
const char *rcore_module_debug_file(struct rcore_modules *modules, struct rcore_module *module);

/*
 * Run-time address of a variable that only DWARF knows (static); false: none.
 */
bool rcore_module_dwarf_variable(struct rcore_modules *modules, struct rcore_module *module,
				 const char *name, uint64_t *ret);

/* Ranges of the module's writable data (.data, .bss and what follows it without
 * a file), in address order; the place to search for the VM. From the program
 * headers (file, else memory); false past the last. */
bool rcore_module_writable(struct rcore_modules *modules, const struct rcore_module *module,
			   size_t index, uint64_t *start, uint64_t *end);

#endif
