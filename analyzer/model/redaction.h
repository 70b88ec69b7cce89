/* SPDX-License-Identifier: MIT */
#ifndef RCORE_MODEL_REDACTION_H
#define RCORE_MODEL_REDACTION_H

#include <stddef.h>

/*
 * How much to remove from snapshots, values and packs. Each level includes the
 * one before.
 */
enum rcore_redact {
	RCORE_REDACT_NONE,
	/* What looks like a credential, see docs/redaction.md. */
	RCORE_REDACT_SECRETS,
	/* Contents of Strings and Symbols except names and paths of code. */
	RCORE_REDACT_STRINGS,
	RCORE_REDACT_ALL, /* names and paths too */
};

/* Why a text was removed. New reasons are added before the last line. */
enum rcore_redacted {
	RCORE_REDACTED_KEY,   /* the value of a key such as "password" */
	RCORE_REDACTED_TOKEN, /* a known prefix: AWS, GitHub, Slack ... */
	RCORE_REDACTED_JWT,
	RCORE_REDACTED_PEM,
	RCORE_REDACTED_BEARER,
	RCORE_REDACTED_EMAIL,
	RCORE_REDACTED_USERINFO, /* user and password of a URL */
	RCORE_REDACTED_RANDOM,   /* long hex or base64 with much entropy */
	RCORE_REDACTED_CARD,     /* the number of a payment card */
	/* A copy of a secret that was found elsewhere in the process. */
	RCORE_REDACTED_KNOWN,
	RCORE_REDACTED_STRING,
	RCORE_REDACTED_NAME,
	RCORE_REDACTED_KINDS, /* how many kinds there are */
};

/* The length of `counts`. It stays the same if a kind is added. */
enum { RCORE_REDACTED_ROOM = 16 };

/* What was removed from a snapshot or from printed values. */
struct rcore_redaction {
	enum rcore_redact mode;
	/* The number of texts removed, by enum rcore_redacted. */
	size_t counts[RCORE_REDACTED_ROOM];
};

#endif
