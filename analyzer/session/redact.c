/* SPDX-License-Identifier: MIT */
#include "session/redact.h"

enum rcore_redact rcore_session_redact_mode(const struct rcore_target *target,
					    enum rcore_redact wanted)
{
	uint64_t packed = target->pack ? target->pack->redact : 0;
	if (packed <= (uint64_t)wanted)
		return wanted;
	return packed < RCORE_REDACT_ALL ? (enum rcore_redact)packed : RCORE_REDACT_ALL;
}

struct rcore_error *rcore_session_learn(enum rcore_redact mode, struct rcore_snapshot *snapshot,
					struct rcore_redactor **redactor)
{
	struct rcore_redactor *fresh = rcore_redactor_new(mode);
	if (!fresh)
		return rcore_error_no_memory();
	rcore_redactor_free(*redactor);
	*redactor = fresh;
	return rcore_redact_learn(fresh, snapshot);
}

/* Only the machine that redacted a pack knows what it removed. */
static void take_counts(const struct rcore_pack_facts *pack, enum rcore_redact mode,
			struct rcore_redaction *redaction)
{
	if (!pack || pack->redact != mode)
		return;
	for (size_t i = 0; i < RCORE_REDACTED_KINDS; i++)
		redaction->counts[i] = pack->redacted[i];
}

struct rcore_error *rcore_session_redact(const struct rcore_target *target,
					 enum rcore_redact mode,
					 struct rcore_redactor *redactor,
					 struct rcore_snapshot *snapshot)
{
	struct rcore_error *err = rcore_redact_snapshot(redactor, snapshot);
	if (!err)
		take_counts(target->pack, mode, &snapshot->redaction);
	return err;
}
