/* SPDX-License-Identifier: MIT */
#include "triage/process_role.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

/*
 * The beginnings of titles that servers set: run() of puma/cluster/worker.rb,
 * title() of puma/launcher.rb, proc_name() of unicorn/http_server.rb,
 * Sidekiq's heartbeat, and setup() of falcon/service/server.rb. Falcon's
 * parent sets none, so its command line is looked at. '#' is a number, '*' any
 * text. The first that matches counts.
 */
static const struct {
	const char *title, *server;
	enum rcore_role role;
} titles[] = {
	{"puma: cluster worker #:", "Puma", RCORE_ROLE_WORKER},
	{"puma #", "Puma", RCORE_ROLE_SERVER},
	{"unicorn master", "Unicorn", RCORE_ROLE_MASTER},
	{"unicorn_rails master", "Unicorn", RCORE_ROLE_MASTER},
	{"unicorn worker[#]", "Unicorn", RCORE_ROLE_WORKER},
	{"unicorn_rails worker[#]", "Unicorn", RCORE_ROLE_WORKER},
	{"sidekiq #", "Sidekiq", RCORE_ROLE_SERVER},
	{"* (C=*/* R=*/* L=", "Falcon", RCORE_ROLE_WORKER},
	{"*/falcon serve", "Falcon", RCORE_ROLE_MASTER},
	{"*/falcon host", "Falcon", RCORE_ROLE_MASTER},
	{"*/falcon virtual", "Falcon", RCORE_ROLE_MASTER},
};

/*
 * Returns how long the text at `text` is that matches one character of a
 * pattern, or 0 if none matches. A '#' sets *ret to the number.
 */
static size_t step(const char *text, char wanted, int *ret)
{
	if (wanted != '#')
		return *text == wanted;
	char *end;
	long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
	if (number < 0 || number > 1000000)
		return 0;
	*ret = (int)number;
	return (size_t)(end - text);
}

/* *ret is the last number, or -1. */
static bool begins(const char *text, const char *pattern, int *ret)
{
	/* Where the last '*' is, and where the text that it matches ends. */
	const char *star = NULL, *reached = NULL;
	*ret = -1;
	while (*pattern) {
		if (*pattern == '*') {
			star = pattern++;
			reached = text;
			continue;
		}
		size_t length = step(text, *pattern, ret);
		if (length) {
			text += length;
			pattern++;
		} else if (star && *reached) {
			text = ++reached;
			pattern = star + 1;
		} else {
			return false;
		}
	}
	return true;
}

bool rcore_process_role(const char *title, struct rcore_process_role *ret)
{
	for (size_t i = 0; title && i < RCORE_COUNT(titles); i++) {
		int number;
		if (!begins(title, titles[i].title, &number))
			continue;
		*ret = (struct rcore_process_role){titles[i].server, titles[i].role, -1};
		/* In other titles, the number is the server's version. */
		if (ret->role == RCORE_ROLE_WORKER)
			ret->number = number;
		return true;
	}
	return false;
}

const char *rcore_process_role_text(const struct rcore_process_role *role, char *ret,
				    size_t size)
{
	static const char *const names[] = {
		[RCORE_ROLE_SERVER] = "",
		[RCORE_ROLE_MASTER] = " master",
		[RCORE_ROLE_WORKER] = " worker",
	};
	if (role->number >= 0)
		snprintf(ret, size, "%s%s %d", role->server, names[role->role], role->number);
	else
		snprintf(ret, size, "%s%s", role->server, names[role->role]);
	return ret;
}
