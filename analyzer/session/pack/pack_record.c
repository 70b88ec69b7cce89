/* SPDX-License-Identifier: MIT */
#include "session/pack/pack_live.h"

/*
 * Without the files there are no symbols. rcore then searches this data for
 * what the symbols would lead to.
 */
static void add_writable(const struct rcore_target *target, const struct rcore_module *ruby)
{
	uint64_t start, end;
	for (size_t i = 0;
	     ruby && rcore_module_writable(target->modules, ruby, i, &start, &end); i++)
		rcore_recorder_add(target->recorder, start, end - start);
}

/*
 * gdb finds libraries only through the dynamic linker's list. Reads that list
 * as gdb does, so that it is recorded.
 */
static void add_link_map(const struct rcore_target *target)
{
	struct rcore_process process = *target->process;
	struct rcore_modules *modules = NULL;
	process.mapping_count = 0;
	rcore_error_free(rcore_modules_open(&process, target->memory, NULL, &modules));
	rcore_modules_close(modules);
}

void rcore_session_record(const struct rcore_target *target, const struct rcore_module *ruby)
{
	add_writable(target, ruby);
	add_link_map(target);
}

/*
 * Most words that the search for a layout follows are not pointers. Copying
 * pages that are not mapped would only cost time.
 */
static void keep_page(void *context, const struct rcore_recorded_page *page)
{
	struct rcore_live *live = context;
	size_t start, size;
	if (!rcore_live_is_mapped(live, page->start))
		return;
	for (size_t at = 0; rcore_recorded_run(page, &at, &start, &size);)
		rcore_live_keep(live, page->start + start, page->start + start + size);
}

void rcore_session_keep_recorded(const struct rcore_target *target)
{
	rcore_recorder_each(target->recorder, keep_page, target->live);
}
