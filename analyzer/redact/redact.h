/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_REDACT_H
#define RCORE_REDACT_REDACT_H

/*
 * redact/ recognizes secrets and removes them from a snapshot. It includes
 * base/ and model/ only. Start here, then read redact_parts.h.
 */

#include "model/printed.h"
#include "model/snapshot.h"
#include "redact/redact_parts.h"
#include "redact/secrets.h"

/*
 * Removes from a snapshot, before it is printed, what `mode` says, and writes
 * "[redacted]" in its place. From RCORE_REDACT_STRINGS on, the decoders have
 * already filled the contents of Strings with stars (rcore_ruby.hides_text).
 * Stars in a redacted pack become "[redacted]", too, so its report equals that
 * of its core.
 */
struct rcore_redactor;

/* Returns NULL if memory is short. */
struct rcore_redactor *rcore_redactor_new(enum rcore_redact mode);
void rcore_redactor_free(struct rcore_redactor *redactor); /* NULL-safe */

/* Learns the values of secret keys, and removes nothing. Error: NO_MEMORY. */
struct rcore_error *rcore_redact_learn(struct rcore_redactor *redactor,
				       struct rcore_snapshot *snapshot);

/* Learns what another one has learned, of another process. Error: NO_MEMORY. */
struct rcore_error *rcore_redact_join(struct rcore_redactor *redactor,
				      const struct rcore_redactor *other);

/*
 * Removes what `mode` says. Also learns the values of secret keys, and counts
 * in snapshot->redaction. Error: NO_MEMORY.
 */
struct rcore_error *rcore_redact_snapshot(struct rcore_redactor *redactor,
					  struct rcore_snapshot *snapshot);
struct rcore_error *rcore_redact_print(struct rcore_redactor *redactor,
				       struct rcore_print *print);

/*
 * Does the same for one text outside of a snapshot: *slot becomes a text in
 * `arena`. `kind` is NAME, VALUE (of `key`, which may be NULL), COMMAND, or
 * TEXT. From RCORE_REDACT_STRINGS on, nothing remains of a VALUE or a TEXT,
 * which are contents of a String here. Error: NO_MEMORY.
 */
struct rcore_error *rcore_redact_text(struct rcore_redactor *redactor,
				      struct rcore_arena *arena, enum rcore_part_kind kind,
				      const char *key, const char **slot);

/*
 * Find what to remove from the contents of a String, from a command line, and
 * from bytes that may not be text, also by what was learned.
 */
void rcore_redactor_text(const struct rcore_redactor *redactor, const char *text, size_t size,
			 struct rcore_spans *ret);
void rcore_redactor_command(const struct rcore_redactor *redactor, const char *text,
			    size_t size, struct rcore_spans *ret);
void rcore_redactor_bytes(const struct rcore_redactor *redactor, const char *bytes, size_t size,
			  struct rcore_spans *ret);

#endif
