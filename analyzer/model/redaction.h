/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_REDACTION_H
#define RCORE_MODEL_REDACTION_H

#include <stddef.h>

#include "base/api.h"

/* How much of what the process knew is taken out of reports and packs; each takes what the one before does. */
enum rcore_redact {
	RCORE_REDACT_NONE,
	RCORE_REDACT_SECRETS, /* what smells of credentials, see redact/secrets.h */
	RCORE_REDACT_STRINGS, /* contents of Strings and Symbols but names and paths of code */
	RCORE_REDACT_ALL,     /* these too */
};

/* Why something was taken out. To add one: its line here, its words in redaction.c. */
enum rcore_redacted {
	RCORE_REDACTED_KEY,   /* it stood under "password" or the like */
	RCORE_REDACTED_TOKEN, /* a known prefix: AWS, GitHub, Slack ... */
	RCORE_REDACTED_JWT,
	RCORE_REDACTED_PEM,
	RCORE_REDACTED_BEARER,
	RCORE_REDACTED_EMAIL,
	RCORE_REDACTED_USERINFO, /* of a URL */
	RCORE_REDACTED_RANDOM,   /* long hex or base64 with much entropy */
	RCORE_REDACTED_CARD,     /* the number of a payment card */
	RCORE_REDACTED_KNOWN,    /* what stood under a key elsewhere */
	RCORE_REDACTED_STRING,
	RCORE_REDACTED_NAME,
	RCORE_REDACTED_KINDS,
};

/* Of a report: how many pieces of it were taken out. */
struct rcore_redaction {
	enum rcore_redact mode;
	size_t counts[RCORE_REDACTED_KINDS];
};

/* "secrets"; the names are those of --redact, in the order of the enum, and end with NULL. */
extern RCORE_API const char *const rcore_redact_names[];

/* "userinfo": names for JSON, that stay as they are; "parts of URLs": words for people, in the plural. */
const char *rcore_redacted_name(enum rcore_redacted kind);
const char *rcore_redacted_words(enum rcore_redacted kind);

#endif
