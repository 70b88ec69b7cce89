/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "ruby/get.h"
#include "ruby/symbol/id.h"
#include "ruby/inspect/inspect_private.h"
#include "ruby/object/string.h"

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * The ASCII characters with which an identifier may begin; all other characters
 * may.
 */
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
	for (size_t i = 0; i < RCORE_COUNT(operators); i++)
		if (strcmp(name, operators[i]) == 0)
			return true;
	return false;
}

/* $~, $-w, $1; `name` begins after the dollar sign. */
static bool is_special_global(const char *name)
{
	if (*name == '-')
		return (name_length(name + 1) && strlen(name) == 2) ||
		       (is_digit(name[1]) && !name[2]);
	if (is_digit(*name))
		return strspn(name, "0123456789") == strlen(name);
	return *name && strchr("~*$?!@/\\;,.=:<>\"&`'+0_", *name) && !name[1];
}

/*
 * The part of rb_enc_symname_type of symbol.c that says which names need no
 * quotes.
 */
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

struct name {
	const char *bytes;
	size_t length;
	unsigned encoding;
};

/* Whether Symbol#inspect omits the quotes. */
static bool is_simple(struct rcore_inspect *inspect, const struct name *name)
{
	struct rcore_ruby *ruby = inspect->ruby;
	struct rcore_encoding encoding = rcore_encoding(ruby, name->encoding);
	if (strlen(name->bytes) != name->length ||
	    !rcore_encoding_is_ascii_compatible(&encoding) || !is_syntax(name->bytes))
		return false;
	bool is_result = true;
	for (size_t i = 0, size; i < name->length; i += size) {
		uint32_t c;
		size = rcore_character(encoding.charset, (const unsigned char *)name->bytes + i,
				       name->length - i, &c);
		if (size && c >= 0x80)
			is_result = is_result && rcore_default_encoding(ruby) == name->encoding;
		if (!size || !is_result ||
		    (encoding.charset == RCORE_CHARSET_UTF_8 && !rcore_is_printable(ruby, c)))
			return false;
	}
	return true;
}

/* `is_of_code`: it names a member and is not a value. */
static struct rcore_error *read_name(struct rcore_inspect *inspect, uint64_t string,
				     bool is_of_code, struct name *ret)
{
	uint64_t flags;
	struct rcore_error *err =
		is_of_code ? rcore_string(inspect->ruby, string, &ret->bytes, &ret->length)
			   : rcore_text(inspect->ruby, string, &ret->bytes, &ret->length);
	if (!err)
		err = rcore_flags(inspect->ruby, string, &flags);
	if (!err)
		ret->encoding = rcore_encoding_index(flags);
	return err;
}

static void write_name(struct rcore_inspect *inspect, const struct name *name, bool quoted)
{
	if (quoted)
		rcore_inspect_quoted(inspect, name->bytes, name->length, name->length,
				     name->encoding);
	else
		rcore_inspect_write(inspect, name->bytes, name->length);
}

static struct rcore_error *inspect_name(struct rcore_inspect *inspect, uint64_t string)
{
	struct name name;
	struct rcore_error *err = read_name(inspect, string, false, &name);
	if (err)
		return err;
	rcore_inspect_puts(inspect, ":");
	write_name(inspect, &name, !is_simple(inspect, &name));
	return NULL;
}

/*
 * symbol_key_needs_quote of hash.c: what the parser would not accept as "name:
 * value"
 */
static bool key_needs_quote(struct rcore_inspect *inspect, const struct name *name)
{
	if (!name->length || !is_simple(inspect, name) || strchr("@$!", name->bytes[0]))
		return true;
	return strchr("+-*/`%^&|]<=>~@", name->bytes[name->length - 1]);
}

struct rcore_error *rcore_inspect_symbol_key(struct rcore_inspect *inspect, uint64_t key,
					     bool *ret)
{
	struct name name;
	uint64_t string;
	struct rcore_error *err = rcore_symbol_string(inspect->ruby, key, ret, &string);
	if (err || !*ret)
		return err;
	err = read_name(inspect, string, false, &name);
	if (err)
		return err;
	write_name(inspect, &name, key_needs_quote(inspect, &name));
	rcore_inspect_puts(inspect, ": ");
	return NULL;
}

/* Finds the String of a symbol. Error: CORRUPT (it is no symbol). */
static struct rcore_error *string_of(struct rcore_inspect *inspect, uint64_t symbol,
				     uint64_t *ret)
{
	bool is_symbol;
	struct rcore_error *err = rcore_symbol_string(inspect->ruby, symbol, &is_symbol, ret);
	if (!err && !is_symbol)
		err = rcore_error_create(RCORE_ERROR_CORRUPT, "0x%" PRIx64 " is not a Symbol",
					 symbol);
	return err;
}

struct rcore_error *rcore_inspect_symbol_value(struct rcore_inspect *inspect, uint64_t symbol)
{
	uint64_t string;
	struct rcore_error *err = string_of(inspect, symbol, &string);
	return err ? err : inspect_name(inspect, string);
}

struct rcore_error *rcore_inspect_member(struct rcore_inspect *inspect, uint64_t symbol)
{
	struct name name;
	uint64_t string;
	struct rcore_error *err = string_of(inspect, symbol, &string);
	if (!err)
		err = read_name(inspect, string, true, &name);
	if (err)
		return err;
	bool plain = is_simple(inspect, &name) && name_length(name.bytes) == name.length;
	if (!plain)
		rcore_inspect_puts(inspect, ":");
	write_name(inspect, &name, !is_simple(inspect, &name));
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
