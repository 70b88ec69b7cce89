/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PLUGIN_H
#define RCORE_PLUGIN_H

/*
 * librcore for debuggers: a flat C ABI, for Python's ctypes and the like. The
 * debugger owns the target: it gives a function that reads memory, tells what
 * it knows of the process, and gets the report as text.
 *
 *	struct rcore_plugin *plugin = rcore_plugin_open(read, context);
 *	rcore_plugin_set_text(plugin, "machine", "x86_64");
 *	rcore_plugin_add_thread(plugin, 1234, registers, 27, fs_base);
 *	rcore_plugin_add_mapping(plugin, start, end, offset, path);
 *	rcore_plugin_add_segment(plugin, start, end, RCORE_PLUGIN_SAVED);
 *	...
 *	const char *const argv[] = {"fibers", "--thread", "T2"};
 *	status = rcore_plugin_run(plugin, 3, argv, &text);
 *	if (text)
 *		puts(text);
 *	if (rcore_plugin_error(plugin))
 *		fprintf(stderr, "%s\n", rcore_plugin_error(plugin));
 *	rcore_plugin_text_free(text);
 *	rcore_plugin_close(plugin);
 *
 * Only integers, pointers and NUL-terminated strings cross it, and all strings
 * are copied. Nothing is written to the target. One thread at a time in each
 * plugin.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCORE_PLUGIN_API __attribute__((visibility("default")))

/*
 * Grows with each change that an older caller would not survive; a caller
 * compares it to the one it was written for and gives up when they differ.
 */
#define RCORE_PLUGIN_ABI 4
RCORE_PLUGIN_API uint32_t rcore_plugin_abi(void);

RCORE_PLUGIN_API const char *rcore_plugin_version(void); /* "0.1.0" */

struct rcore_plugin;

/*
 * Reads all `size` bytes at `address` of the target into `buffer`:
 * RCORE_PLUGIN_READ, or tells that they cannot be. Anything else, as ctypes
 * gives it for a function that did not come to its end: the user interrupted,
 * nothing more is read, and the answer is an error. Must not call back into the
 * plugin.
 */
#define RCORE_PLUGIN_READ        1
#define RCORE_PLUGIN_CANNOT_READ 2
typedef int32_t (*rcore_plugin_read)(void *context, uint64_t address, void *buffer,
				     uint64_t size);

/* NULL only when memory is short. */
RCORE_PLUGIN_API struct rcore_plugin *rcore_plugin_open(rcore_plugin_read read, void *context);
/* NULL-safe. */
RCORE_PLUGIN_API void rcore_plugin_close(struct rcore_plugin *plugin);

/*
 * To be called whenever the target has run, or been written to: drops all that
 * was read and all facts, which are to be told anew. Threads and fibers keep
 * their ids, and none gets that of another.
 */
RCORE_PLUGIN_API void rcore_plugin_forget(struct rcore_plugin *plugin);

/*
 * Facts of the process, before the first question; each may be left out, and is
 * then not known. All give 0, or 64 for a name or value that is not understood
 * and 2 when memory is short, with rcore_plugin_error() set.
 *
 * Texts: "source" (what the user calls the target), "machine" ("x86_64",
 * "aarch64": needed), "producer" ("kernel", "gdb": of a core), "arguments",
 * "executable" (the program's short name), and where to find files: "program"
 * (the user's EXE), "sysroot", "lib-search-path" (may come again), "layout" (a
 * table). "core" is the path of a core file that is here: it says all itself,
 * and is read without the debugger; of the rest only where to find files
 * matters then.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_text(struct rcore_plugin *plugin, const char *name,
					       const char *value);

/*
 * Numbers: "pid"; "signal" (that killed or stopped the process); "thread" (the
 * kernel thread it hit; the first, unless set); "live" (not 0: the process
 * lives, and is stopped by the debugger); of a core file that ends early,
 * "lost-bytes" of its memory, and "saved-bytes" that are there; "color" (not 0:
 * texts come with escape sequences; may be set at any time).
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_number(struct rcore_plugin *plugin, const char *name,
						 int64_t value);

/* siginfo_t; `address` is si_addr, or 0, `sender_pid` is si_pid, or 0. */
RCORE_PLUGIN_API int32_t rcore_plugin_set_siginfo(struct rcore_plugin *plugin, int32_t signo,
						  int32_t code, uint64_t address,
						  int32_t sender_pid);

/*
 * A kernel thread, in the debugger's order. `registers` as elf_gregset_t has
 * them (27 on x86-64, 34 on aarch64), NULL when they cannot be read;
 * `thread_pointer` 0 when unknown.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_add_thread(struct rcore_plugin *plugin, int32_t tid,
						 const uint64_t *registers,
						 uint32_t register_count,
						 uint64_t thread_pointer);

/* A range of the address space that maps a file, in any order. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_mapping(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint64_t file_offset,
						  const char *path);

/*
 * A range of memory as the core's program headers have it, in any order. Once
 * one was given, nothing but what is SAVED is asked of the debugger: for the
 * rest debuggers give zeroes, or what a file has that may be of another build.
 */
#define RCORE_PLUGIN_NOT_SAVED 0u
#define RCORE_PLUGIN_SAVED     1u
#define RCORE_PLUGIN_CUT_OFF   2u /* the file ends before it */
RCORE_PLUGIN_API int32_t rcore_plugin_add_segment(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint32_t held);

/*
 * The core file that the debugger shows: which ranges it holds, as
 * rcore_plugin_add_segment(), what is cut off, and "producer". Its memory is
 * still asked of the debugger. Also 2 when it cannot be opened, or is none.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_add_core(struct rcore_plugin *plugin, const char *path);

/* A pair of the auxiliary vector. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_auxv(struct rcore_plugin *plugin, uint64_t type,
					       uint64_t value);

/*
 * What can be asked, as a JSON array; one object each:
 *	"verb"        argv[0] of rcore_plugin_run(): the debugger's command is ruby-VERB
 *	"command"     the shell's command is rcore COMMAND; absent: the debugger's own script runs it,
 *	              not rcore_plugin_run()
 *	"summary"     a few words
 *	"options"     [{"name": "fiber", "letter": "f", "value": "F", "choices": ["..."],
 *	              "completes": "fiber"}]; all but name may be absent;
 *	              without "value" it is a flag
 *	"words"       how help calls what may stand beside the options; absent: nothing may
 *	"completes"   what these words are
 *	"is_of_selection"  --fiber and --frame default to what is selected in the debugger
 * "completes" is "thread", "fiber", "constant" or "file". NULL when memory is
 * short.
 */
RCORE_PLUGIN_API char *rcore_plugin_commands(void);

/*
 * The help of ruby-VERB: usage, description, options and examples, each example
 * after `prompt` ("(gdb) "). The caller passes it to rcore_plugin_text_free().
 * NULL: there is no such verb, or memory is short.
 */
RCORE_PLUGIN_API char *rcore_plugin_help(const char *verb, const char *prompt);

/*
 * What the shell's command prints. Gives the status that it would exit with (0
 * all was decoded, 1 not all, 2 nothing, 3 not a Ruby process, 64 wrong usage,
 * no such thread or fiber); *ret is the text, to be given to
 * rcore_plugin_text_free(), or NULL; rcore_plugin_error() is set for 2 and
 * more. What was decoded is kept for the next call, until
 * rcore_plugin_forget().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_run(struct rcore_plugin *plugin, int32_t argc,
					  const char *const *argv, char **ret);

/*
 * What completes `begun`: each "thread", "fiber" or "constant" of the target
 * that begins so, one a line. Of constants those of the scope in `begun`:
 * "Foo::B" gives "Foo::BAR". Status and *ret as rcore_plugin_run().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_complete(struct rcore_plugin *plugin, const char *kind,
					       const char *begun, char **ret);

/*
 * The id of the fiber that kernel thread `tid` runs; *ret is NULL where it runs
 * no Ruby. Status as rcore_plugin_run().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_current_fiber(struct rcore_plugin *plugin, int32_t tid,
						    char **ret);

/*
 * Where a fiber is. Registers as in rcore_plugin_add_thread(); bit n of
 * `known`: register n is.
 */
struct rcore_plugin_place {
	char id[32]; /* "T1.F7" */
	/* Of the kernel thread of its Ruby thread; 0: none, or unknown. */
	int32_t tid;
	/*
	 * 0: it runs on that thread, whose registers are its own; 1: it is
	 * parked, and goes on with these; 2: no machine stack of it can be told
	 * (it has not begun, or has ended).
	 */
	int32_t state;
	uint64_t known;
	uint64_t registers[34];
};

/* `fiber` is named as in --fiber. Status as rcore_plugin_run(). */
RCORE_PLUGIN_API int32_t rcore_plugin_locate_fiber(struct rcore_plugin *plugin,
						   const char *fiber,
						   struct rcore_plugin_place *ret);

RCORE_PLUGIN_API void rcore_plugin_text_free(char *text); /* NULL-safe */

/*
 * One line on why the last call failed; NULL: it did not. Belongs to the
 * plugin, until the next call.
 */
RCORE_PLUGIN_API const char *rcore_plugin_error(const struct rcore_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
