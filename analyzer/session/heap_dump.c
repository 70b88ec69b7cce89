/* SPDX-License-Identifier: MIT */
#include "session/heap.h"

#include <string.h>

#include "report/heap.h"
#include "ruby/children/line.h"
#include "session/session.h"

struct dump {
	struct rcore_session *session;
	FILE *out;
	struct rcore_arena arena;
	struct rcore_heap_dumped *dumped;
};

/* A text may end at a NUL in a redacted line. */
static struct rcore_error *redact(struct dump *dump, struct rcore_heap_line *line)
{
	if (!dump->session->settings.redact)
		return NULL;
	for (size_t i = 0; i < line->attribute_count; i++) {
		struct rcore_attribute *attribute = &line->attributes[i];
		if (attribute->kind != RCORE_ATTRIBUTE_TEXT &&
		    attribute->kind != RCORE_ATTRIBUTE_NAME)
			continue;
		attribute->text =
			rcore_arena_strndup(&dump->arena, attribute->text, attribute->length);
		if (!attribute->text)
			return rcore_error_no_memory();
		struct rcore_error *err = rcore_redact_text(
			dump->session->redactor, &dump->arena,
			attribute->kind == RCORE_ATTRIBUTE_NAME ? RCORE_PART_NAME
								: RCORE_PART_TEXT,
			NULL, &attribute->text);
		if (err)
			return err;
		attribute->length = strlen(attribute->text);
	}
	return NULL;
}

static struct rcore_error *write_line(void *context, struct rcore_heap_line *line)
{
	struct dump *dump = context;
	struct rcore_error *err = redact(dump, line);
	if (!err)
		err = rcore_report_heap_line(line, dump->out);
	rcore_arena_deinit(&dump->arena);
	dump->dumped->lines++;
	dump->dumped->partial += line->is_partial;
	return err;
}

static struct rcore_error *run(struct rcore_session *session, struct rcore_ruby *ruby,
			       uint64_t vm, uint64_t objspace, void *context)
{
	struct dump *dump = context;
	(void)session;
	(void)vm;
	return rcore_heap_lines(ruby, objspace, write_line, dump, &dump->dumped->absent_pages);
}

struct rcore_error *rcore_heap_dump(struct rcore_session *session, FILE *out,
				    struct rcore_heap_dumped *ret)
{
	struct dump dump = {.session = session, .out = out, .dumped = ret};
	*ret = (struct rcore_heap_dumped){0};
	struct rcore_error *err = rcore_heap_prepare(session);
	return err ? err : rcore_session_heap(session, run, &dump);
}
