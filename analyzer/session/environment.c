/* SPDX-License-Identifier: MIT */
#include "base/text.h"
#include "session/decode.h"

#include <string.h>

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

static void find_rubyopt(const struct rcore_target *target, const struct rcore_module *ruby,
			 struct rcore_snapshot *snapshot)
{
	static const char wanted[] = "RUBYOPT=";
	enum { LENGTH = sizeof(wanted) - 1 };
	char text[TEXT_LIMIT];
	uint64_t environ_at, variable;
	if (!find_environ(target, ruby, &environ_at))
		return;
	for (int i = 0; i < VARIABLE_LIMIT; i++, environ_at += sizeof(variable)) {
		if (rcore_read_u64(target->memory, environ_at, &variable) || !variable)
			return;
		/* No byte of other variables is kept. */
		char start[LENGTH];
		if (rcore_read(target->memory, variable, start, LENGTH) ||
		    memcmp(start, wanted, LENGTH) ||
		    rcore_read_string(target->memory, variable + LENGTH, text, sizeof(text)))
			continue;
		snapshot->facts.rubyopt = rcore_arena_strdup(&snapshot->arena, text);
		return;
	}
}

void rcore_session_environment(const struct rcore_target *target,
			       const struct rcore_module *ruby, struct rcore_snapshot *snapshot)
{
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
	find_rubyopt(target, ruby, snapshot);
	if (target->recorder)
		rcore_recorder_pause(target->recorder, false);
}
