/* SPDX-License-Identifier: MIT */
#include "ruby/inspect/text/regexp_names.h"

#include <string.h>

/*
 * Whether "(?<name>" or "(?'name'" is at `at`; sets where the name begins and
 * which character ends it.
 */
static bool opens_named_group(const char *source, size_t length, size_t at, size_t *name,
			      char *end)
{
	if (length - at < 5 || memcmp(source + at, "(?", 2) != 0)
		return false;
	char sign = source[at + 2], first = source[at + 3];
	if (sign != '\'' && (sign != '<' || first == '=' || first == '!'))
		return false;
	*name = at + 3;
	*end = sign == '<' ? '>' : '\'';
	return true;
}

bool rcore_regexp_name(const char *source, size_t length, int number, const char **ret,
		       size_t *ret_length)
{
	int brackets = 0;
	for (size_t i = 0; i < length; i++) {
		size_t name;
		char end;
		if (source[i] == '\\') {
			i++;
		} else if (source[i] == '[') {
			brackets++;
		} else if (source[i] == ']' && brackets) {
			brackets--;
		} else if (!brackets && opens_named_group(source, length, i, &name, &end)) {
			const char *close = memchr(source + name, end, length - name);
			if (!close)
				return false;
			if (--number == 0) {
				*ret = source + name;
				*ret_length = (size_t)(close - *ret);
				return true;
			}
		}
	}
	return false;
}
