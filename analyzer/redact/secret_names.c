/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/count.h"
#include "redact/secrets.h"

/*
 * What a name has if it names a credential. It is compared with each word of
 * the name and with each two consecutive ones: "api_key", "apiKey", "API-KEY".
 * They include those of the parameters that Rails filters by default.
 */
static const struct credential {
	const char *text;
	enum { WORD, START, END, PART } where;
} credentials[] = {
	{"passw", PART},
	{"passphrase", WORD},
	{"passcode", WORD},
	{"pwd", WORD},
	{"pass", WORD},
	{"secret", PART},
	{"token", END},
	{"tokens", END},
	{"apikey", END},
	{"apikeys", END},
	{"accesskey", WORD},
	{"privatekey", WORD},
	{"signingkey", WORD},
	{"masterkey", WORD},
	{"secretkey", WORD},
	{"encryptionkey", WORD},
	{"authorization", WORD},
	{"auth", WORD},
	{"cookie", WORD},
	{"cookies", WORD},
	{"credential", START},
	{"csrf", WORD},
	{"cvv", WORD},
	{"cvc", WORD},
	{"pin", WORD},
	{"ssn", WORD},
	{"otp", WORD},
	{"totp", WORD},
	{"sid", WORD},
	{"sessid", END},
	{"sessionid", END},
	{"cardnumber", WORD},
	{"creditcard", WORD},
	{"connectionstring", WORD},
	{"bearer", WORD},
	{"jwt", WORD},
	{"hmac", WORD},
	{"crypt", PART},
	{"salt", WORD},
	{"certificate", WORD},
	{"mnemonic", WORD},
	{"securityanswer", WORD},
	{"email", WORD},
	{"pw", WORD},
	{"dbpass", WORD},
	{"dbpwd", WORD},
	{"userpass", WORD},
	{"userpwd", WORD},
	{"rootpass", WORD},
	{"storepass", WORD},
	{"keypass", WORD},
	{"sslpass", WORD},
	{"cred", WORD},
	{"creds", WORD},
	{"userinfo", WORD},
	{"recoverycode", WORD},
	{"recoverycodes", WORD},
	{"backupcode", WORD},
	{"backupcodes", WORD},
	{"verificationcode", WORD},
	{"securitycode", WORD},
	{"accesscode", WORD},
	{"authcode", WORD},
	{"cardno", WORD},
	{"privkey", WORD},
	{"seedphrase", WORD},
	{"recoveryphrase", WORD},
	{"kennwort", WORD},
	{"senha", WORD},
	{"contrasena", WORD},
	{"passwort", WORD},
	{"clave", WORD},
	{"wachtwoord", WORD},
	{"heslo", WORD},
	{"haslo", WORD},
	{"jelszo", WORD},
	{"lozinka", WORD},
	{"salasana", WORD},
	{"losenord", WORD},
	{"adgangskode", WORD},
	{"motdepasse", WORD},
	{"depasse", WORD},
	{"psk", WORD},
	{"requirepass", WORD},
	{"masterauth", WORD},
};

/*
 * "license_key" and "keys of x" may be credentials. These words before "key"
 * mean that it is none.
 */
static const char *const open_keys[] = {
	"primary", "foreign", "sort",  "cache", "partition", "routing", "public",
	"lookup",  "index",   "group", "map",   "unique",    "hash",    "translation",
};

/*
 * If a name ends with one of these, it describes a credential, but is not one.
 */
static const char *const harmless[] = {
	"count",   "size", "length", "limit", "type",    "kind",     "ttl",   "expiry",
	"expires", "at",   "in",     "valid", "present", "required", "field", "path",
	"file",    "url",  "class",  "name",  "id",      "index",
};

/* HTTP headers, whose value continues to the end of the line. */
static const char *const headers[] = {"authorization", "cookie"};

enum { LONGEST_NAME = 64 };

static bool is_in(const char *const *list, size_t count, const char *word, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == size && strncasecmp(list[i], word, size) == 0)
			return true;
	return false;
}
#define IS_IN(list, word, size) is_in(list, RCORE_COUNT(list), word, size)

static bool has_part(const char *word, size_t size, const char *part)
{
	size_t length = strlen(part);
	for (size_t at = 0; at + length <= size; at++)
		if (strncasecmp(word + at, part, length) == 0)
			return true;
	return false;
}

static bool is_credential(const char *word, size_t size, bool is_pair)
{
	while (size && isdigit((unsigned char)word[size - 1]))
		size--;
	for (size_t i = 0; i < RCORE_COUNT(credentials); i++) {
		const struct credential *known = &credentials[i];
		size_t length = strlen(known->text);
		bool is_whole = known->where == WORD || is_pair;
		if (size < length || (is_whole && size != length))
			continue;
		const char *at = known->where == END ? word + size - length : word;
		if (known->where == PART ? has_part(word, size, known->text)
					 : strncasecmp(at, known->text, length) == 0)
			return true;
	}
	return false;
}

/*
 * The word at `at` ends before a separator, or before a capital letter that
 * follows a small one.
 */
static size_t word_end(const char *name, size_t size, size_t at)
{
	size_t end = at;
	while (end < size && isalnum((unsigned char)name[end]) &&
	       !(end > at && isupper((unsigned char)name[end]) &&
		 islower((unsigned char)name[end - 1])))
		end++;
	return end;
}

static bool is_key_word(const char *word, size_t size)
{
	static const char *const words[] = {"key", "keys"};
	return IS_IN(words, word, size);
}

bool rcore_secret_is_key(const char *name, size_t size)
{
	char two[2 * LONGEST_NAME];
	size_t before = 0, before_size = 0;
	bool found = false;
	if (size > LONGEST_NAME)
		return false;
	for (size_t at = 0; at < size;) {
		size_t end = word_end(name, size, at);
		if (end == at) {
			at++;
			continue;
		}
		memcpy(two, name + before, before_size);
		memcpy(two + before_size, name + at, end - at);
		bool is_key = before_size && is_key_word(name + at, end - at) &&
			      !IS_IN(open_keys, name + before, before_size);
		if (is_key || is_credential(name + at, end - at, false) ||
		    (before_size && is_credential(two, before_size + end - at, true)))
			found = true;
		else if (IS_IN(harmless, name + at, end - at))
			found = false;
		before = at;
		before_size = end - at;
		at = end;
	}
	return found;
}

bool rcore_secret_is_pair(const char *first, size_t first_size, const char *second,
			  size_t second_size)
{
	/* "p in: 3" is not a PIN. */
	enum { SHORTEST = 2 };
	char two[2 * LONGEST_NAME];
	if (first_size < SHORTEST || second_size < SHORTEST || first_size > LONGEST_NAME ||
	    second_size > LONGEST_NAME)
		return false;
	memcpy(two, first, first_size);
	memcpy(two + first_size, second, second_size);
	return is_credential(two, first_size + second_size, true);
}

bool rcore_secret_is_header(const char *name, size_t size)
{
	size_t at = size;
	while (at && isalnum((unsigned char)name[at - 1]))
		at--;
	return IS_IN(headers, name + at, size - at);
}
