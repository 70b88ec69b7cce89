/* SPDX-License-Identifier: MIT */
#include "report/redaction.h"

#include <inttypes.h>

#include "model/redaction_names.h"
#include "report/names.h"

void rcore_text_redaction(const struct rcore_pen *pen, const struct rcore_redaction *redaction)
{
	const char *separator = ": ";
	char number[RCORE_COUNT_SIZE];
	if (redaction->mode == RCORE_REDACT_NONE)
		return;
	rcore_style(pen, RCORE_STYLE_QUIET);
	fprintf(pen->out, "Redacted (%s)", rcore_redact_names[redaction->mode]);
	for (int kind = 0; kind < RCORE_REDACTED_KINDS; kind++) {
		if (!redaction->counts[kind])
			continue;
		fprintf(pen->out, "%s%s %s", separator,
			rcore_count_text(redaction->counts[kind], number),
			rcore_redacted_text((enum rcore_redacted)kind,
					    redaction->counts[kind]));
		separator = ", ";
	}
	fputs(separator[0] == ':' ? ": nothing to remove\n" : "\n", pen->out);
	rcore_style(pen, RCORE_STYLE_PLAIN);
}

void rcore_json_redaction(struct rcore_json *json, const struct rcore_redaction *redaction)
{
	if (redaction->mode == RCORE_REDACT_NONE)
		return;
	struct json_object *object = rcore_json_object(json);
	struct json_object *counts = rcore_json_object(json);
	rcore_json_add_text(json, object, "mode", rcore_redact_names[redaction->mode]);
	for (int kind = 0; kind < RCORE_REDACTED_KINDS; kind++)
		rcore_json_add_count(json, counts,
				     rcore_redacted_name((enum rcore_redacted)kind),
				     (int64_t)redaction->counts[kind]);
	rcore_json_add(json, object, "removed", counts);
	rcore_json_put(json, "redaction", object);
}
