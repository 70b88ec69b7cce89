/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_COMMAND_H
#define RCORE_COMMAND_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "rcore.h"

/*
 * What can be asked about a target, as data: `rcore NAME` of the shell and `ruby-VERB` of the
 * debuggers are both made from it, their help and their completion too, and print the same.
 * cli/command.c adds TARGET and where its files are, plugin/ the debugger's process.
 *
 * A new command: its file here, with a struct rcore_command; its line in list.c.
 */

/* What a debugger offers when the user asks to complete a value. */
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
	RCORE_OPTION_NUMBER, /* size_t; 0 where it is not given */
	RCORE_OPTION_INDEX,  /* struct rcore_index: a number of which 0 is one */
	RCORE_OPTION_CHOICE, /* int: an index into choices */
	RCORE_OPTION_LIST,   /* struct rcore_words: may be given again */
};

/* Words of a command line, in order; they point into argv. */
enum { RCORE_MAX_WORDS = 32 };
struct rcore_words {
	const char *items[RCORE_MAX_WORDS];
	size_t count;
};

struct rcore_index {
	bool is_given;
	size_t number;
};

struct rcore_option {
	const char *name; /* "fiber" is --fiber */
	char letter;      /* 'f' is -f; 0: none */
	enum rcore_option_kind kind;
	size_t offset;     /* of the member */
	const char *value; /* what help calls the value; NULL for a flag */
	const char *help;
	const char *const *choices; /* ends with NULL */
	enum rcore_completion completion;
};

/* What commands that pick one thread or fiber have in common. */
#define RCORE_OPTION_ONE_THREAD(member)                                             \
	{                                                                           \
		"thread", 0, RCORE_OPTION_TEXT, member, "T",                        \
			"Only this thread: its id (T2), its kernel thread id, its " \
			"Thread VALUE or rb_thread_t in hex",                       \
			.completion = RCORE_COMPLETE_THREAD                         \
	}
#define RCORE_OPTION_ONE_FIBER(member)                                         \
	{                                                                      \
		"fiber", 0, RCORE_OPTION_TEXT, member, "F",                    \
			"Only this fiber: its id (T1.F3), its Fiber VALUE or " \
			"rb_fiber_t in hex",                                   \
			.completion = RCORE_COMPLETE_FIBER                     \
	}

#define RCORE_REDACT_HELP                                                                     \
	"Take out of all that is written: none (the default); secrets, values under keys "    \
	"such as password and what looks like credentials; strings, contents of Strings and " \
	"Symbols but names and paths of code; all, these too"

/* What each command takes beside its own options. */
struct rcore_common {
	int redact; /* enum rcore_redact */
};
extern const struct rcore_option
	rcore_common_options[]; /* of struct rcore_common; ends with {0} */

/* A target that was opened, for one command or for many. */
struct rcore_view {
	struct rcore_session *session;
	bool color;
	void (*done_reading)(void); /* called before anything is printed; may be NULL */
	/* Set by rcore_view_load(): nobody else looks at them. */
	struct rcore_snapshot *snapshot;
	struct rcore_error *failure;
	bool is_partial; /* what the command showed lacks something: exit status 1 */
};

struct rcore_command {
	const char *name; /* "analyze": rcore analyze */
	const char *verb; /* "fibers": ruby-fibers; NULL: not in debuggers */
	const char *summary;
	const char *doc;                    /* a paragraph */
	const struct rcore_option *options; /* ends with {0}; NULL: none */
	size_t size;                        /* of the arguments, which begin all-zero */
	/* What stands behind TARGET: how help calls it, and where it goes (a struct rcore_words). NULL:
	 * nothing does. */
	const char *words;
	size_t words_offset;
	enum rcore_completion completion; /* of words */
	/* In a debugger, --fiber and --frame default to what is selected there. */
	bool is_of_selection;
	const char *in_debugger; /* an option that goes without saying there; NULL: none */
	const char *const
		*examples; /* what stands behind the name but for TARGET; ends with NULL */
	const char *const *shell_examples; /* whole lines; ends with NULL; may be NULL */
	const char *exit_status;           /* NULL: as rcore analyze */
	/* What must be known before the target is opened; may be NULL. */
	void (*prepare)(const void *arguments, struct rcore_options *options);
	/* Prints to `out`. An error may come with text, as that of rcore_load_partial(). */
	struct rcore_error *(*run)(struct rcore_view *view, const void *arguments, FILE *out);
};

/* All, in the order in which help lists them; ends with NULL. */
extern const struct rcore_command *const rcore_commands[];

/* Sets the member of `option`; `value` is NULL for a flag. USAGE: it takes no such value. */
struct rcore_error *rcore_option_set(const struct rcore_option *option, void *arguments,
				     const char *value);

/* Adds one. USAGE: too many. */
struct rcore_error *rcore_word_add(struct rcore_words *words, const char *word);

/* A command line without a shell: argv[0] is not looked at, `arguments` and `common` are all-zero. USAGE. */
struct rcore_error *rcore_command_parse(const struct rcore_command *command, int argc,
					const char *const *argv, void *arguments,
					struct rcore_common *common);

/* rcore_load_partial(), once: the snapshot belongs to the view. `failure` as there, the
 * caller's own. */
struct rcore_error *rcore_view_load(struct rcore_view *view, const struct rcore_snapshot **ret,
				    struct rcore_error **failure);

/* The same for commands that show nothing where nothing of Ruby could be decoded: that is an error. */
struct rcore_error *rcore_view_need(struct rcore_view *view, const struct rcore_snapshot **ret);

/* Before anything else is printed than what rcore_view_load() loaded. */
void rcore_view_print(struct rcore_view *view);

/* Frees what was loaded, not the session. */
void rcore_view_deinit(struct rcore_view *view);

#endif
