/* SPDX-License-Identifier: MIT */
#include "image/elf/elf_file.h"
#include "session/session.h"
#include "target/core/core_file.h"

static struct rcore_error *cut(const char *path)
{
	return rcore_error_create(RCORE_ERROR_OS,
				  "%s became shorter since it was opened: wait until it is "
				  "written, or take a copy, and open the target again",
				  path);
}

struct rcore_error *rcore_session_files(const struct rcore_session *session)
{
	if (session->core && rcore_mapped_file_is_cut(&rcore_core_file(session->core)->map))
		return cut(session->process->source);
	for (size_t i = 0; i < rcore_modules_count(session->modules); i++) {
		const struct rcore_module *module = rcore_modules_get(session->modules, i);
		if (module->elf && rcore_mapped_file_is_cut(&module->elf->map))
			return cut(module->file);
	}
	return NULL;
}
