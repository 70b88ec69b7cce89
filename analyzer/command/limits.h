/* SPDX-License-Identifier: MIT */
#ifndef RCORE_COMMAND_LIMITS_H
#define RCORE_COMMAND_LIMITS_H

#include "base/error.h"
#include "command/command.h"

/* How much of each value to show, as the user set it. */
struct rcore_limits {
	struct rcore_inspect_options inspect; /* without the depth */
	struct rcore_index depth;
};

/*
 * `member` is the offset of a struct rcore_limits; `max_text` describes the
 * default.
 */
#define RCORE_OPTIONS_OF_LIMITS(member, max_text_words)                                      \
	{"depth",                                                                            \
	 0,                                                                                  \
	 RCORE_OPTION_INDEX,                                                                 \
	 (member) + offsetof(struct rcore_limits, depth),                                    \
	 .value = "N",                                                                       \
	 .help = "Print at most N levels of nested values (4)"},                             \
		{"max-string",                                                               \
		 0,                                                                          \
		 RCORE_OPTION_NUMBER,                                                        \
		 (member) + offsetof(struct rcore_limits, inspect.max_string),               \
		 .value = "N",                                                               \
		 .help = "Print at most N bytes of a String (256)"},                         \
		{"max-items",                                                                \
		 0,                                                                          \
		 RCORE_OPTION_NUMBER,                                                        \
		 (member) + offsetof(struct rcore_limits, inspect.max_items),                \
		 .value = "N",                                                               \
		 .help = "Print at most N elements, pairs or instance variables of a value " \
			 "(100)"},                                                           \
	{                                                                                    \
		"max-text", 0, RCORE_OPTION_NUMBER,                                          \
			(member) + offsetof(struct rcore_limits, inspect.max_text),          \
			.value = "N",                                                        \
			.help = "Print at most N bytes of a value in total (" max_text_words \
				")"                                                          \
	}

/*
 * Converts the limits to the library's options, in which a depth of 0 that the
 * user set is RCORE_NO_DEPTH.
 */
static inline struct rcore_inspect_options
rcore_limits_inspect(const struct rcore_limits *limits)
{
	struct rcore_inspect_options inspect = limits->inspect;
	inspect.depth = limits->depth.is_given && !limits->depth.number ? RCORE_NO_DEPTH
									: limits->depth.number;
	return inspect;
}

/* Each row has texts. */
enum { RCORE_MOST_ROWS = 100000 };

/*
 * Sets *limit, 0 if the user gave none, to the default. Error: USAGE if it is
 * more than RCORE_MOST_ROWS.
 */
static inline struct rcore_error *rcore_limit_rows(size_t *limit, size_t by_default)
{
	if (!*limit)
		*limit = by_default;
	return *limit <= RCORE_MOST_ROWS
		       ? NULL
		       : rcore_error_create(RCORE_ERROR_USAGE,
					    "option '--limit' accepts at most %d",
					    RCORE_MOST_ROWS);
}

#endif
