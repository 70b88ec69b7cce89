/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/text.h"
#include "ruby/get.h"
#include "ruby/id.h"
#include "ruby/inspect_private.h"
#include "ruby/string.h"

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What an identifier may begin with, in ASCII; other characters always may. */
static bool begins_name(char c)
{
	return is_letter(c) || c == '_' || (unsigned char)c >= 0x80;
}

static size_t name_length(const char *text)
{
	size_t length = 0;
	if (!begins_name(*text))
		return 0;
	while (begins_name(text[length]) || is_digit(text[length]))
		length++;
	return length;
}

static bool is_operator(const char *name)
{
	static const char *const operators[] = {
		"<", "<<", "<=", "<=>", ">",   ">>", ">=", "=~", "==", "===",
		"*", "**", "+",  "+@",  "-",   "-@", "|",  "^",  "&",  "/",
		"%", "~",  "`",  "[]",  "[]=", "!",  "!=", "!~",
	};
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (strcmp(name, operators[i]) == 0)
			return true;
	return false;
}

/* $~, $-w, $1; `name` begins behind the sign. */
static bool is_special_global(const char *name)
{
	if (*name == '-')
		return !name[1] || (name_length(name + 1) && strlen(name) == 2) ||
		       (is_digit(name[1]) && !name[2]);
	if (is_digit(*name))
		return strspn(name, "0123456789") == strlen(name);
	return *name && strchr("~*$?!@/\\;,.=:<>\"&`'+0_", *name) && !name[1];
}

/* rb_enc_symname_type of symbol.c, as far as it tells what goes without quotes. */
static bool is_syntax(const char *name)
{
	bool is_variable = *name == '$' || *name == '@';
	if (is_operator(name) || (*name == '$' && is_special_global(name + 1)))
		return true;
	name += *name == '$' ? 1 : strncmp(name, "@@", 2) == 0 ? 2 : *name == '@' ? 1 : 0;
	size_t length = name_length(name);
	if (!length)
		return false;
	name += length;
	if (!is_variable && (*name == '!' || *name == '?' || *name == '='))
		name++;
	return !*name;
}

bool rcore_symbol_is_simple(const char *name, size_t length, unsigned encoding)
{
	if (strlen(name) != length || !is_syntax(name))
		return false;
	for (size_t i = 0, size; i < length; i += size) {
		uint32_t character;
		size = rcore_utf8_decode(name + i, &character);
		if (!size ||
		    (size > 1 && (encoding != RCORE_ENCODING_UTF_8 || character < 0xa0)))
			return false;
	}
	return true;
}

static struct rcore_error *inspect_name(struct rcore_inspect *inspect, uint64_t string)
{
	const char *name;
	size_t length;
	uint64_t flags;
	struct rcore_error *err = rcore_string(inspect->ruby, string, &name, &length);
	if (!err)
		err = rcore_flags(inspect->ruby, string, &flags);
	if (err)
		return err;
	unsigned encoding = rcore_encoding_index(flags);
	rcore_inspect_puts(inspect, ":");
	if (rcore_symbol_is_simple(name, length, encoding))
		rcore_inspect_write(inspect, name, length);
	else
		rcore_inspect_quoted(inspect, name, length, length, encoding);
	return NULL;
}

struct rcore_error *rcore_inspect_id(struct rcore_inspect *inspect, uint64_t id)
{
	uint64_t string;
	struct rcore_error *err = rcore_id_string(inspect->ruby, id, &string);
	return err ? err : inspect_name(inspect, string);
}

struct rcore_error *rcore_inspect_symbol(struct rcore_inspect *inspect, uint64_t value,
					 uint64_t flags)
{
	uint64_t string;
	struct rcore_error *err = RCORE_GET(inspect->ruby, value, symbol, fstr, &string);
	return err ? err : inspect_name(inspect, string);
}
