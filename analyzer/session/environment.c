/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "session/session.h"
#include "vm/problem.h"

enum { VARIABLE_LIMIT = 10000, TEXT_LIMIT = 4096 };

static bool is_libc(const struct rcore_module *module)
{
	const char *slash = strrchr(module->path, '/');
	const char *name = slash ? slash + 1 : module->path;
	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-2", 6) ||
	       !strncmp(name, "ld-musl", 7);
}

/* The C library's `environ`: an executable that refers to it has a copy of its own, which then is the one. */
static bool find_environ(struct rcore_session *session, uint64_t *ret)
{
	size_t count = rcore_modules_count(session->modules);
	struct rcore_symbol symbol;
	for (size_t i = 0; i < count; i++) {
		struct rcore_module *module = rcore_modules_get(session->modules, i);
		if ((module != session->ruby && i && !is_libc(module)) ||
		    !rcore_module_symbol(session->modules, module, "environ", &symbol) ||
		    rcore_read_u64(session->memory, symbol.address, ret))
			continue;
		if (*ret)
			return true;
	}
	return false;
}

static void find_rubyopt(struct rcore_session *session, struct rcore_snapshot *snapshot)
{
	static const char wanted[] = "RUBYOPT=";
	enum { LENGTH = sizeof(wanted) - 1 };
	char text[TEXT_LIMIT];
	uint64_t environ_at, variable;
	if (!find_environ(session, &environ_at))
		return;
	for (int i = 0; i < VARIABLE_LIMIT; i++, environ_at += sizeof(variable)) {
		if (rcore_read_u64(session->memory, environ_at, &variable) || !variable)
			return;
		/* Of the others not a byte is kept. */
		char start[LENGTH];
		if (rcore_read(session->memory, variable, start, LENGTH) ||
		    memcmp(start, wanted, LENGTH) ||
		    rcore_read_string(session->memory, variable + LENGTH, text, sizeof(text)))
			continue;
		snapshot->facts.rubyopt = rcore_arena_strdup(&snapshot->arena, text);
		return;
	}
}

void rcore_session_environment(struct rcore_session *session, struct rcore_snapshot *snapshot)
{
	if (session->pack) {
		if (session->pack->rubyopt)
			snapshot->facts.rubyopt =
				rcore_arena_strdup(&snapshot->arena, session->pack->rubyopt);
		return;
	}
	/* A pack takes nothing of the environment but what the report prints. */
	if (session->recorder)
		rcore_recorder_pause(session->recorder, true);
	find_rubyopt(session, snapshot);
	if (session->recorder)
		rcore_recorder_pause(session->recorder, false);
}
