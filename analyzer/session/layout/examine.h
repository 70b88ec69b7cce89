/* SPDX-License-Identifier: MIT */
#ifndef RCORE_SESSION_EXAMINE_H
#define RCORE_SESSION_EXAMINE_H

#include "base/arena.h"
#include "rcore.h"

struct rcore_located;

/* Functions of a session that only rcore's own commands and debuggers use. */

/*
 * Finds what can be found without decoding the VM: version, modules, layout,
 * checks (also those that failed). Returns a snapshot for every target that
 * could be opened; *error is the reason for which rcore_load() would fail, or
 * NULL. Stops a running process as rcore_load() does.
 */
struct rcore_error *rcore_examine(struct rcore_session *session, struct rcore_snapshot **ret,
				  struct rcore_error **error);

/*
 * Does the same, and sets snapshot->field_checks: whether each field of the
 * layout was proved. A pack is a USAGE error.
 */
struct rcore_error *rcore_check_layout(struct rcore_session *session,
				       struct rcore_snapshot **ret, struct rcore_error **error);

/*
 * Does the same as rcore_examine(), except that it does not stop a running
 * process, and does not look for the interpreter's function.
 */
struct rcore_error *rcore_session_examine_running(struct rcore_session *session,
						  struct rcore_snapshot **ret,
						  struct rcore_error **error);

/*
 * Finds Ruby, its layout and its VM, unless that has been done. A caller then
 * reads with decoders of its own, once or many times:
 *
 *	struct rcore_located *located;
 *	struct rcore_error *err = rcore_session_find(session, &located);
 *	...
 *	struct rcore_ruby ruby;
 *	rcore_reader_init(&ruby, &session->target, located, &arena);
 *	... what vm/ and ruby/ declare, from located->location.vm on ...
 *	rcore_reader_deinit(&ruby, located);
 *
 * Does not stop a running process. The caller decides how its memory is read
 * after that (target/live/live.h). `*ret` belongs to the session. Errors: as
 * rcore_load().
 */
struct rcore_error *rcore_session_find(struct rcore_session *session,
				       struct rcore_located **ret);

/* Names of constants, each once, in the order of strcmp(). */
struct rcore_names {
	struct rcore_arena arena;
	const char **items;
	size_t count, capacity;
};

/*
 * Finds the constants whose names start with `begun`: for "Foo::B" those of Foo
 * that start with B, as "Foo::...". Does not read their values. The caller
 * frees *ret. Errors as rcore_print().
 */
struct rcore_error *rcore_constant_names(struct rcore_session *session, const char *begun,
					 struct rcore_names **ret);
void rcore_names_free(struct rcore_names *names); /* NULL-safe */

#endif
