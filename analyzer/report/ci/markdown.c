/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text.h"
#include "report/formats.h"
#include "report/ci/markup.h"
#include "report/text/text.h"
#include "report/text/text_triage.h"
#include "report/names.h"

enum {
	/*
	 * GitHub drops the whole summary of a step if it exceeds 1 MiB. Other
	 * steps may append theirs.
	 */
	MAX_SIZE = 900 << 10,
	MAX_SECTION = 300 << 10,
	/* Reserved for the lines that say what was left out. */
	ENDING = 1 << 10,
};

struct section {
	char *text;
	size_t size;
};

/*
 * Runs `write` and keeps its output in memory; the text's pen writes there
 * meanwhile.
 */
static struct rcore_error *capture(struct rcore_text *text, struct section *ret,
				   void (*write)(struct rcore_text *, size_t), size_t index)
{
	FILE *out = text->pen.out;
	*ret = (struct section){0};
	text->pen.out = rcore_open_text(&ret->text, &ret->size);
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

static void write_first_other(struct rcore_text *text, size_t unused)
{
	rcore_text_other(text, rcore_text_first_other(text));
}

static void write_rest(struct rcore_text *text, size_t unused)
{
	rcore_text_rest(text);
	rcore_text_problems(text);
}

static void print_fence(FILE *out, size_t length)
{
	while (length--)
		putc('`', out);
	putc('\n', out);
}

/* Prints a fence that the text itself cannot close. */
static void print_fenced(FILE *out, const char *text, size_t size)
{
	size_t longest = 2, run = 0;
	for (size_t i = 0; i < size; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	print_fence(out, longest + 1);
	fwrite(text, 1, size, out);
	if (size && text[size - 1] != '\n')
		putc('\n', out);
	print_fence(out, longest + 1);
}

/* Returns how much of a section fits, in whole lines. */
static size_t fitting(const struct section *section, size_t room)
{
	if (section->size <= room)
		return section->size;
	while (room && section->text[room - 1] != '\n')
		room--;
	return room;
}

/* The output, and how much of it still fits. */
struct page {
	FILE *out;
	size_t left;
};

static void print_details(FILE *out, const char *summary, const struct section *section,
			  bool is_open, size_t room)
{
	size_t size = fitting(section, room);
	fprintf(out, "<details%s><summary>", is_open ? " open" : "");
	rcore_markup_xml(out, summary);
	fputs("</summary>\n\n", out);
	print_fenced(out, section->text, size);
	if (size < section->size) {
		char count[RCORE_COUNT_SIZE];
		fprintf(out,
			"\n%s more bytes are left out; `rcore analyze` prints everything.\n",
			rcore_count_text(section->size - size, count));
	}
	fputs("\n</details>\n", out);
}

/*
 * Adds a section, truncated at the end of the page. *ret says whether it was
 * added; it is not if hardly any of it fits.
 */
static struct rcore_error *add_details(struct page *page, const char *summary,
				       const struct section *section, bool is_open, bool *ret)
{
	struct section block = {0};
	size_t room = page->left < ENDING ? 0 : page->left - ENDING;
	*ret = false;
	if (!room)
		return NULL;
	FILE *out = rcore_open_text(&block.text, &block.size);
	if (!out)
		return rcore_error_no_memory();
	print_details(out, summary, section, is_open, room < MAX_SECTION ? room : MAX_SECTION);
	struct rcore_error *err = fclose(out) ? rcore_error_no_memory() : NULL;
	*ret = !err && block.size <= page->left;
	if (*ret) {
		fwrite(block.text, 1, block.size, page->out);
		page->left -= block.size;
	}
	free(block.text);
	return err;
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

static struct rcore_error *add_first_other(struct rcore_text *text, struct page *page)
{
	const struct rcore_other_thread *first = rcore_text_first_other(text);
	struct section section;
	char summary[64];
	bool fits;
	if (!first)
		return NULL;
	struct rcore_error *err = capture(text, &section, write_first_other, 0);
	if (err)
		return err;
	snprintf(summary, sizeof(summary), "LWP %d  runs no Ruby thread",
		 rcore_lwp(first->tid, first->outer_tid));
	err = add_details(page, summary, &section, true, &fits);
	free(section.text);
	return err;
}

static struct rcore_error *add_thread(struct rcore_text *text, size_t index, bool is_first,
				      struct page *page, bool *ret)
{
	const struct rcore_snapshot *snapshot = text->snapshot;
	const struct rcore_thread *thread = &snapshot->threads[index];
	struct section section;
	char summary[256], name[128] = "";
	struct rcore_error *err = capture(text, &section, rcore_text_thread, index);
	if (err)
		return err;
	if (thread->name)
		rcore_escape(name, sizeof(name), thread->name);
	rcore_format(summary, sizeof(summary), "%s%s%s%s  %s", thread->id,
		     thread->is_main ? " main" : "", name[0] ? " " : "", name,
		     rcore_thread_text(thread));
	bool is_open =
		snapshot->cause.present ? snapshot->cause.thread == (int)index : is_first;
	err = add_details(page, summary, &section, is_open, ret);
	free(section.text);
	return err;
}

static struct rcore_error *add_threads(struct rcore_text *text, const size_t *order,
				       size_t count, struct page *page)
{
	for (size_t i = 0; i < count; i++) {
		bool fits;
		struct rcore_error *err = add_thread(text, order[i], i == 0, page, &fits);
		if (err)
			return err;
		if (fits)
			continue;
		fprintf(page->out,
			"\n%zu more thread%s %s left out; `rcore analyze` prints all.\n",
			count - i, rcore_plural(count - i), rcore_are(count - i));
		page->left = 0;
		return NULL;
	}
	return NULL;
}

static struct rcore_error *print_top(struct rcore_text *text, struct page *page)
{
	struct section head, top;
	struct rcore_error *err = capture(text, &head, write_head, 0);
	if (err)
		return err;
	FILE *out = rcore_open_text(&top.text, &top.size);
	if (out) {
		print_title(text, out);
		print_fenced(out, head.text, fitting(&head, MAX_SECTION));
		putc('\n', out);
	}
	free(head.text);
	if (!out || fclose(out))
		return rcore_error_no_memory();
	fwrite(top.text, 1, top.size, page->out);
	page->left -= top.size < page->left ? top.size : page->left;
	free(top.text);
	return NULL;
}

static struct rcore_error *print(struct rcore_text *text)
{
	struct page page = {text->pen.out, MAX_SIZE};
	struct section rest = {0};
	bool fits;
	size_t *order = rcore_calloc(text->snapshot->thread_count, sizeof(*order));
	if (!order)
		return rcore_error_no_memory();
	struct rcore_error *err = print_top(text, &page);
	if (!err)
		err = add_first_other(text, &page);
	if (!err)
		err = add_threads(text, order, rcore_text_thread_order(text, order), &page);
	if (!err)
		err = capture(text, &rest, write_rest, 0);
	if (!err && rest.size)
		err = add_details(
			&page, "Parked fibers, ended threads, other kernel threads, problems",
			&rest, false, &fits);
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
