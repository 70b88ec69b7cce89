/* SPDX-License-Identifier: MIT */
#ifndef RCORE_REDACT_REDACT_H
#define RCORE_REDACT_REDACT_H

/*
 * redact/ recognizes secrets and removes them from a snapshot. Start here.
 */

#include "model/printed.h"
#include "model/snapshot.h"
#include "redact/redact_parts.h"
#include "redact/secrets.h"

/*
 * Takes out of a model, before anybody prints it, what `mode` says:
 * "[redacted]" stands there then. In modes from RCORE_REDACT_STRINGS on the
 * decoders have filled contents of Strings with stars by then
 * (rcore_ruby.hides_text). Stars of a pack that was redacted become the same
 * word: its report is that of the core it was made of.
 */
struct rcore_redactor;

/* NULL: memory is short. */
struct rcore_redactor *rcore_redactor_new(enum rcore_redact mode);
void rcore_redactor_free(struct rcore_redactor *redactor); /* NULL-safe */

/* Learns what stands under keys, and takes nothing out. NO_MEMORY. */
struct rcore_error *rcore_redact_learn(struct rcore_redactor *redactor,
				       struct rcore_snapshot *snapshot);

/*
 * Also learns what stands under keys, and counts in snapshot->redaction.
 * NO_MEMORY.
 */
struct rcore_error *rcore_redact_snapshot(struct rcore_redactor *redactor,
					  struct rcore_snapshot *snapshot);
struct rcore_error *rcore_redact_print(struct rcore_redactor *redactor,
				       struct rcore_print *print);

/*
 * Does the same for one text that is in no model: *slot becomes a text in
 * `arena`. `kind` is NAME, VALUE (under `key`, which may be NULL), COMMAND, or
 * TEXT. Nothing stays of a VALUE and a TEXT, which here are the contents of a
 * String, from RCORE_REDACT_STRINGS on. Error: NO_MEMORY.
 */
struct rcore_error *rcore_redact_text(struct rcore_redactor *redactor,
				      struct rcore_arena *arena, enum rcore_part_kind kind,
				      const char *key, const char **slot);

/*
 * What to take out of the contents of a String; of a command line; of bytes
 * that may be no text. By what was learned too.
 */
void rcore_redactor_text(const struct rcore_redactor *redactor, const char *text, size_t size,
			 struct rcore_spans *ret);
void rcore_redactor_command(const struct rcore_redactor *redactor, const char *text,
			    size_t size, struct rcore_spans *ret);
void rcore_redactor_bytes(const struct rcore_redactor *redactor, const char *bytes, size_t size,
			  struct rcore_spans *ret);

#endif
