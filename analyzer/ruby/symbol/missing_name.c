/* SPDX-License-Identifier: MIT */
#include "ruby/object/class_name.h"
#include "ruby/symbol/missing_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ruby/object/data.h"
#include "ruby/get.h"
#include "ruby/object/ivar.h"
#include "ruby/object/string.h"

enum { MESG, RECEIVER, NAME, VALUE_COUNT };
/* In bytes. Up to 2.7, the class replaces a longer one. */
enum { INSPECT_LIMIT = 65 };

/* The arguments %1$s to %4$s of the format. */
enum { ARGUMENT_COUNT = 4 };
struct words {
	const char *arguments[ARGUMENT_COUNT];
};

static struct rcore_error *inspect(struct rcore_ruby *ruby, rcore_inspect_function *function,
				   uint64_t value, const char **ret)
{
	struct rcore_value inspected = {0};
	struct rcore_error *err = function(ruby, value, NULL, &inspected);
	if (err)
		return err; /* cppcheck-suppress returnDanglingLifetime */
	if (!inspected.text)
		return rcore_error_create(RCORE_ERROR_CORRUPT, "its receiver: %s",
					  inspected.problem ? inspected.problem : "unreadable");
	*ret = inspected.text;
	return NULL;
}

/* rb_any_to_s */
static struct rcore_error *any_to_s(struct rcore_ruby *ruby, uint64_t value, const char *name,
				    const char **ret)
{
	*ret = rcore_arena_printf(ruby->arena, "#<%s:0x%016" PRIx64 ">", name, value);
	return *ret ? NULL : rcore_error_no_memory();
}

static struct rcore_error *describe_by_inspect(struct rcore_ruby *ruby,
					       rcore_inspect_function *function,
					       uint64_t receiver, struct words *words)
{
	const char *text = NULL, *name = NULL;
	struct rcore_error *err = inspect(ruby, function, receiver, &text);
	if (!err)
		err = rcore_value_class_name(ruby, receiver, &name);
	if (!err && ruby->layout->traits.receiver_inspect_limited &&
	    strlen(text) > INSPECT_LIMIT)
		err = any_to_s(ruby, receiver, name, &text);
	if (err)
		return err;
	words->arguments[1] = text;
	if (text[0] != '#') {
		words->arguments[2] = ":";
		words->arguments[3] = name;
	}
	return NULL;
}

static struct rcore_error *is_singleton(struct rcore_ruby *ruby, uint64_t value, bool *ret)
{
	uint64_t klass, flags;
	*ret = false;
	if (!rcore_is_object(ruby, value))
		return NULL;
	struct rcore_error *err = RCORE_GET(ruby, value, basic, klass, &klass);
	if (!err)
		err = rcore_flags(ruby, klass, &flags);
	if (!err)
		*ret = (flags & RCORE_T_MASK) == RCORE_T_CLASS &&
		       flags & ruby->layout->traits.singleton_flag;
	return err;
}

static struct rcore_error *describe_by_class(struct rcore_ruby *ruby,
					     rcore_inspect_function *function,
					     uint64_t receiver, struct words *words)
{
	const char *text = NULL, *name = NULL;
	bool singleton;
	enum rcore_type type = RCORE_T_NONE;
	struct rcore_error *err = inspect(ruby, function, receiver, &text);
	if (err)
		return err;
	words->arguments[1] = text;
	if (rcore_same_text(text, "nil") || rcore_same_text(text, "true") ||
	    rcore_same_text(text, "false")) {
		words->arguments[3] = text;
		return NULL;
	}
	if (rcore_is_object(ruby, receiver) && (err = rcore_type(ruby, receiver, &type)))
		return err;
	if (type == RCORE_T_MODULE || type == RCORE_T_CLASS) {
		words->arguments[2] = type == RCORE_T_MODULE ? "module " : "class ";
		words->arguments[3] = text;
		return NULL;
	}
	if ((err = is_singleton(ruby, receiver, &singleton)) ||
	    (err = rcore_value_class_name(ruby, receiver, &name)))
		return err;
	if (!singleton) {
		words->arguments[2] = "an instance of ";
		words->arguments[3] = name;
	} else if (rcore_same_text(text, "main")) {
		words->arguments[3] = text;
	} else {
		err = any_to_s(ruby, receiver, name, &words->arguments[3]);
	}
	return err;
}

/* "%s" or "%p" is the next argument, "%2$s" the second, "%%" a percent sign. */
static struct rcore_error *format(struct rcore_ruby *ruby, const char *text,
				  const struct words *words, const char **ret)
{
	char *made = NULL;
	size_t size, next = 0;
	FILE *out = rcore_open_text(&made, &size);
	if (!out)
		return rcore_error_no_memory();
	for (const char *at = text; *at; at++) {
		if (at[0] != '%') {
			putc(*at, out);
		} else if (at[1] == '%') {
			putc(*++at, out);
		} else if ((at[1] == 's' || at[1] == 'p') && next < ARGUMENT_COUNT) {
			fputs(words->arguments[next++], out);
			at++;
		} else if (at[1] >= '1' && at[1] <= '0' + ARGUMENT_COUNT && at[2] == '$' &&
			   at[3] == 's') {
			fputs(words->arguments[at[1] - '1'], out);
			at += 3;
		} else {
			putc(*at, out);
		}
	}
	*ret = fclose(out) == 0 ? rcore_arena_strdup(ruby->arena, made) : NULL;
	free(made);
	return *ret ? NULL : rcore_error_no_memory();
}

struct rcore_error *rcore_name_error_message(struct rcore_ruby *ruby,
					     rcore_inspect_function *function, uint64_t value,
					     const char **ret)
{
	uint64_t data = 0, values[VALUE_COUNT];
	enum rcore_type type;
	struct words words = {{"", "", "", ""}};
	const char *text;
	bool is_one = false;
	*ret = NULL;
	struct rcore_error *err = rcore_type(ruby, value, &type);
	if (!err && type == RCORE_T_DATA)
		err = rcore_data_is(ruby, value, "name_err_mesg", &is_one, &data);
	if (err || !is_one || !data)
		return err;
	enum rcore_fault fault = rcore_read(ruby->memory, data, values, sizeof(values));
	if (fault)
		return rcore_fault_error(fault, "message of a NameError", data, sizeof(values));
	if ((err = rcore_string(ruby, values[MESG], &text, NULL)) ||
	    (err = inspect(ruby, function, values[NAME], &words.arguments[0])))
		return err;
	/* Like rb_obj_as_string for a Symbol or String: without its marks. */
	if (rcore_is_object(ruby, values[NAME]) && !rcore_type(ruby, values[NAME], &type) &&
	    type == RCORE_T_STRING)
		err = rcore_string(ruby, values[NAME], &words.arguments[0], NULL);
	else if (words.arguments[0][0] == ':')
		words.arguments[0]++;
	if (!err)
		err = ruby->layout->traits.name_error_inspects
			      ? describe_by_inspect(ruby, function, values[RECEIVER], &words)
			      : describe_by_class(ruby, function, values[RECEIVER], &words);
	return err ? err : format(ruby, text, &words, ret);
}

struct rcore_error *rcore_uncaught_throw_message(struct rcore_ruby *ruby,
						 rcore_inspect_function *function,
						 uint64_t exception, const char **ret)
{
	uint64_t tag = 0, message = 0;
	enum rcore_type type = RCORE_T_NONE;
	struct words words = {{"", "", "", ""}};
	const char *text;
	bool has_tag = false, has_message = false;
	*ret = NULL;
	struct rcore_error *err = rcore_ivar_get(ruby, exception, "tag", &has_tag, &tag);
	if (!err && has_tag)
		err = rcore_ivar_get(ruby, exception, "mesg", &has_message, &message);
	if (!err && has_message && rcore_is_object(ruby, message))
		err = rcore_type(ruby, message, &type);
	if (err || type != RCORE_T_STRING)
		return err;
	if ((err = rcore_string(ruby, message, &text, NULL)) ||
	    (err = inspect(ruby, function, tag, &words.arguments[0])))
		return err;
	return format(ruby, text, &words, ret);
}
