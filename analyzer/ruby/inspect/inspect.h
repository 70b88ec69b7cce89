/* SPDX-License-Identifier: MIT */
#ifndef RCORE_RUBY_INSPECT_H
#define RCORE_RUBY_INSPECT_H

/*
 * ruby/inspect/ prints a value as the target's own inspect would, one file per
 * class. Start here.
 */

#include "model/printed.h"
#include "ruby/ruby.h"

enum {
	RCORE_INSPECT_DEPTH = 4,
	RCORE_INSPECT_MAX_STRING = 256,
	RCORE_INSPECT_MAX_ITEMS = 100,
};

/*
 * What this Ruby's own `inspect` prints of a value, for the classes of the
 * core; the form that Kernel#inspect has for all others. A class's own
 * `inspect`, written in Ruby, cannot be run: its objects are shown in the
 * default form. One in C that works on a struct that no table measures: "#<Date
 * ...>". Deviations, all marked:
 * - what was cut: "... (3 more)" for items, `"abc"... (10 more bytes)` for
 *   Strings, past the depth too;
 * - what could not be read: "<unreadable 0x10>" in its place, ret->problem says
 *   why (the first of them);
 * - slots that the GC has freed, moved or half freed: "<freed 0x...>", "<moved
 *   0x... to 0x...>", "<zombie 0x...>", "<internal 0x...>" for what Ruby code
 *   never sees (T_IMEMO). Cycles are shown as Ruby does: "[...]", "{...}",
 *   "#<struct Foo:...>". The text is the target's own bytes (a String of it may
 *   hold U+202E, which Ruby takes for printable): reports escape it. Strings
 *   live in ruby->arena. Error: NO_MEMORY only.
 */
struct rcore_error *rcore_inspect(struct rcore_ruby *ruby, uint64_t value,
				  const struct rcore_inspect_options *options,
				  struct rcore_value *ret);

#endif
