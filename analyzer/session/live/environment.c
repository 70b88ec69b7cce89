/* SPDX-License-Identifier: MIT */
#include "session/decode.h"

#include <string.h>

#include "base/count.h"
#include "base/text.h"
#include "session/live/deployment.h"

enum { VARIABLE_LIMIT = 10000, TEXT_LIMIT = 4096 };

static bool is_libc(const struct rcore_module *module)
{
	const char *name = rcore_base_name(module->path);
	return !strncmp(name, "libc.", 5) || !strncmp(name, "libc-2", 6) ||
	       !strncmp(name, "ld-musl", 7);
}

/*
 * Finds the C library's `environ`. If the executable refers to it, it has a
 * copy, and the copy is the one in use.
 */
static bool find_environ(const struct rcore_target *target, const struct rcore_module *ruby,
			 uint64_t *ret)
{
	size_t count = rcore_modules_count(target->modules);
	struct rcore_symbol symbol;
	for (size_t i = 0; i < count; i++) {
		struct rcore_module *module = rcore_modules_get(target->modules, i);
		if ((module != ruby && i && !is_libc(module)) ||
		    !rcore_module_symbol(target->modules, module, "environ", &symbol) ||
		    rcore_read_u64(target->memory, symbol.address, ret))
			continue;
		if (*ret)
			return true;
	}
	return false;
}

/*
 * Returns which of `wanted` ("NAME=") the variable at `address` is, or NULL.
 * Keeps nothing of other variables.
 */
static const char *name_of(const struct rcore_target *target, uint64_t address,
			   const char *const *wanted, size_t count)
{
	/* No name is shorter. Most variables need only this one read. */
	enum { START = 8 };
	char start[START], rest[32];
	if (rcore_read(target->memory, address, start, START))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(wanted[i]) - START;
		if (!memcmp(start, wanted[i], START) && length <= sizeof(rest) &&
		    !rcore_read(target->memory, address + START, rest, length) &&
		    !memcmp(rest, wanted[i] + START, length))
			return wanted[i];
	}
	return NULL;
}

static void take(const char *name, const char *text, struct rcore_snapshot *snapshot,
		 struct rcore_deployment_found *found)
{
	if (strcmp(name, "RUBYOPT=") != 0)
		rcore_deployment_take(name, text, &snapshot->arena, found);
	else if (!snapshot->facts.rubyopt)
		snapshot->facts.rubyopt = rcore_arena_strdup(&snapshot->arena, text);
}

static void read_all(const struct rcore_target *target, const struct rcore_module *ruby,
		     struct rcore_snapshot *snapshot, struct rcore_deployment_found *found)
{
	const char *wanted[1 + RCORE_DEPLOYMENT_VARIABLES] = {"RUBYOPT="};
	char text[TEXT_LIMIT];
	uint64_t environ_at, variable;
	rcore_deployment_names(wanted + 1);
	if (!find_environ(target, ruby, &environ_at))
		return;
	for (int i = 0; i < VARIABLE_LIMIT; i++, environ_at += sizeof(variable)) {
		if (rcore_read_u64(target->memory, environ_at, &variable) || !variable)
			return;
		const char *name = name_of(target, variable, wanted, RCORE_COUNT(wanted));
		if (name &&
		    !rcore_read_string(target->memory, variable + strlen(name), text,
				       sizeof(text)) &&
		    (strlen(text) < TEXT_LIMIT - 1 || rcore_deployment_drop_cut(name, text)))
			take(name, text, snapshot, found);
	}
}

void rcore_session_environment(const struct rcore_target *target,
			       const struct rcore_module *ruby, struct rcore_snapshot *snapshot)
{
	struct rcore_deployment_found found = {0};
	if (target->pack) {
		if (target->pack->rubyopt)
			snapshot->facts.rubyopt =
				rcore_arena_strdup(&snapshot->arena, target->pack->rubyopt);
		return;
	}
	/*
	 * A pack contains nothing of the environment except what the report
	 * prints.
	 */
	if (target->recorder)
		rcore_recorder_pause(target->recorder, true);
	read_all(target, ruby, snapshot, &found);
	if (target->recorder)
		rcore_recorder_pause(target->recorder, false);
	rcore_deployment_settle(&found, &snapshot->deployment);
}
