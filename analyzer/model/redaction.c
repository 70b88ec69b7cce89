/* SPDX-License-Identifier: MIT */
#include "model/redaction_names.h"

const char *const rcore_redact_names[] = {"none", "secrets", "strings", "all", NULL};

static const struct {
	const char *name, *words;
} kinds[] = {
	[RCORE_REDACTED_KEY] = {"key", "values under keys"},
	[RCORE_REDACTED_TOKEN] = {"token", "tokens"},
	[RCORE_REDACTED_JWT] = {"jwt", "JSON Web Tokens"},
	[RCORE_REDACTED_PEM] = {"pem", "PEM blocks"},
	[RCORE_REDACTED_BEARER] = {"bearer", "HTTP credentials"},
	[RCORE_REDACTED_EMAIL] = {"email", "e-mail addresses"},
	[RCORE_REDACTED_USERINFO] = {"userinfo", "users of URLs"},
	[RCORE_REDACTED_RANDOM] = {"random", "random texts"},
	[RCORE_REDACTED_CARD] = {"card", "card numbers"},
	[RCORE_REDACTED_KNOWN] = {"known", "copies of these"},
	[RCORE_REDACTED_STRING] = {"string", "Strings and Symbols"},
	[RCORE_REDACTED_NAME] = {"name", "names"},
};

const char *rcore_redacted_name(enum rcore_redacted kind)
{
	return kinds[kind].name;
}

const char *rcore_redacted_text(enum rcore_redacted kind)
{
	return kinds[kind].words;
}
