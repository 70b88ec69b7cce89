/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/formats.h"
#include "report/markup.h"
#include "report/text.h"
#include "report/text_triage.h"
#include "report/words.h"

enum {
	/* GitHub drops a step's summary of more than 1 MiB as a whole; other steps may write
	 * theirs behind. */
	MAX_SIZE = 900 << 10,
	MAX_SECTION = 300 << 10,
};

struct section {
	char *text;
	size_t size;
};

/* What `write` prints, in memory; the text's own pen is led there meanwhile. */
static struct rcore_error *capture(struct rcore_text *text, struct section *ret,
				   void (*write)(struct rcore_text *, size_t), size_t index)
{
	FILE *out = text->pen.out;
	*ret = (struct section){0};
	text->pen.out = open_memstream(&ret->text, &ret->size);
	if (!text->pen.out) {
		text->pen.out = out;
		return rcore_error_no_memory();
	}
	write(text, index);
	bool failed = fclose(text->pen.out);
	text->pen.out = out;
	return failed ? rcore_error_no_memory() : NULL;
}

static void write_head(struct rcore_text *text, size_t unused)
{
	rcore_text_header(text);
}

static void write_rest(struct rcore_text *text, size_t unused)
{
	rcore_text_rest(text);
	rcore_text_problems(text);
}

/* A fence that the text itself cannot close. */
static void print_fenced(FILE *out, const char *text, size_t size)
{
	size_t longest = 2, run = 0;
	for (size_t i = 0; i < size; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	char *fence = malloc(longest + 2);
	if (!fence)
		return;
	memset(fence, '`', longest + 1);
	fence[longest + 1] = 0;
	fprintf(out, "%s\n%.*s%s%s\n", fence, (int)size, text,
		size && text[size - 1] != '\n' ? "\n" : "", fence);
	free(fence);
}

/* The part of a section that fits, in whole lines. */
static size_t fitting(const struct section *section, size_t room)
{
	if (section->size <= room)
		return section->size;
	while (room && section->text[room - 1] != '\n')
		room--;
	return room;
}

static void print_details(FILE *out, const char *summary, const struct section *section,
			  bool is_open, size_t room)
{
	size_t size = fitting(section, room < MAX_SECTION ? room : MAX_SECTION);
	fprintf(out, "<details%s><summary>", is_open ? " open" : "");
	rcore_markup_xml(out, summary);
	fputs("</summary>\n\n", out);
	print_fenced(out, section->text, size);
	if (size < section->size) {
		char count[RCORE_COUNT_SIZE];
		fprintf(out, "\n%s more bytes were left out; `rcore analyze` prints all.\n",
			rcore_count_words(section->size - size, count));
	}
	fputs("\n</details>\n", out);
}

static void print_title(const struct rcore_text *text, FILE *out)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	fputs("### rcore: ", out);
	rcore_markup_markdown(out, snapshot->cause.present && snapshot->cause.text
					   ? snapshot->cause.text
				   : snapshot->failure ? snapshot->failure
						       : "no crash");
	fputs("\n\n", out);
}

static struct rcore_error *print_threads(struct rcore_text *text, const size_t *order,
					 size_t count, FILE *out)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct rcore_thread *thread = &snapshot->threads[order[i]];
		struct section section;
		char summary[256];
		if (used >= MAX_SIZE) {
			fprintf(out,
				"\n%zu more threads were left out; `rcore analyze` prints "
				"them.\n",
				count - i);
			break;
		}
		struct rcore_error *err = capture(text, &section, rcore_text_thread, order[i]);
		if (err)
			return err;
		char name[128];
		snprintf(summary, sizeof(summary), "%s%s%s  %s", thread->id,
			 thread->is_main ? " main" : "",
			 thread->name ? rcore_escape(name, sizeof(name), thread->name) : "",
			 rcore_thread_words(thread));
		bool is_open = snapshot->cause.present ? snapshot->cause.thread == (int)order[i]
						       : i == 0;
		print_details(out, summary, &section, is_open, MAX_SIZE - used);
		used += section.size < MAX_SECTION ? section.size : MAX_SECTION;
		free(section.text);
	}
	return NULL;
}

static struct rcore_error *print(struct rcore_text *text)
{
	FILE *out = text->pen.out;
	struct section head, rest = {0};
	size_t *order = calloc(text->snapshot->thread_count + 1, sizeof(*order));
	if (!order)
		return rcore_error_no_memory();
	print_title(text, out);
	struct rcore_error *err = capture(text, &head, write_head, 0);
	if (!err) {
		print_fenced(out, head.text, fitting(&head, MAX_SECTION));
		putc('\n', out);
		free(head.text);
		err = print_threads(text, order, rcore_text_thread_order(text, order), out);
	}
	if (!err)
		err = capture(text, &rest, write_rest, 0);
	if (!err && rest.size)
		print_details(out,
			      "Parked fibers, ended threads, other kernel threads, problems",
			      &rest, false, MAX_SECTION);
	free(rest.text);
	free(order);
	return err;
}

struct rcore_error *rcore_report_markdown(const struct rcore_snapshot *snapshot,
					  const struct rcore_report_options *given, FILE *out)
{
	struct rcore_text text;
	struct rcore_report_options options = given ? *given : (struct rcore_report_options){0};
	options.color = false;
	struct rcore_error *err = rcore_text_init(&text, snapshot, &options, out);
	if (err)
		return err;
	err = print(&text);
	if (!err)
		err = text.error;
	else
		rcore_error_free(text.error);
	rcore_text_deinit(&text);
	return err ? err : rcore_pen_error(out);
}
