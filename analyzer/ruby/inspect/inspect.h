/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_H
#define RCORE_RUBY_INSPECT_H

/*
 * ruby/inspect/ prints a value as the target's own inspect would, one file per
 * class. It includes the rest of ruby/. Start here, then read
 * inspect_private.h.
 */

#include "model/printed.h"
#include "ruby/ruby.h"

enum {
	RCORE_INSPECT_DEPTH = 4,
	RCORE_INSPECT_MAX_STRING = 256,
	RCORE_INSPECT_MAX_ITEMS = 100,
};

/*
 * Writes what this Ruby's own `inspect` prints for a value, for the classes of
 * Ruby's core. rcore cannot run an `inspect` that is written in Ruby, so it
 * prints such objects as Kernel#inspect does. "#<Date ...>" is an object whose
 * `inspect`, written in C, uses a struct that no table has. Deviations are
 * marked:
 *
 * - omissions: "... (3 more)" for items, `"abc"... (10 more bytes)` for
 *   Strings, also past the depth
 * - unreadable parts: "<unreadable 0x10>"; ret->problem says why the first one
 *   is
 * - slots that the GC has freed, moved or half freed: "<freed 0x...>", "<moved
 *   0x... to 0x...>", "<zombie 0x...>"; "<internal 0x...>" for what Ruby code
 *   never sees (T_IMEMO)
 *
 * Cycles are printed as in Ruby: "[...]", "{...}", "#<struct Foo:...>". The
 * text has the target's own bytes (Ruby takes U+202E in a String for
 * printable); reports escape it. Strings live in ruby->arena. Error: NO_MEMORY
 * only.
 */
struct rcore_error *rcore_inspect(struct rcore_ruby *ruby, uint64_t value,
				  const struct rcore_inspect_options *options,
				  struct rcore_value *ret);

/* The same for a value whose key in a Hash is a String or a Symbol. */
struct rcore_error *rcore_inspect_below_key(struct rcore_ruby *ruby, uint64_t value,
					    const struct rcore_inspect_options *options,
					    struct rcore_value *ret);

/* Whether it is a String or a Symbol. */
bool rcore_inspect_is_text(struct rcore_ruby *ruby, uint64_t value);

#endif
