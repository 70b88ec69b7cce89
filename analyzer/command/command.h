/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_COMMAND_H
#define RCORE_COMMAND_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "rcore.h"
#include "report/heap_export.h"
#include "report/report.h"

/*
 * command/ describes every command of rcore as data: `rcore NAME` of the shell
 * and `ruby-VERB` of the debuggers, with their options, help and completion.
 * One parser (parse.c) and one help printer (help.c) serve all. It may include
 * every folder except cli/. Start here, then read a short command, such as
 * threads.c.
 *
 * Commands that read a target are in this folder and its list.h, `rcore heap`
 * and its subcommands in heap/; the shell and the debuggers run them. Commands
 * that only the shell runs (triage, layout, gdb ...) are in cli/ and its
 * list.h.
 *
 * To add a command, add a file that defines a struct rcore_command, and a line
 * in list.h. CONTRIBUTING.md lists the pages and tests that must know it.
 */

/* What a debugger suggests when the user asks it to complete a value. */
enum rcore_completion {
	RCORE_COMPLETE_NOTHING,
	RCORE_COMPLETE_THREAD,
	RCORE_COMPLETE_FIBER,
	RCORE_COMPLETE_CONSTANT,
	RCORE_COMPLETE_FILE,
};

/* Which member of the arguments an option sets. */
enum rcore_option_kind {
	RCORE_OPTION_FLAG,   /* bool, to true */
	RCORE_OPTION_TEXT,   /* const char *, into argv */
	RCORE_OPTION_NUMBER, /* size_t; 0 if not given */
	/* struct rcore_index: a number that may be 0. */
	RCORE_OPTION_INDEX,
	RCORE_OPTION_CHOICE, /* int: an index into choices */
	RCORE_OPTION_LIST,   /* struct rcore_strings: may be repeated */
	RCORE_OPTION_PID,    /* int: a pid, or a part of a title */
	/* size_t: a number from 1 to RCORE_OPTION_AMOUNT_MAX. */
	RCORE_OPTION_AMOUNT,
	/* size_t: seconds, in the same range; written as 90, 90s, 5m or 1h. */
	RCORE_OPTION_TIME,
	/* struct rcore_version_option: a release such as 3.3.8. */
	RCORE_OPTION_VERSION,
};

enum { RCORE_OPTION_AMOUNT_MAX = 1000000000 };

/*
 * Strings of a command line, in order. They point into argv; the array is
 * malloc'ed.
 */
struct rcore_strings {
	const char **items;
	size_t count, capacity;
};

struct rcore_index {
	bool is_given;
	size_t number;
};

struct rcore_version_option {
	bool is_given;
	unsigned number[3];
};

struct rcore_option {
	const char *name; /* "fiber" is --fiber */
	char letter;      /* 'f' is -f; 0: none */
	enum rcore_option_kind kind;
	size_t offset;     /* of the member */
	const char *value; /* what help calls the value; NULL for a flag */
	const char *help;
	const char *const *choices; /* ends with NULL */
	/* The value if the option has none; NULL: it must have one. */
	const char *implied;
	enum rcore_completion completion;
	/* The option names an output file, which describes one process. */
	bool writes;
	bool adds_descendants; /* of the process that -p names */
	bool is_folder;        /* the value names a folder, which must exist */
	/*
	 * By index of the choice, or of false and true: whether the output is a
	 * document about one process.
	 */
	const bool *is_document;
};

/* Options of commands that select one thread or fiber. */
#define RCORE_OPTION_ONE_THREAD(member)                                               \
	{                                                                             \
		"thread", 0, RCORE_OPTION_TEXT, member, "T",                          \
			"Print only this thread: its id (T2), its kernel thread id, " \
			"its name, or its Thread VALUE or rb_thread_t in hex",        \
			.completion = RCORE_COMPLETE_THREAD                           \
	}
#define RCORE_OPTION_ONE_FIBER(member)                                               \
	{                                                                            \
		"fiber", 0, RCORE_OPTION_TEXT, member, "F",                          \
			"Print only this fiber: its id (T1.F3), or its Fiber VALUE " \
			"or rb_fiber_t in hex",                                      \
			.completion = RCORE_COMPLETE_FIBER                           \
	}

/* The member is an int, of enum rcore_native_shown. */
#define RCORE_OPTION_NATIVE(member)                                                    \
	{                                                                              \
		"native", 0, RCORE_OPTION_CHOICE, member, "WHICH",                     \
			"Which native frames to print: all, fold (print those of the " \
			"interpreter as a count; the default) or none",                \
			rcore_native_names, .completion = RCORE_COMPLETE_NOTHING       \
	}
extern const char *const rcore_native_names[];

/* `none` and `secrets` say which one is the default. */
#define RCORE_REDACT_HELP_OF(none, secrets)                                       \
	"What to remove from the output: none" none "; secrets (" secrets         \
	"values of keys such as password, and text that looks like credentials);" \
	" strings (all contents of Strings and Symbols, except names and paths "  \
	"of code); all (these names and paths, too)"
#define RCORE_REDACT_HELP RCORE_REDACT_HELP_OF(" (the default)", "")

/* Options that every command has. */
struct rcore_common {
	int redact; /* enum rcore_redact */
};
extern const struct rcore_option
	rcore_common_options[]; /* of struct rcore_common; ends with {0} */

/* An opened target, for one command or several. */
struct rcore_view {
	struct rcore_session *session;
	/*
	 * How the target was opened, to open others in the same way; NULL if a
	 * debugger opened it.
	 */
	const struct rcore_options *options;
	bool color;
	/*
	 * Writes the format of pprof. Only the command links the library for
	 * it: NULL in a debugger.
	 */
	rcore_heap_pprof *write_pprof;
	/*
	 * Prints which options of `rcore record` work on this machine. NULL: in
	 * a debugger.
	 */
	void (*print_recording)(FILE *out);
	/* Called before anything is printed; may be NULL. */
	void (*done_reading)(void);
	/* Private to rcore_view_load(). */
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	/* The output is incomplete: exit status 1. */
	bool is_partial;
	/*
	 * What is missing from the snapshot; "" if nothing is. A report of a
	 * part of the process does not say so, except if `tells_gaps` is set.
	 */
	char gap[512];
	bool tells_gaps;
};

/* Options, and the struct whose members they set. */
struct rcore_option_group {
	/*
	 * The heading above them in help; NULL for the command's own, "" if
	 * they belong to the group before.
	 */
	const char *heading;
	const struct rcore_option *options; /* ends with {0}; NULL: none */
	void *arguments;
};

/* What the shell opens or prepares for a command before it runs it. */
enum rcore_command_input {
	RCORE_INPUT_TARGET, /* CORE [EXE] or -p PID, opened */
	/*
	 * Opens nothing, but accepts the options that say where a target's
	 * files are.
	 */
	RCORE_INPUT_FILES,
	RCORE_INPUT_NONE, /* nothing */
};

/* The headings under which `rcore --help` lists commands. */
enum rcore_topic {
	RCORE_TOPIC_LOOK,
	RCORE_TOPIC_TIME,
	RCORE_TOPIC_CORES,
	RCORE_TOPIC_DEBUGGER,
	RCORE_TOPIC_SELF,
	RCORE_TOPIC_COUNT,
};

struct rcore_cli_target;

/* Options of targets that some commands do not have. */
enum {
	/* The output is a file, or does not list threads or fibers. */
	RCORE_WITHOUT_WATCH = 1,
	/*
	 * Objects of the heap move and die while the process runs; only the
	 * registers of a stopped thread show where it has its variables.
	 */
	RCORE_WITHOUT_NO_STOP = 2,
	/* The output does not show parked fibers, or is one moment. */
	RCORE_WITHOUT_EXACT = 4,
	/* The output does not say what fibers work on. */
	RCORE_WITHOUT_RECOGNIZERS = 8,
	/* The output does not show fibers. */
	RCORE_WITHOUT_FIBERS =
		RCORE_WITHOUT_WATCH | RCORE_WITHOUT_EXACT | RCORE_WITHOUT_RECOGNIZERS,
};

struct rcore_command {
	const char *name; /* "analyze": rcore analyze; NULL: not in the shell */
	const char *verb; /* "fibers": ruby-fibers; NULL: not in debuggers */
	enum rcore_topic topic;
	enum rcore_command_input input;
	const char *summary;
	const char *doc;                    /* a paragraph */
	const struct rcore_option *options; /* ends with {0}; NULL: none */
	/* The size of the arguments, which start as zeroes. */
	size_t size;
	/*
	 * The arguments after TARGET: their name in help, and the offset of the
	 * struct rcore_strings that receives them. NULL: there are none.
	 */
	const char *words;
	size_t operands_offset;
	bool words_are_targets; /* the first of them is not EXE */
	bool is_for_cores;      /* the target cannot be a process */
	unsigned without;       /* RCORE_WITHOUT_... */
	/* The same for arguments after "--". */
	const char *rest;
	size_t rest_offset;
	enum rcore_completion completion; /* of words */
	/*
	 * In a debugger, --fiber and --frame default to what is selected there.
	 */
	bool is_of_selection;
	/* An option that a debugger adds; NULL: none. */
	const char *in_debugger;
	/*
	 * What follows the name and TARGET in each example; ends with NULL; may
	 * be NULL.
	 */
	const char *const *examples;
	/* Whole lines; ends with NULL; may be NULL. */
	const char *const *shell_examples;
	const char *exit_status; /* NULL: the same as rcore analyze */
	/*
	 * `rcore NAME SUBCOMMAND`; ends with NULL; NULL: none. If no subcommand
	 * is named, the command itself runs.
	 */
	const struct rcore_command *const *subcommands;
	/* The arguments before the command line; NULL: all-zero. */
	const void *defaults;
	/* The default of --redact in the shell. */
	enum rcore_redact redact;
	/* Sets options that are needed to open the target; may be NULL. */
	void (*prepare)(const void *arguments, struct rcore_options *options);
	/*
	 * Prints to `out`. An error may come with text, as that of
	 * rcore_load_partial(). NULL for commands that only the shell or only a
	 * debugger's script can run.
	 */
	struct rcore_error *(*run)(struct rcore_view *view, const void *arguments, FILE *out);
	/*
	 * Runs a command in the shell whose input is not RCORE_INPUT_TARGET.
	 * Prints to standard output and sets the exit status.
	 */
	struct rcore_error *(*run_in_shell)(struct rcore_cli_target *target, void *arguments,
					    int *ret_status);
};

/* All commands, in the order in which help lists them; ends with NULL. */
extern const struct rcore_command *const rcore_commands[];

/*
 * Reads an address or a number: hexadecimal after "0x", octal after "0",
 * otherwise decimal. Returns whether `text` is one, and sets *ret only then.
 */
bool rcore_parse_address(const char *text, uint64_t *ret);

/*
 * Sets the member of `option`; `value` is NULL for a flag. For a PID,
 * `has_descendants` is as in rcore_ruby_process_find(). Errors: USAGE if the
 * option does not accept the value, NO_MEMORY, OS.
 */
struct rcore_error *rcore_option_set(const struct rcore_option *option, void *arguments,
				     const char *value, bool has_descendants);

/* Appends one string. Error: NO_MEMORY. */
struct rcore_error *rcore_strings_add(struct rcore_strings *words, const char *word);

/* A command line: argv[0] is skipped. */
struct rcore_command_line {
	const struct rcore_option_group *groups;
	size_t group_count;
	bool has_rest;              /* keep words after "--" apart, in `rest` */
	struct rcore_strings words; /* not options, in order */
	struct rcore_strings rest;
};

/*
 * Parses argv as getopt_long(3) does. Sets the options of all groups, whose
 * arguments are all-zero or contain defaults, and collects the other arguments,
 * which point into argv. Uses getopt's global state: call it from one thread at
 * a time. Errors: USAGE, which names the wrong argument; NO_MEMORY.
 */
struct rcore_error *rcore_command_line_parse(struct rcore_command_line *line, int argc,
					     const char *const *argv);

/* Frees the lists of strings of the line and of all groups. */
void rcore_command_line_deinit(struct rcore_command_line *line);

/* How help is printed. */
struct rcore_help_style {
	const char *prompt; /* "(gdb) "; NULL: the shell's */
	size_t width;       /* columns; 0: 80 */
};

/*
 * Prints a command's synopsis, description, options, examples and exit status.
 * `parent` is the command of which it is a subcommand, or NULL. `groups` has
 * the command's own options first.
 */
void rcore_help_command(const struct rcore_command *command, const struct rcore_command *parent,
			const struct rcore_option_group *groups, size_t group_count,
			const struct rcore_help_style *style, FILE *out);

/*
 * Parts of the shell's help, which are parts of the manual page, too: synopsis
 * and examples without indentation, and the exit status. `parent` is as above.
 */
void rcore_help_usage(const struct rcore_command *command, const struct rcore_command *parent,
		      FILE *out);
void rcore_help_examples(const struct rcore_command *command,
			 const struct rcore_command *parent, FILE *out);
const char *rcore_help_status(const struct rcore_command *command);

/* Returns the heading of a topic. */
const char *rcore_help_topic(enum rcore_topic topic);

/*
 * Prints the names and summaries of commands that are in the shell, under the
 * headings of topics.
 */
void rcore_help_list(const struct rcore_command *const *const *lists, size_t list_count,
		     const struct rcore_help_style *style, FILE *out);

/*
 * Prints `text` in lines of at most `width` columns, each after `indent`
 * spaces; the first line begins in column `at`. A newline in `text` begins a
 * line.
 */
void rcore_help_wrap(const char *text, size_t at, size_t indent, size_t width, FILE *out);

/*
 * Calls rcore_load_partial() once. The snapshot belongs to the view. The caller
 * frees *failure, which is as in rcore_load_partial().
 */
struct rcore_error *rcore_view_load(struct rcore_view *view, const struct rcore_snapshot **ret,
				    struct rcore_error **failure);

/* Sets `is_partial` and `gap` for a command that has loaded `snapshot`. */
void rcore_view_note_gaps(struct rcore_view *view, const struct rcore_snapshot *snapshot);

/*
 * Does the same for commands that need a decoded Ruby: if there is none,
 * returns an error.
 */
struct rcore_error *rcore_view_need(struct rcore_view *view, const struct rcore_snapshot **ret);

/*
 * Ends the progress display. Call it before you print, unless rcore_view_load()
 * was called.
 */
void rcore_view_print(struct rcore_view *view);

/* Frees what was loaded, but not the session. */
void rcore_view_deinit(struct rcore_view *view);

#endif
