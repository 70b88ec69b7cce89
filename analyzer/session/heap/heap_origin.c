/* SPDX-License-Identifier: MIT */
#include "session/heap/heap_origin.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ruby/get.h"
#include "ruby/object/string.h"

static bool read_drawn(const struct rcore_process *process, struct rcore_memory *memory,
		       unsigned char drawn[16])
{
	enum { TYPE_RANDOM = 25 }; /* AT_RANDOM of <elf.h> */
	for (size_t i = 0; i < process->auxv_pairs; i++)
		if (process->auxv[2 * i] == TYPE_RANDOM)
			return !rcore_read(memory, process->auxv[2 * i + 1], drawn, 16);
	return false;
}

struct rcore_error *rcore_heap_origin(struct rcore_heap_namer *namer,
				      struct rcore_heap_origin *ret)
{
	struct rcore_ruby *ruby = namer->ruby;
	const struct rcore_process *process = namer->threads.process;
	const char *program;
	*ret = (struct rcore_heap_origin){.pid = process->pid};
	snprintf(ret->series, sizeof(ret->series), "%u.%u", ruby->layout->version[0],
		 ruby->layout->version[1]);
	ret->is_drawn = read_drawn(process, ruby->memory, ret->drawn);
	if (ruby->global_symbols)
		rcore_read_field(ruby->memory, ruby->global_symbols,
				 &ruby->layout->symbols.last_id, &ret->last_symbol);
	rcore_auto_error err =
		ruby->progname ? rcore_text(ruby, ruby->progname, &program, NULL) : NULL;
	if (err || !ruby->progname)
		return NULL;
	ret->program = rcore_arena_strdup(namer->arena, program);
	return ret->program ? NULL : rcore_error_no_memory();
}

/* Whether two texts are the same except for their digits. */
static bool is_alike(const char *first, const char *second)
{
	for (;; first++, second++) {
		while (isdigit((unsigned char)*first))
			first++;
		while (isdigit((unsigned char)*second))
			second++;
		if (*first != *second)
			return false;
		if (!*first)
			return true;
	}
}

static bool is_same_process(const struct rcore_heap_origin *first,
			    const struct rcore_heap_origin *second)
{
	return first->pid && first->pid == second->pid && first->is_drawn && second->is_drawn &&
	       !memcmp(first->drawn, second->drawn, sizeof(first->drawn));
}

static bool is_older(const struct rcore_heap_origin *first,
		     const struct rcore_heap_origin *second)
{
	return second->last_symbol && second->last_symbol < first->last_symbol;
}

struct rcore_error *rcore_heap_doubt(struct rcore_heap_namer *namer,
				     const struct rcore_heap_origin *first,
				     const struct rcore_heap_origin *second, const char **ret)
{
	const char *programs[] = {first->program, second->program};
	*ret = NULL;
	if (strcmp(first->series, second->series) != 0) {
		*ret = rcore_arena_printf(namer->arena,
					  "it runs Ruby %s, and the one before Ruby %s",
					  second->series, first->series);
	} else if (is_same_process(first, second)) {
		if (!is_older(first, second))
			return NULL;
		*ret = rcore_arena_strdup(
			namer->arena,
			"it is older than the one before; name the oldest core first");
	} else {
		if (!programs[0] || !programs[1] || is_alike(programs[0], programs[1]))
			return NULL;
		for (int i = 0; i < 2; i++) {
			struct rcore_error *err =
				rcore_heap_redact(namer, RCORE_PART_TEXT, &programs[i]);
			if (err)
				return err;
		}
		*ret = rcore_arena_printf(namer->arena,
					  "its $0 is \"%s\", and that of the one before "
					  "\"%s\": they may be of different programs",
					  programs[1], programs[0]);
	}
	return *ret ? NULL : rcore_error_no_memory();
}
