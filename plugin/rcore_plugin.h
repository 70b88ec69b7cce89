/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PLUGIN_H
#define RCORE_PLUGIN_H

/*
 * librcore for debuggers: a flat C ABI, for Python's ctypes and the like. The debugger owns the
 * target: it gives a function that reads memory, tells what it knows of the process, and gets
 * the report as text.
 *
 *	struct rcore_plugin *plugin = rcore_plugin_open(read, context);
 *	rcore_plugin_set_text(plugin, "machine", "x86_64");
 *	rcore_plugin_add_thread(plugin, 1234, registers, 27, fs_base);
 *	rcore_plugin_add_mapping(plugin, start, end, offset, path);
 *	rcore_plugin_add_segment(plugin, start, end, RCORE_PLUGIN_SAVED);
 *	...
 *	status = rcore_plugin_fibers(plugin, 0, NULL, NULL, &text);
 *	if (text)
 *		puts(text);
 *	if (rcore_plugin_error(plugin))
 *		fprintf(stderr, "%s\n", rcore_plugin_error(plugin));
 *	rcore_plugin_text_free(text);
 *	rcore_plugin_close(plugin);
 *
 * Only integers, pointers and NUL-terminated strings cross it, and all strings are copied. Nothing
 * is written to the target. One thread at a time in each plugin.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCORE_PLUGIN_API __attribute__((visibility("default")))

/* Grows with each change that an older caller would not survive; a caller compares it to the
 * one it was written for and gives up when they differ. */
#define RCORE_PLUGIN_ABI 1
RCORE_PLUGIN_API uint32_t rcore_plugin_abi(void);

RCORE_PLUGIN_API const char *rcore_plugin_version(void); /* "0.1.0" */

struct rcore_plugin;

/* Reads all `size` bytes at `address` of the target into `buffer`: 0. Anything else: they cannot
 * be read. Must not call back into the plugin. */
typedef int32_t (*rcore_plugin_read)(void *context, uint64_t address, void *buffer,
				     uint64_t size);

/* NULL only when memory is short. */
RCORE_PLUGIN_API struct rcore_plugin *rcore_plugin_open(rcore_plugin_read read, void *context);
RCORE_PLUGIN_API void rcore_plugin_close(struct rcore_plugin *plugin); /* NULL-safe */

/*
 * Facts of the process; each may be left out, and is then not known. All give 0, or 64 for a name
 * or value that is not understood and 2 when memory is short, with rcore_plugin_error() set.
 *
 * Texts: "source" (what the user calls the target), "machine" ("x86_64", "aarch64": needed),
 * "producer" ("kernel", "gdb": of a core), "arguments", "executable" (the program's short name),
 * and where to find files: "program" (the user's EXE), "sysroot", "lib-search-path" (may come
 * again), "layout" (a table).
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_text(struct rcore_plugin *plugin, const char *name,
					       const char *value);

/* Numbers: "pid"; "signal" (that killed or stopped the process); "thread" (the kernel thread it
 * hit; the first, unless set); "live" (not 0: the process lives, and is stopped by the debugger);
 * of a core file that ends early, "lost-bytes" of its memory, and "saved-bytes" that are there. */
RCORE_PLUGIN_API int32_t rcore_plugin_set_number(struct rcore_plugin *plugin, const char *name,
						 int64_t value);

/* siginfo_t; `address` is si_addr, or 0, `sender_pid` is si_pid, or 0. */
RCORE_PLUGIN_API int32_t rcore_plugin_set_siginfo(struct rcore_plugin *plugin, int32_t signo,
						  int32_t code, uint64_t address,
						  int32_t sender_pid);

/* A kernel thread, in the debugger's order. `registers` as elf_gregset_t has them (27 on x86-64,
 * 34 on aarch64), NULL when they cannot be read; `thread_pointer` 0 when unknown. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_thread(struct rcore_plugin *plugin, int32_t tid,
						 const uint64_t *registers,
						 uint32_t register_count,
						 uint64_t thread_pointer);

/* A range of the address space that maps a file, in any order. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_mapping(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint64_t file_offset,
						  const char *path);

/* A range of memory as the core's program headers have it, in any order. Once one was given, nothing
 * but what is SAVED is asked of the debugger: for the rest debuggers give zeroes, or what a file has
 * that may be of another build. */
#define RCORE_PLUGIN_NOT_SAVED 0u
#define RCORE_PLUGIN_SAVED     1u
#define RCORE_PLUGIN_CUT_OFF   2u /* the file ends before it */
RCORE_PLUGIN_API int32_t rcore_plugin_add_segment(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint32_t held);

/* A pair of the auxiliary vector. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_auxv(struct rcore_plugin *plugin, uint64_t type,
					       uint64_t value);

/* Flags of rcore_plugin_fibers(). */
#define RCORE_PLUGIN_ALL     1u /* each fiber and frame */
#define RCORE_PLUGIN_JSON    2u
#define RCORE_PLUGIN_VERBOSE 4u

/*
 * The report of `rcore analyze`. `thread` and `fiber` pick (NULL: all). Gives the status that the
 * command would exit with (0 all was decoded, 1 not all, 2 nothing, 3 not a Ruby process, 64 no
 * such thread or fiber); *ret is the text, to be given to rcore_plugin_text_free(), or NULL;
 * rcore_plugin_error() is set for 2 and more. May be called again.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_fibers(struct rcore_plugin *plugin, uint32_t flags,
					     const char *thread, const char *fiber, char **ret);
RCORE_PLUGIN_API void rcore_plugin_text_free(char *text); /* NULL-safe */

/* One line on why the last call failed; NULL: it did not. Belongs to the plugin, until the next
 * call. */
RCORE_PLUGIN_API const char *rcore_plugin_error(const struct rcore_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
