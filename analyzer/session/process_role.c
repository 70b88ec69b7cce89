/* SPDX-License-Identifier: MIT */
#include "session/process_role.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/count.h"

/*
 * The beginnings of titles that servers set: run() of puma/cluster/worker.rb,
 * title() of puma/launcher.rb, proc_name() of unicorn/http_server.rb, and
 * Sidekiq's heartbeat. '#' is a number. The first that matches counts.
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
};

/* *ret is the number, or -1. */
static bool begins(const char *text, const char *pattern, int *ret)
{
	*ret = -1;
	for (; *pattern; pattern++) {
		if (*pattern != '#') {
			if (*text++ != *pattern)
				return false;
			continue;
		}
		char *end;
		long number = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;
		if (number < 0 || number > 1000000)
			return false;
		*ret = (int)number;
		text = end;
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
		/* The number of other titles is the server's version. */
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
