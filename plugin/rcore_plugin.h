/* SPDX-License-Identifier: MIT */
#ifndef RCORE_PLUGIN_H
#define RCORE_PLUGIN_H

/*
 * librcore for debuggers: a flat C ABI that Python's ctypes and similar
 * libraries can call. The debugger controls the target. It passes a function
 * that reads memory, and what it knows about the process, and receives the
 * report as text.
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
 * Arguments are integers, pointers and NUL-terminated strings; all strings are
 * copied. The library never writes to the target. Use each plugin from one
 * thread at a time.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RCORE_PLUGIN_API __attribute__((visibility("default")))

/*
 * Returns the number of this ABI. It grows with each change that breaks older
 * callers. A caller compares it with the number that it was written for, and
 * gives up if they differ.
 */
#define RCORE_PLUGIN_ABI 4
RCORE_PLUGIN_API uint32_t rcore_plugin_abi(void);

/* Returns the release of rcore: "0.1.0". */
RCORE_PLUGIN_API const char *rcore_plugin_version(void);

struct rcore_plugin;

/*
 * Reads all `size` bytes at `address` of the target into `buffer`. Returns
 * RCORE_PLUGIN_READ, or RCORE_PLUGIN_CANNOT_READ if some cannot be read. Any
 * other value means that the user interrupted it: nothing more is read, and the
 * command fails. (ctypes returns 0 for a callback that raised an exception.)
 * The function must not call the plugin.
 */
#define RCORE_PLUGIN_READ        1
#define RCORE_PLUGIN_CANNOT_READ 2
typedef int32_t (*rcore_plugin_read)(void *context, uint64_t address, void *buffer,
				     uint64_t size);

/* Returns NULL if memory is short. */
RCORE_PLUGIN_API struct rcore_plugin *rcore_plugin_open(rcore_plugin_read read, void *context);
/* Does nothing for NULL. */
RCORE_PLUGIN_API void rcore_plugin_close(struct rcore_plugin *plugin);

/*
 * Drops everything that was read, and all facts, which the caller then passes
 * anew. Call this whenever the target has run or was written to. Threads and
 * fibers keep their ids, and no id is used again for another one.
 */
RCORE_PLUGIN_API void rcore_plugin_forget(struct rcore_plugin *plugin);

/*
 * The functions from here to rcore_plugin_add_auxv() pass facts about the
 * process, before the first command. What is not passed is unknown. They return
 * 0; 64 for a name or a value that the library does not know; 2 if memory is
 * short. rcore_plugin_error() then returns the message.
 */

/*
 * Sets a text: "source" (what the user calls the target), "machine" ("x86_64"
 * or "aarch64"; required), "producer" ("kernel" or "gdb", for a core),
 * "arguments", "executable" (the program's short name); and where to find
 * files: "program" (the user's EXE), "sysroot", "lib-search-path" (can be set
 * several times), "layout" (a table).
 *
 * "core" is the path of a core file on this machine. The library then reads the
 * core itself and does not ask the debugger; of the other facts, only those
 * about where to find files are used.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_text(struct rcore_plugin *plugin, const char *name,
					       const char *value);

/*
 * Sets a number: "pid"; "signal" (that killed or stopped the process); "thread"
 * (the kernel thread that received it; by default the first); "live" (not 0: a
 * running process that the debugger has stopped); for a truncated core file,
 * "lost-bytes" and "saved-bytes" of its memory; "color" (not 0: texts have
 * escape sequences for colors; can be set at any time).
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_number(struct rcore_plugin *plugin, const char *name,
						 int64_t value);

/*
 * Sets what siginfo_t says: `address` is si_addr, or 0; `sender_pid` is si_pid,
 * or 0.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_set_siginfo(struct rcore_plugin *plugin, int32_t signo,
						  int32_t code, uint64_t address,
						  int32_t sender_pid);

/*
 * Adds a kernel thread, in the debugger's order. `registers` are in the order
 * of elf_gregset_t (27 on x86-64, 34 on aarch64); NULL if they cannot be read.
 * A register that is unknown is 0, except that an unknown orig_rax is 1 << 63,
 * because 0 is the number of a system call. `thread_pointer` is 0 if it is
 * unknown.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_add_thread(struct rcore_plugin *plugin, int32_t tid,
						 const uint64_t *registers,
						 uint32_t register_count,
						 uint64_t thread_pointer);

/* Adds a range of the address space that maps a file, in any order. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_mapping(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint64_t file_offset,
						  const char *path);

/*
 * Adds a range of memory from the core's program headers, in any order. After
 * the first one, the library asks the debugger only for ranges that are SAVED.
 * For other ranges, debuggers return zeroes, or bytes of a file that may be of
 * another build.
 */
#define RCORE_PLUGIN_NOT_SAVED 0u
#define RCORE_PLUGIN_SAVED     1u
#define RCORE_PLUGIN_CUT_OFF   2u /* the file ends before it */
RCORE_PLUGIN_API int32_t rcore_plugin_add_segment(struct rcore_plugin *plugin, uint64_t start,
						  uint64_t end, uint32_t held);

/*
 * Names the core file that the debugger shows. The library reads from it which
 * ranges it has, as rcore_plugin_add_segment() would pass them, what is cut
 * off, and "producer". It still asks the debugger for the memory. Also returns
 * 2 if the file cannot be opened or is not a core.
 */
RCORE_PLUGIN_API int32_t rcore_plugin_add_core(struct rcore_plugin *plugin, const char *path);

/* Adds a pair of the auxiliary vector. */
RCORE_PLUGIN_API int32_t rcore_plugin_add_auxv(struct rcore_plugin *plugin, uint64_t type,
					       uint64_t value);

/*
 * Returns the commands as a JSON array with an object for each:
 *	"verb"       argv[0] of rcore_plugin_run(); the debugger's command is
 *	             ruby-VERB
 *	"command"    the shell's command is rcore COMMAND; absent: the script of
 *	             the debugger runs it, not rcore_plugin_run()
 *	"summary"    a few words
 *	"options"    [{"name": "fiber", "letter": "f", "value": "F",
 *	             "choices": ["..."], "completes": "fiber"}]; all except name
 *	             may be absent; without "value" it is a flag
 *	"words"      the name of the other arguments in the help; absent: there
 *	             are none
 *	"completes"  the kind of these arguments
 *	"is_of_selection"
 *	             --fiber and --frame default to what is selected in the
 *	             debugger
 * "completes" is "thread", "fiber", "constant" or "file". The caller passes the
 * result to rcore_plugin_text_free(). NULL: memory is short.
 */
RCORE_PLUGIN_API char *rcore_plugin_commands(void);

/*
 * Returns the help of ruby-VERB: usage, description, options and examples, with
 * `prompt` ("(gdb) ") before each example. The caller passes it to
 * rcore_plugin_text_free(). NULL: there is no such verb, or memory is short.
 */
RCORE_PLUGIN_API char *rcore_plugin_help(const char *verb, const char *prompt);

/*
 * Runs a command. Returns the exit status of the shell's command: 0 everything
 * was decoded, 1 not everything, 2 nothing, 3 not a Ruby process, 64 wrong
 * usage, or no such thread or fiber. *ret is what it printed, which the caller
 * passes to rcore_plugin_text_free(), or NULL. rcore_plugin_error() returns the
 * message if the status is 2 or more. What was decoded is kept for later calls,
 * until rcore_plugin_forget().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_run(struct rcore_plugin *plugin, int32_t argc,
					  const char *const *argv, char **ret);

/*
 * Finds what completes `begun`: each "thread", "fiber" or "constant" of the
 * target that begins with it, one per line. Constants are those of the scope in
 * `begun`: "Foo::B" finds "Foo::BAR". Status and *ret are as in
 * rcore_plugin_run().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_complete(struct rcore_plugin *plugin, const char *kind,
					       const char *begun, char **ret);

/*
 * Gets the id of the fiber that kernel thread `tid` runs. *ret is NULL if it
 * runs no Ruby. The status is as in rcore_plugin_run().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_current_fiber(struct rcore_plugin *plugin, int32_t tid,
						    char **ret);

/*
 * Where a fiber is. Registers are in the order of rcore_plugin_add_thread().
 * Bit n of `known` is set if register n is known.
 */
struct rcore_plugin_place {
	char id[32]; /* "T1.F7" */
	/* The kernel thread of its Ruby thread; 0: none, or unknown. */
	int32_t tid;
	/*
	 * 0: it runs on that thread and has its registers; 1: it is parked and
	 * resumes with these; 2: it has no machine stack that can be found (it
	 * has not begun, or has ended).
	 */
	int32_t state;
	uint64_t known;
	uint64_t registers[34];
};

/*
 * Finds where a fiber is. `fiber` is what --fiber accepts. The status is as in
 * rcore_plugin_run().
 */
RCORE_PLUGIN_API int32_t rcore_plugin_locate_fiber(struct rcore_plugin *plugin,
						   const char *fiber,
						   struct rcore_plugin_place *ret);

/* Frees a text that a function above returned. Does nothing for NULL. */
RCORE_PLUGIN_API void rcore_plugin_text_free(char *text);

/*
 * Returns one line that says why the last call failed, or NULL if it did not.
 * The string belongs to the plugin and is valid until the next call.
 */
RCORE_PLUGIN_API const char *rcore_plugin_error(const struct rcore_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
