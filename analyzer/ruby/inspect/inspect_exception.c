/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "ruby/inspect/inspect_private.h"
#include "ruby/object/ivar.h"
#include "ruby/symbol/missing_name.h"
#include "ruby/object/string.h"

static struct rcore_error *has_newline(struct rcore_ruby *ruby, uint64_t string, bool *ret)
{
	const char *text;
	size_t length;
	struct rcore_error *err = rcore_text(ruby, string, &text, &length);
	if (!err)
		*ret = memchr(text, '\n', length);
	return err;
}

static struct rcore_error *with_message(struct rcore_inspect *inspect, uint64_t value,
					uint64_t message, uint64_t flags)
{
	bool quoted = false;
	struct rcore_error *err = NULL;
	if (inspect->ruby->layout->traits.exception_quotes_newlines)
		err = has_newline(inspect->ruby, message, &quoted);
	if (err)
		return err;
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	rcore_inspect_puts(inspect, quoted ? ":" : ": ");
	err = quoted ? rcore_inspect_string(inspect, message, flags)
		     : rcore_inspect_raw(inspect, message);
	rcore_inspect_puts(inspect, ">");
	return err;
}

/*
 * The message of a NameError or UncaughtThrowError is created when it is asked
 * for. It contains the receiver's or the tag's inspect, which may contain the
 * exception again; inside it, no other such message is created.
 */
static struct rcore_error *made_message(struct rcore_inspect *inspect, uint64_t value,
					uint64_t message, bool has_tag, const char **ret)
{
	struct rcore_ruby *ruby = inspect->ruby;
	*ret = NULL;
	if (ruby->is_making_message)
		return NULL;
	ruby->is_making_message = true;
	struct rcore_error *err =
		has_tag ? rcore_uncaught_throw_message(ruby, inspect->anew, value, ret)
			: rcore_name_error_message(ruby, inspect->anew, message, ret);
	ruby->is_making_message = false;
	return err;
}

static struct rcore_error *with_made_message(struct rcore_inspect *inspect, uint64_t value,
					     uint64_t message, bool has_tag)
{
	const char *text;
	bool quotes = inspect->ruby->layout->traits.exception_quotes_newlines;
	struct rcore_error *err = made_message(inspect, value, message, has_tag, &text);
	rcore_inspect_puts(inspect, "#<");
	rcore_inspect_class_name(inspect, value);
	if (!text) {
		rcore_inspect_puts(inspect, ": ...>");
		return err;
	}
	size_t length = strlen(text);
	if (quotes && strchr(text, '\n')) {
		rcore_inspect_puts(inspect, ":");
		rcore_inspect_quoted(inspect, text, length, length, RCORE_ENCODING_UTF_8);
	} else {
		rcore_inspect_puts(inspect, ": ");
		rcore_inspect_puts(inspect, text);
	}
	rcore_inspect_puts(inspect, ">");
	return err;
}

/*
 * exc_inspect of error.c. The message is a hidden ivar, "mesg": a String, nil
 * for the name of the class, or the object from which a NameError creates its
 * message. Only an UncaughtThrowError has a "tag".
 */
struct rcore_error *rcore_inspect_exception(struct rcore_inspect *inspect, uint64_t value,
					    uint64_t flags)
{
	struct rcore_ruby *ruby = inspect->ruby;
	uint64_t message = 0, message_flags = 0, address, length = 0, tag;
	bool found = false, has_tag = false;
	struct rcore_error *err = rcore_ivar_get(ruby, value, "mesg", &found, &message);
	if (err)
		return err;
	if (!found || rcore_is_nil(ruby, message)) {
		rcore_inspect_puts(inspect, "#<");
		rcore_inspect_class_name(inspect, value);
		rcore_inspect_puts(inspect, ": ");
		rcore_inspect_class_name(inspect, value);
		rcore_inspect_puts(inspect, ">");
		return NULL;
	}
	if (rcore_is_object(ruby, message))
		err = rcore_flags(ruby, message, &message_flags);
	bool is_string = (message_flags & RCORE_T_MASK) == RCORE_T_STRING;
	if (!err && is_string)
		err = rcore_ivar_get(ruby, value, "tag", &has_tag, &tag);
	if (!err && (!is_string || has_tag))
		return with_made_message(inspect, value, message, has_tag);
	if (!err)
		err = rcore_string_bytes(ruby, message, &address, &length);
	if (err)
		return err;
	if (length)
		return with_message(inspect, value, message, message_flags);
	rcore_inspect_class_name(inspect, value);
	return NULL;
}
