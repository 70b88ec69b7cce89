/* SPDX-License-Identifier: MIT */
#ifndef RCORE_IMAGE_MODULES_H
#define RCORE_IMAGE_MODULES_H

/*
 * image/elf/ finds the ELF files that a target has mapped, their build-ids,
 * headers, symbols and debug files, and the bytes that they provide for pages
 * that a core lacks. Only image/ and target/core/ include elfutils. Start here.
 */

#include "base/error.h"
#include "target/memory.h"
#include "target/process.h"

/*
 * The ELF files that the target had mapped, and the file on this machine for
 * each. A file is used only if its build-id equals the module's, which is read
 * from the target's memory: with the default coredump_filter, a core contains
 * the first page of each ELF file. If the target's build-id cannot be read, a
 * file is found by its path and reported as unverified. A file whose build-id
 * differs is never used.
 */
enum rcore_module_status {
	RCORE_MODULE_FOUND, /* build-ids agree */
	/*
	 * There is a file, but the target's build-id cannot be read or does not
	 * exist.
	 */
	RCORE_MODULE_UNVERIFIED,
	RCORE_MODULE_WRONG,   /* the file has another build-id */
	RCORE_MODULE_MISSING, /* no file */
};

struct rcore_module {
	const char *path;    /* as the target saw it */
	uint64_t start, end; /* lowest and highest mapped address */
	enum rcore_module_status status;
	/* The file that is used, or the wrong one; NULL if missing. */
	const char *file;
	/* the target's, otherwise the file's */
	unsigned char build_id[64];
	size_t build_id_size;            /* 0: none */
	unsigned char file_build_id[64]; /* of a wrong file */
	size_t file_build_id_size;
	/*
	 * run-time address = address in the file + bias; valid if `file` is
	 * set.
	 */
	uint64_t bias;
	/*
	 * The size of a file that is truncated, and the size according to its
	 * headers; both 0 if it is complete.
	 */
	uint64_t file_size, whole_size;
	/* Private to image/; NULL unless FOUND or UNVERIFIED. */
	struct rcore_elf *elf;
	bool is_executable; /* the main program */
};

struct rcore_answers;

struct rcore_module_options {
	/* Prefix for every path of the target, or NULL. */
	const char *sysroot;
	/* Folders to search by build-id and file name. */
	const char *const *search_paths;
	size_t search_path_count;
	/* The user's EXE; NULL: use the path in the core. */
	const char *executable;
	/* Look symbols up in the target's memory even if a file is here. */
	bool from_memory;
	/* What is known about files (answers.h), or NULL; not copied. */
	struct rcore_answers *answers;
};

struct rcore_modules;

/*
 * Lists the modules of `process`, sorted by start. Without NT_FILE they come
 * from link_map (r_debug through AT_PHDR and PT_DYNAMIC in the executable).
 * `memory` is the target without an overlay. Missing files are not an error. A
 * user's EXE that is not an ELF file, or is another build, is one.
 */
struct rcore_error *rcore_modules_open(const struct rcore_process *process,
				       struct rcore_memory *memory,
				       const struct rcore_module_options *options,
				       struct rcore_modules **ret);
void rcore_modules_close(struct rcore_modules *modules); /* NULL-safe */

size_t rcore_modules_count(const struct rcore_modules *modules);
struct rcore_module *rcore_modules_get(struct rcore_modules *modules, size_t index);
struct rcore_module *rcore_modules_find(struct rcore_modules *modules, uint64_t address);

/*
 * Returns memory of the target in which missing file-backed pages come from the
 * modules' files, as the process mapped them. For writable pages, this is only
 * done if the core did not save them, because then they were never written. It
 * belongs to `modules`; `below` must outlive it.
 */
struct rcore_memory *rcore_modules_overlay(struct rcore_modules *modules,
					   struct rcore_memory *below);

/*
 * Returns the first address after `address` at which what this memory adds may
 * begin or end: at a page, or where a module does.
 */
uint64_t rcore_modules_edge(const struct rcore_modules *modules, uint64_t address);

/*
 * Finds the run-time address and size of a defined symbol that is not a
 * thread-local variable. Looks in .dynsym by its hash table (of the file,
 * otherwise of the dynamic section in memory), then in .symtab (of the file,
 * its separate debug file, or .gnu_debugdata). .dynsym comes first because its
 * lookup costs nearly nothing, and .symtab has the same addresses for its
 * names. Returns false if there is no such symbol; the first failure may search
 * for the debug file.
 */
struct rcore_symbol {
	uint64_t address, size;
	bool is_dynamic; /* from .dynsym */
};
bool rcore_module_symbol(struct rcore_modules *modules, struct rcore_module *module,
			 const char *name, struct rcore_symbol *ret);

/* Does the same for the symbols that a module exports, those in .dynsym. */
bool rcore_module_exported(struct rcore_modules *modules, struct rcore_module *module,
			   const char *name, struct rcore_symbol *ret);

/*
 * Returns the file with the DWARF of the module: its own, a debug file by
 * build-id or .gnu_debuglink, or one from debuginfod if the user has set it up.
 * NULL if none is found. The string belongs to `modules`.
 */
const char *rcore_module_debug_file(struct rcore_modules *modules, struct rcore_module *module);

/*
 * Finds the run-time address of a static variable that only DWARF knows.
 * Returns false if there is none.
 */
bool rcore_module_dwarf_variable(struct rcore_modules *modules, struct rcore_module *module,
				 const char *name, uint64_t *ret);

/*
 * Returns a line that says why symbols, lines or variables are missing that the
 * files of some modules may have; NULL if nothing is missing. They are read by
 * a process with limits, because the libraries that read them can be made to
 * crash or hang.
 */
const char *rcore_modules_problem(const struct rcore_modules *modules);

/* Returns whether names may be missing because memory is short. */
bool rcore_modules_lack_memory(const struct rcore_modules *modules);

/*
 * Forgets that memory was short, and what was not found then. Close the code of
 * these modules (rcore_code_close()) before.
 */
void rcore_modules_retry(struct rcore_modules *modules);

/*
 * Keeps a number about the module's file for the next process that has mapped
 * it (rcore_module_options.answers); `what` names it. known() returns false if
 * there is none.
 */
void rcore_module_note(struct rcore_modules *modules, const struct rcore_module *module,
		       const char *what, uint64_t number);
bool rcore_module_known(struct rcore_modules *modules, const struct rcore_module *module,
			const char *what, uint64_t *ret);

/*
 * Returns the ranges of the module's constants (.rodata and what else is mapped
 * for reading alone) in the same way. If it was linked with its constants next
 * to its code (-z noseparate-code), returns both.
 */
bool rcore_module_constant(struct rcore_modules *modules, const struct rcore_module *module,
			   size_t index, uint64_t *start, uint64_t *end);

/*
 * Returns the ranges of the module's writable data (.data, .bss and what
 * follows it without a file) in address order; the VM is searched there. They
 * come from the program headers of the file, otherwise of memory. Returns false
 * after the last one.
 */
bool rcore_module_writable(struct rcore_modules *modules, const struct rcore_module *module,
			   size_t index, uint64_t *start, uint64_t *end);

/*
 * Returns the size of the block of thread-local variables that each thread has
 * for the module (PT_TLS); 0 if there is none, or it is not known.
 */
uint64_t rcore_module_thread_block(const struct rcore_module *module);

#endif
