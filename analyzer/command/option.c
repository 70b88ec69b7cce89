/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/count.h"
#include "base/grow.h"
#include "base/text.h"
#include "session/live/ruby_processes.h"
#include "command/command.h"
#include "layout/layout.h"

struct rcore_error *rcore_strings_add(struct rcore_strings *words, const char *word)
{
	const char **slot = rcore_push(words);
	if (!slot)
		return rcore_error_no_memory();
	*slot = word;
	return NULL;
}

/* Returns the error for a value that is not one of the choices. */
static struct rcore_error *bad_choice(const struct rcore_option *option, const char *value)
{
	char escaped[64], choices[128] = "";
	for (size_t i = 0, at = 0; option->choices[i] && at < sizeof(choices); i++)
		at += (size_t)snprintf(choices + at, sizeof(choices) - at, "%s%s",
				       !i                       ? ""
				       : option->choices[i + 1] ? ", "
								: " or ",
				       option->choices[i]);
	return rcore_error_create(RCORE_ERROR_USAGE, "option '--%s' must be %s, not '%s'",
				  option->name, choices,
				  rcore_escape(escaped, sizeof(escaped), value));
}

static bool parse_unsigned(const char *text, int base, uint64_t *ret)
{
	char *end;
	errno = 0;
	unsigned long long number = strtoull(text, &end, base);
	/* strtoull() skips spaces, and negates a number after a '-'. */
	if (!isdigit((unsigned char)text[0]) || *end || errno)
		return false;
	*ret = number;
	return true;
}

bool rcore_parse_address(const char *text, uint64_t *ret)
{
	return parse_unsigned(text, 0, ret);
}

static bool parse_number(const char *text, size_t *ret)
{
	uint64_t number;
	if (!parse_unsigned(text, 10, &number))
		return false;
	*ret = number;
	return true;
}

static bool parse_choice(const char *const *choices, const char *text, int *ret)
{
	for (int i = 0; choices[i]; i++) {
		if (strcmp(choices[i], text) == 0) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool parse_pid(const char *text, int *ret)
{
	size_t number;
	if (!parse_number(text, &number) || !number || number > INT_MAX)
		return false;
	*ret = (int)number;
	return true;
}

static bool parse_amount(const char *text, size_t *ret)
{
	return parse_number(text, ret) && *ret && *ret <= RCORE_OPTION_AMOUNT_MAX;
}

/* Reads a number of seconds, or of the unit that the last letter names. */
static bool parse_time(const char *text, size_t *ret)
{
	static const struct {
		const char *letter;
		size_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
	char number[16];
	size_t digits = strspn(text, "0123456789");
	if (digits >= sizeof(number))
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	for (size_t i = 0; i < RCORE_COUNT(units); i++) {
		if (strcmp(text + digits, units[i].letter) != 0 || !parse_amount(number, ret))
			continue;
		*ret *= units[i].seconds;
		return *ret <= RCORE_OPTION_AMOUNT_MAX;
	}
	return false;
}

static bool parse_index(const char *text, struct rcore_index *ret)
{
	ret->is_given = true;
	return parse_number(text, &ret->number);
}

static bool parse_version(const char *text, struct rcore_version_option *ret)
{
	ret->is_given = true;
	return rcore_version_parse(text, ret->number);
}

/* What a value must be, in a message; indexed by enum rcore_option_kind. */
static const char *const wanted[] = {
	[RCORE_OPTION_NUMBER] = "a number",
	[RCORE_OPTION_INDEX] = "a number",
	[RCORE_OPTION_PID] = "the id of a process or a part of its title",
	[RCORE_OPTION_AMOUNT] = "a number from 1 to 1000000000",
	[RCORE_OPTION_TIME] = "a time such as 90, 90s, 5m or 1h",
	[RCORE_OPTION_VERSION] = "a Ruby release such as 3.3.8",
};

/* Without this check, a missing folder would look like an empty one. */
static struct rcore_error *check_folder(const struct rcore_option *option, const char *value)
{
	struct stat status;
	char escaped[128];
	if (!option->is_folder || (stat(value, &status) == 0 && S_ISDIR(status.st_mode)))
		return NULL;
	return rcore_error_create(RCORE_ERROR_USAGE, "option '--%s': there is no folder '%s'",
				  option->name, rcore_escape(escaped, sizeof(escaped), value));
}

struct rcore_error *rcore_option_set(const struct rcore_option *option, void *arguments,
				     const char *value, bool has_descendants)
{
	void *member = (char *)arguments + option->offset;
	char escaped[64];
	bool fits = true;
	struct rcore_error *err = check_folder(option, value);
	if (err)
		return err;
	switch (option->kind) {
	case RCORE_OPTION_FLAG:
		*(bool *)member = true;
		return NULL;
	case RCORE_OPTION_TEXT:
		if (option->writes && *(const char **)member)
			return rcore_error_create(
				RCORE_ERROR_USAGE,
				"option '--%s' names one file; run the command again to write "
				"'%s', too",
				option->name, rcore_escape(escaped, sizeof(escaped), value));
		*(const char **)member = value;
		return NULL;
	case RCORE_OPTION_CHOICE:
		return parse_choice(option->choices, value, member) ? NULL
								    : bad_choice(option, value);
	case RCORE_OPTION_LIST:
		return rcore_strings_add(member, value);
	case RCORE_OPTION_NUMBER:
		fits = parse_number(value, member);
		break;
	case RCORE_OPTION_INDEX:
		fits = parse_index(value, member);
		break;
	case RCORE_OPTION_PID:
		/* No title begins with a dash; "-5" is no pid. */
		if (value[0] != '-' && value[strspn(value, "0123456789")])
			return rcore_ruby_process_find(value, has_descendants, member);
		fits = parse_pid(value, member);
		break;
	case RCORE_OPTION_AMOUNT:
		fits = parse_amount(value, member);
		break;
	case RCORE_OPTION_TIME:
		fits = parse_time(value, member);
		break;
	case RCORE_OPTION_VERSION:
		fits = parse_version(value, member);
		break;
	}
	return fits ? NULL
		    : rcore_error_create(RCORE_ERROR_USAGE,
					 "option '--%s' requires %s, not '%s'", option->name,
					 wanted[option->kind],
					 rcore_escape(escaped, sizeof(escaped), value));
}
