/* SPDX-License-Identifier: MIT */
#include "model/redaction_names.h"

const char *const rcore_redact_names[] = {"none", "secrets", "strings", "all", NULL};

static const struct {
	const char *name, *one, *many;
} kinds[] = {
	[RCORE_REDACTED_KEY] = {"key", "value under a key", "values under keys"},
	[RCORE_REDACTED_TOKEN] = {"token", "token", "tokens"},
	[RCORE_REDACTED_JWT] = {"jwt", "JSON Web Token", "JSON Web Tokens"},
	[RCORE_REDACTED_PEM] = {"pem", "PEM block", "PEM blocks"},
	[RCORE_REDACTED_BEARER] = {"bearer", "HTTP credential", "HTTP credentials"},
	[RCORE_REDACTED_EMAIL] = {"email", "e-mail address", "e-mail addresses"},
	[RCORE_REDACTED_USERINFO] = {"userinfo", "user of a URL", "users of URLs"},
	[RCORE_REDACTED_RANDOM] = {"random", "random text", "random texts"},
	[RCORE_REDACTED_CARD] = {"card", "card number", "card numbers"},
	[RCORE_REDACTED_KNOWN] = {"known", "copy of a secret", "copies of secrets"},
	[RCORE_REDACTED_STRING] = {"string", "String or Symbol", "Strings and Symbols"},
	[RCORE_REDACTED_NAME] = {"name", "name", "names"},
};

const char *rcore_redacted_name(enum rcore_redacted kind)
{
	return kinds[kind].name;
}

const char *rcore_redacted_text(enum rcore_redacted kind, uint64_t count)
{
	return count == 1 ? kinds[kind].one : kinds[kind].many;
}
