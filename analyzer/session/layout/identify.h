/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_IDENTIFY_H
#define RCORE_SESSION_IDENTIFY_H

#include "session/open.h"

/* The second step: finds which Ruby the target runs. */

struct rcore_identity {
	struct rcore_module *module; /* that holds the VM; NULL: unknown */
	unsigned version[3];
	/* as Ruby spells them; "": unknown */
	char version_text[256], description[256];
	/* how the version was found, as text */
	const char *source;
};

/*
 * Finds the module that holds Ruby, and its version. Errors: NOT_RUBY if no
 * module defines ruby_version and none is called libruby; NO_LAYOUT if the
 * version is unknown. After an error, the texts contain what was read until
 * then.
 */
struct rcore_error *rcore_session_identify(const struct rcore_target *target,
					   struct rcore_identity *ret);

/* Sets the snapshot's ruby_* facts and version_source. Error: NO_MEMORY. */
struct rcore_error *rcore_session_describe_identity(const struct rcore_identity *identity,
						    struct rcore_snapshot *snapshot);

/*
 * Returns why no Ruby was found: another implementation runs, Ruby is too old
 * or too new, files are missing, or there is no Ruby at all.
 */
struct rcore_error *rcore_session_not_ruby(const struct rcore_target *target);

/*
 * Fills snapshot->modules: each file with its build-id, its status, what is
 * unknown without it, and how to get it. `ruby` is the module that holds Ruby,
 * or NULL. Error: NO_MEMORY.
 */
struct rcore_error *rcore_session_describe_modules(const struct rcore_target *target,
						   const struct rcore_module *ruby,
						   struct rcore_snapshot *snapshot);

#endif
