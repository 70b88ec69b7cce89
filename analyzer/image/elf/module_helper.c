/* SPDX-License-Identifier: MIT */
#include "image/elf/module_helper.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "image/elf/answers.h"
#include "image/elf/elf_memory.h"

static void explain(struct rcore_modules *modules, const struct rcore_module_entry *entry)
{
	char escaped[256];
	const char *why = rcore_helper_problem(modules->helper);
	if (!modules->problem && why)
		modules->problem = rcore_arena_printf(
			&modules->arena,
			"symbols and lines are missing: the process that reads them stopped at "
			"%s (%s)",
			rcore_escape(escaped, sizeof(escaped), entry->module.path), why);
}

bool rcore_module_helper_call(struct rcore_modules *modules, struct rcore_module_entry *entry,
			      rcore_helper_function *function, const void *request, size_t size,
			      void *reply, size_t *ret_size)
{
	if (!modules->helper)
		modules->helper = rcore_helper_new(modules, rcore_elf_lacked_memory);
	modules->lacks_memory |= !modules->helper;
	if (!modules->helper || entry->is_deadly)
		return false;
	if (rcore_helper_call(modules->helper, function, request, size, reply, ret_size))
		return true;
	entry->is_deadly = true;
	explain(modules, entry);
	return false;
}

/* Returns false if the file is not known, or the request is long. */
static bool make_question(const struct rcore_module *module, rcore_helper_function *function,
			  const void *request, size_t size, struct rcore_question *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (!module->elf || !module->build_id_size || size > sizeof(ret->request))
		return false;
	ret->device = module->elf->map.device;
	ret->file = module->elf->map.file;
	memcpy(ret->build_id, module->build_id, module->build_id_size);
	ret->function = (void (*)(void))function;
	ret->size = size;
	memcpy(ret->request, request, size);
	return true;
}

void rcore_module_note(struct rcore_modules *modules, const struct rcore_module *module,
		       const char *what, uint64_t number)
{
	struct rcore_question question;
	if (modules->options.answers &&
	    make_question(module, NULL, what, strlen(what), &question))
		rcore_answers_keep(modules->options.answers, &question, rcore_clock_ns(),
				   &number, sizeof(number));
}

bool rcore_module_known(struct rcore_modules *modules, const struct rcore_module *module,
			const char *what, uint64_t *ret)
{
	struct rcore_question question;
	size_t size = 0;
	return modules->options.answers &&
	       make_question(module, NULL, what, strlen(what), &question) &&
	       rcore_answers_find(modules->options.answers, &question, rcore_clock_ns(), ret,
				  sizeof(*ret), &size);
}

/*
 * Whether an answer is the path of a file of one process, such as
 * /proc/PID/root/...: the process may have ended when another one asks.
 */
static bool is_of_process(const char *reply, size_t size)
{
	static const char start[] = "/proc/";
	return size >= strlen(start) && !memcmp(reply, start, strlen(start));
}

bool rcore_module_helper_ask(struct rcore_modules *modules, struct rcore_module_entry *entry,
			     rcore_helper_function *function, const void *request, size_t size,
			     void *reply, size_t *ret_size)
{
	struct rcore_answers *answers = modules->options.answers;
	struct rcore_question question;
	bool is_known = answers && make_question(&entry->module, function,
						 (const char *)request + sizeof(size_t),
						 size - sizeof(size_t), &question);
	if (is_known && rcore_answers_find(answers, &question, rcore_clock_ns(), reply,
					   RCORE_HELPER_ROOM, ret_size))
		return true;
	if (!rcore_module_helper_call(modules, entry, function, request, size, reply, ret_size))
		return false;
	if (is_known && !is_of_process(reply, *ret_size) && !rcore_modules_lack_memory(modules))
		rcore_answers_keep(answers, &question, rcore_clock_ns(), reply, *ret_size);
	return true;
}

char *rcore_module_helper_room(struct rcore_modules *modules)
{
	if (!modules->reply)
		modules->reply = malloc(RCORE_HELPER_ROOM);
	modules->lacks_memory |= !modules->reply;
	return modules->reply;
}

struct rcore_module_entry *rcore_module_of_index(struct rcore_modules *modules, size_t index)
{
	return index < modules->list.count ? &modules->list.items[index] : NULL;
}

size_t rcore_module_index(const struct rcore_modules *modules,
			  const struct rcore_module_entry *entry)
{
	return (size_t)(entry - modules->list.items);
}

const char *rcore_modules_problem(const struct rcore_modules *modules)
{
	return modules->problem;
}

bool rcore_modules_lack_memory(const struct rcore_modules *modules)
{
	return modules->lacks_memory || rcore_helper_lacks_memory(modules->helper);
}

void rcore_modules_retry(struct rcore_modules *modules)
{
	if (modules->helper)
		rcore_helper_retry(modules->helper);
	modules->lacks_memory = false;
	modules->problem = NULL;
	for (size_t i = 0; i < modules->list.count; i++) {
		struct rcore_module_entry *entry = &modules->list.items[i];
		rcore_module_debug_free(entry->debug);
		entry->debug = NULL;
		entry->is_deadly = false;
		entry->has_debug_file = entry->debug_file != NULL;
	}
}
